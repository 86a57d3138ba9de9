// A running cluster as input: which one, and how to read it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/snapshot.h"
#include "flags.h"
#include "http/rest_config.h"

namespace berth::cmd {

struct ClusterFlags {
  std::string kubeconfig;
  std::string context;

  void AddTo(FlagSet& flags);
  bool any() const { return !kubeconfig.empty() || !context.empty(); }
};

// The kubeconfig that kubectl would read: --kubeconfig, otherwise the existing files among those in $KUBECONFIG,
// merged, otherwise ~/.kube/config. Empty if there is none but the pod's service account can be used; an error if there
// is not even that.
Result<std::vector<std::string>> FindKubeconfigs(const ClusterFlags& flags, const http::Surroundings& surroundings);

// The connection for these flags; `clock` must outlive it. Warnings about credentials go to `warn`, possibly on another
// thread.
Result<http::RestConfig> ConnectionTo(const ClusterFlags& flags, const base::Clock& clock,
                                      http::CredentialWarning warn);

struct RunningCluster {
  std::string server;  // its address
  client::Snapshot snapshot;
};

// Sends only GET requests. Warnings about credentials are among the snapshot's.
Result<RunningCluster> ReadRunningCluster(const ClusterFlags& flags);

}  // namespace berth::cmd
