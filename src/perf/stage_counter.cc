#include "perf/stage_counter.h"

#include <fmt/format.h>

namespace berth::perf {

StageCounter::StageCounter(InMemoryCluster& cluster, PodFilter filter, PodStage stage)
    : cluster_(cluster), filter_(std::move(filter)), stage_(stage) {
  for (const InMemoryCluster::PodRecord* record : cluster_.Pods()) count_ += Counts(record->pod.get(), record->stage());
  cluster_.AddObserver(*this);
}

StageCounter::~StageCounter() { cluster_.RemoveObserver(*this); }

void StageCounter::OnPod(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) {
  const bool was = Counts(before, stage_before);
  const bool is = Counts(after, stage_after);
  count_ += is - was;
  arrivals_ += is && !was;
}

bool StageCounter::Counts(const api::Pod* pod, PodStage stage) const {
  return pod && stage >= stage_ && filter_.Matches(*pod);
}

std::string StageCounter::FirstMissing() const {
  for (const InMemoryCluster::PodRecord* record : cluster_.Pods()) {
    if (record->stage() >= stage_ || !filter_.Matches(*record->pod)) continue;
    const std::string why = record->message.empty() ? "" : ": " + record->message;
    return fmt::format("; pod {} is not{}", api::KeyOf(record->pod->metadata), why);
  }
  return {};
}

}  // namespace berth::perf
