// Sampling: a search ends when it has found enough feasible nodes, and the next one starts where it ended.
//
// As in kube-scheduler with parallelism 1: how many nodes, in which order, starting where. Off unless the configuration
// asks for it; by default berth looks at all nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cluster/cluster.h"
#include "config/types.h"
#include "engine/evaluation.h"
#include "engine/profile.h"

namespace berth::engine {

// The sampling settings of a profile's configuration.
struct SamplingRule {
  int32_t percentage = 0;     // 1 to 100; 0: the larger the cluster, the lower the percentage
  size_t fewest_nodes = 100;  // upstream's constant; clusters with fewer nodes are not sampled

  // Unset when all nodes are evaluated: no percentage is given, or it is 0 or 100, and nodeSampling is Exact.
  static std::optional<SamplingRule> Of(const config::KubeSchedulerConfiguration& configuration,
                                        const config::Profile& profile);
  // The number of feasible nodes, out of `nodes`, at which the search ends.
  size_t NodesToFind(size_t nodes) const;
};

// One search, for EvaluateFromScratch.
struct Sample {
  SamplingRule rule;
  std::span<const framework::NodeInfo* const> nodes;  // all nodes of the cluster, in order
  size_t start = 0;                                   // position of the first node to evaluate
};

// Where the next search of a scheduler starts, whatever its profile. Not thread-safe; used by the scheduling thread.
class NodeSampler {
 public:
  explicit NodeSampler(const cluster::Cluster& cluster) : cluster_(cluster) {}

  Evaluation Evaluate(const Profile& profile, const SamplingRule& rule, framework::CycleState& state,
                      const framework::PodInfo& pod, Scope scope);
  // Upstream's nextStartNodeIndex.
  size_t next_start() const { return next_start_; }
  void set_next_start(size_t next_start) { next_start_ = next_start; }

 private:
  const cluster::Cluster& cluster_;
  size_t next_start_ = 0;
};

}  // namespace berth::engine
