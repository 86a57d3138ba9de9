// A running cluster as input: which one, and how it is read.
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

// The kubeconfig that kubectl would read: --kubeconfig, else the files that $KUBECONFIG names and that exist, which are
// read as one, else ~/.kube/config. Empty when there is none and the service account of a pod is what is left; an error
// when there is not even that.
Result<std::vector<std::string>> FindKubeconfigs(const ClusterFlags& flags, const http::Surroundings& surroundings);

// The connection that these flags stand for; `clock` outlives it. Warnings about credentials go to `warn`, perhaps on
// another thread.
Result<http::RestConfig> ConnectionTo(const ClusterFlags& flags, const base::Clock& clock,
                                      http::CredentialWarning warn);

struct RunningCluster {
  std::string server;  // its address
  client::Snapshot snapshot;
};

// Only GET requests are made. Warnings about credentials are among the snapshot's.
Result<RunningCluster> ReadRunningCluster(const ClusterFlags& flags);

}  // namespace berth::cmd
