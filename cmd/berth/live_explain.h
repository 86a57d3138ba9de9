// Asks a running berth scheduler why a pod is where it is: through the API server's proxy to the scheduler's pod, so
// that its port need not be reachable, or at an address.
//
// That proxy removes the person's credentials. They are replaced by a token that is valid for ten minutes and for the
// scheduler only, of a service account that may read /debug/berth/ (berth-reader in deploy/); so what counts is the
// person's permission to create such tokens and to use the proxy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster_source.h"
#include "flags.h"
#include "http/transport.h"

namespace berth::cmd {

struct LiveFlags {
  bool live = false;
  std::string scheduler_namespace = "kube-system";
  std::string lease;  // empty: by the pod's schedulerName
  std::string reader = "berth-reader";
  std::string server_url;
  std::string token_file;
  std::string certificate_authority;
  bool insecure = false;

  void AddTo(FlagSet& flags);
  // Checks that the flags are consistent.
  Result<void> Check() const;
};

struct LiveAnswer {
  std::string body;
  bool placed = false;
};

// `transport` connects to the API server, or to the scheduler itself with a server_url. The pod is NAMESPACE/NAME; with
// `json` the answer is the document, otherwise text.
Result<LiveAnswer> ExplainLive(http::Transport& transport, const LiveFlags& flags, const std::string& pod, bool json);

// Where the scheduler runs, according to the pods of its namespace.
struct SchedulerPod {
  std::string name;
  std::string port;
};
// Finds it by the identity in its lease, HOST_UUID: the pod of that name, or the scheduler's pod on that node. `pods`
// is a PodList as JSON.
Result<SchedulerPod> FindSchedulerPod(const std::string& pods, const std::string& identity);

// Prints the answers; the exit status is that of berth explain.
int RunLiveExplain(const LiveFlags& flags, const ClusterFlags& cluster, const std::string& name_space,
                   const std::vector<std::string>& pods, const std::string& output);

}  // namespace berth::cmd
