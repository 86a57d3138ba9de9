#include "live/inspected_cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::live {

using inspect::PodPlace;

namespace {

// As far as the API shows: whether its scheduler has rejected the pod is known, when it will retry is not.
PodPlace ForeignPlaceOf(const ForeignHistory::Pending& pending) {
  if (!pending.pod->pod().spec.scheduling_gates.empty()) return PodPlace::kGated;
  return pending.message.empty() ? PodPlace::kActive : PodPlace::kUnschedulable;
}

inspect::PendingPod DescribeForeign(const ForeignHistory::Pending& pending) {
  const api::Pod& pod = pending.pod->pod();
  inspect::PendingPod told{
      .pod = pending.pod->Key(), .uid = pending.pod->uid(), .scheduler_name = pod.spec.scheduler_name};
  told.priority = pending.pod->priority();
  told.place = ForeignPlaceOf(pending);
  told.attempts = pending.attempts;
  told.since = pending.since;
  if (told.place == PodPlace::kGated) told.gating_plugin = "SchedulingGates";
  told.nominated_node = pod.status.nominated_node_name;
  return told;
}

// The highest priority first, then the longest waiting, as in default schedulers.
std::vector<const ForeignHistory::Pending*> ForeignInOrder(const ForeignHistory& history) {
  std::vector<const ForeignHistory::Pending*> pods;
  for (const auto& [uid, pending] : history.pending()) pods.push_back(&pending);
  std::sort(pods.begin(), pods.end(), [](const auto* a, const auto* b) {
    if (a->pod->priority() != b->pod->priority()) return a->pod->priority() > b->pod->priority();
    if (a->since != b->since) return a->since < b->since;
    return a->pod->Key() < b->pod->Key();
  });
  return pods;
}

}  // namespace

inspect::QueueView InspectedCluster::Queue(size_t limit, const std::string& name_space) const {
  inspect::QueueView view{.at = Now()};
  for (const PodPlace place : {PodPlace::kActive, PodPlace::kUnschedulable, PodPlace::kGated}) {
    view.lanes.push_back({place, 0, {}});
  }
  for (const ForeignHistory::Pending* pending : ForeignInOrder(sources_.history)) {
    const PodPlace place = ForeignPlaceOf(*pending);
    auto& lane =
        *std::find_if(view.lanes.begin(), view.lanes.end(), [&](const auto& one) { return one.place == place; });
    const size_t position = ++lane.total;
    if (lane.pods.size() >= limit) continue;
    if (!name_space.empty() && pending->pod->namespace_().str() != name_space) continue;
    lane.pods.push_back(DescribeForeign(*pending));
    lane.pods.back().position = position;
  }
  return view;
}

inspect::EventsView InspectedCluster::Events(uint64_t after, size_t limit) const {
  inspect::EventsView view = inspect::CollectEvents(driver(), journal(), Now(), after, limit);
  view.about = sources_.about;
  size_t active = 0, unschedulable = 0, gated = 0;
  for (const auto& [uid, pending] : sources_.history.pending()) {
    const PodPlace place = ForeignPlaceOf(pending);
    active += place == PodPlace::kActive;
    unschedulable += place == PodPlace::kUnschedulable;
    gated += place == PodPlace::kGated;
  }
  view.lanes = {{PodPlace::kActive, active}, {PodPlace::kUnschedulable, unschedulable}, {PodPlace::kGated, gated}};
  return view;
}

std::optional<inspect::PodView> InspectedCluster::Pod(const inspect::PodQuestion& question) const {
  inspect::PodQuestion asked = question;
  asked.wake_ups_by_verdict = true;
  const ForeignHistory::Pending* found = nullptr;
  for (const auto& [uid, pending] : sources_.history.pending()) {
    if (pending.pod->name() == question.name && pending.pod->namespace_().str() == question.name_space) {
      found = &pending;
    }
  }
  if (found) asked.pod = found->pod;
  std::optional<inspect::PodView> view = inspect::CollectPod(driver(), journal(), Now(), asked);
  if (!view || !found) return view;
  view->pending = DescribeForeign(*found);
  view->place = view->pending->place;
  if (view->now && !found->message.empty()) view->now->message = found->message;
  return view;
}

}  // namespace berth::live
