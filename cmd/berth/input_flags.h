// The input of verbs that work on a cluster in memory: files, a running cluster, or both.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster_source.h"
#include "flags.h"
#include "sim/input.h"

namespace berth::cmd {

struct InputFlags {
  std::vector<std::string> files;
  bool from_cluster = false;
  ClusterFlags cluster;

  void AddTo(FlagSet& flags);
  // Whether what was given makes sense together.
  Result<void> Check() const;
  // Prints warnings on standard error.
  Result<sim::ClusterInput> Read() const;
};

// On standard error, a line each.
void PrintWarnings(const std::vector<std::string>& warnings);

}  // namespace berth::cmd
