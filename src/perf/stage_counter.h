// StageCounter: how many pods of a filter have come to a stage, followed as it changes.
#pragma once

#include <string>

#include "perf/collector.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

class StageCounter final : public PodObserver {
 public:
  // The cluster outlives it.
  StageCounter(InMemoryCluster& cluster, PodFilter filter, PodStage stage);
  ~StageCounter() override;

  void OnPod(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) override;

  // How many are there now.
  int64_t count() const { return count_; }
  // How many have come there since this was made; those that have gone again included.
  int64_t arrivals() const { return arrivals_; }
  // A pod that has not come so far, and why: "; pod a/b is not: 0/5 nodes …". Empty when there is none.
  std::string FirstMissing() const;

 private:
  bool Counts(const api::Pod* pod, PodStage stage) const;

  InMemoryCluster& cluster_;
  const PodFilter filter_;
  const PodStage stage_;
  int64_t count_ = 0;
  int64_t arrivals_ = 0;
};

}  // namespace berth::perf
