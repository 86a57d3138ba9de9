// StageCounter: counts the pods of a filter that have reached a stage, as that changes.
#pragma once

#include <string>

#include "perf/collector.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

class StageCounter final : public PodObserver {
 public:
  // The cluster must outlive it.
  StageCounter(InMemoryCluster& cluster, PodFilter filter, PodStage stage);
  ~StageCounter() override;

  void OnPod(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) override;

  // How many are in the stage now.
  int64_t count() const { return count_; }
  // How many have reached it since this was made, including those that have left it.
  int64_t arrivals() const { return arrivals_; }
  // A pod that has not reached it, and why: "; pod a/b is not: 0/5 nodes …". Empty if there is none.
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
