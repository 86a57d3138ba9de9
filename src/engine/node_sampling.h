// Sampling: a search that ends when it has found so many feasible nodes, and the next one that goes on from there.
//
// As kube-scheduler does it with parallelism 1: how many nodes, in which order, starting where. Off unless the
// configuration asks for it; berth looks at all nodes.
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

// What a profile's configuration says about it.
struct SamplingRule {
  int32_t percentage = 0;     // 1 to 100; 0: the more nodes, the fewer percent
  size_t fewest_nodes = 100;  // upstream's constant; clusters with fewer nodes are not sampled

  // Unset when all nodes are looked at: no percentage is given, or it is 0 or 100, and nodeSampling is Exact.
  static std::optional<SamplingRule> Of(const config::KubeSchedulerConfiguration& configuration,
                                        const config::Profile& profile);
  // With how many feasible nodes out of `nodes` the search ends.
  size_t NodesToFind(size_t nodes) const;
};

// One search, for EvaluateFromScratch.
struct Sample {
  SamplingRule rule;
  std::span<const framework::NodeInfo* const> nodes;  // all of the cluster's, in order
  size_t start = 0;                                   // position of the first to look at
};

// Where the searches of a scheduler, whatever their profiles, go on. Not thread-safe; used by the scheduling thread.
class NodeSampler {
 public:
  explicit NodeSampler(const cluster::Cluster& cluster) : cluster_(cluster) {}

  Evaluation Evaluate(const Profile& profile, const SamplingRule& rule, framework::CycleState& state,
                      const framework::PodInfo& pod, Scope scope);
  // nextStartNodeIndex, in upstream's words.
  size_t next_start() const { return next_start_; }
  void set_next_start(size_t next_start) { next_start_ = next_start; }

 private:
  const cluster::Cluster& cluster_;
  size_t next_start_ = 0;
};

}  // namespace berth::engine
