#include "preemption/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "preemption/cost.h"
#include "preemption/eligibility.h"

namespace berth::preemption {

using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// An evictable pod with what decides its order, copied because pods are scattered in memory.
struct Evictable {
  const PodInfoPtr* pod;  // in the node being tried
  int32_t priority;
  base::Time start;  // now, if the pod has not started

  bool IsMoreImportantThan(const Evictable& other) const {
    return priority != other.priority ? priority > other.priority : start < other.start;
  }
};
using Evictables = std::vector<Evictable>;

// Stable, so that equally important pods keep the order they have on the node.
void SortByImportance(Evictables& pods) {
  constexpr size_t kMany = 24;
  const auto more_important = [](const Evictable& a, const Evictable& b) { return a.IsMoreImportantThan(b); };
  if (pods.size() > kMany) return std::stable_sort(pods.begin(), pods.end(), more_important);
  // A few are sorted in place, without a buffer.
  for (auto it = pods.begin(); it != pods.end(); ++it) {
    std::rotate(std::upper_bound(pods.begin(), it, *it, more_important), it, std::next(it));
  }
}

// Copies of a node and of the cycle's state, to add and remove pods on.
class WhatIf {
 public:
  WhatIf(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
         const framework::NodeInfo& node)
      : handle_(handle), pod_(pod), state_(state.Clone()), node_(node) {}

  const std::string& node_name() const { return node_.name(); }
  Status RemoveAll(const Evictables& others) {
    for (const Evictable& other : others) {
      if (Status removed = Remove(*other.pod); !removed.ok()) return removed;
    }
    return Status::Success();
  }
  Status Remove(const PodInfoPtr& other) {
    if (!node_.RemovePod(*other)) {
      return Status::Error(fmt::format("no corresponding pod {} in pods of node {}", other->name(), node_.name()));
    }
    return handle_.RunRemovePod(state_, pod_, *other, node_);
  }
  Status Add(const PodInfoPtr& other) {
    node_.AddPod(other);
    return handle_.RunAddPod(state_, pod_, *other, node_);
  }
  Status Fit() { return handle_.RunFilterWithNominatedPods(state_, pod_, node_); }

 private:
  const framework::Handle& handle_;
  const framework::PodInfo& pod_;
  framework::CycleState state_;
  framework::NodeInfo node_;
};

// Adds and removes pods on a copy of the node only; the copy belongs to the caller so that its memory is reused.
class WhatIfAlone {
 public:
  WhatIfAlone(const framework::Handle& handle, framework::CycleState& state, const framework::PodInfo& pod,
              framework::NodeInfo& copy)
      : handle_(handle), state_(state), pod_(pod), node_(copy) {}

  const std::string& node_name() const { return node_.name(); }
  Status RemoveAll(const Evictables&) {
    node_.RemovePodsIf([this](const framework::PodInfo& other) { return MayBeEvictedFor(other, pod_); });
    return Status::Success();
  }
  Status Remove(const PodInfoPtr& other) {
    node_.RemovePod(*other);
    return Status::Success();
  }
  Status Add(const PodInfoPtr& other) {
    node_.AddPod(other);
    return Status::Success();
  }
  Status Fit() {
    Status status = handle_.RunFilterWithNominatedPods(state_, pod_, node_);
    // A filter that judges the Node object alone keeps its verdict when pods come back.
    if (status.ok()) state_.skip_filter |= handle_.filters_of_nodes_alone();
    return status;
  }

 private:
  const framework::Handle& handle_;
  framework::CycleState& state_;
  const framework::PodInfo& pod_;
  framework::NodeInfo& node_;
};

// A plugin that fails to update its state is an error, whatever code it returned.
Status AsError(const Status& status) { return status.IsError() ? status : Status::Error(status.Message()); }

// Puts back each pod that has this mark and still leaves room for the preemptor; the others join `victims`.
template <class AnyWhatIf>
Status Reprieve(AnyWhatIf& what_if, const Evictables& pods, const std::vector<uint8_t>& marks, uint8_t mark,
                Evictables& victims) {
  for (size_t i = 0; i < pods.size(); ++i) {
    if (marks[i] != mark) continue;
    if (const Status added = what_if.Add(*pods[i].pod); !added.ok()) return AsError(added);
    if (what_if.Fit().ok()) continue;
    if (const Status removed = what_if.Remove(*pods[i].pod); !removed.ok()) return AsError(removed);
    victims.push_back(pods[i]);
  }
  return Status::Success();
}

// Shared by all nodes without evictable pods: often most of them.
const Status& NoVictims() {
  static const Status status = Status::UnschedulableAndUnresolvable("No preemption victims found for incoming pod");
  return status;
}

Evictables EvictableOn(const framework::NodeInfo& node, const PodInfo& preemptor, base::Time now) {
  Evictables evictable;
  evictable.reserve(node.pods().size());
  for (const PodInfoPtr& pod : node.pods()) {
    if (MayBeEvictedFor(*pod, preemptor)) evictable.push_back({&pod, pod->priority(), StartTimeOf(*pod, now)});
  }
  return evictable;
}

// The time after which the order of these pods no longer depends on the current time; see Trial::holds_after.
base::Time OrderHoldsAfter(const Evictables& pods, base::Time now) {
  base::Time latest = base::Time::min();
  bool some_not_started = false;
  for (const Evictable& evictable : pods) {
    const auto& start = (*evictable.pod)->start_time();
    if (start) latest = std::max(latest, *start);
    some_not_started = some_not_started || !start;
  }
  if (!some_not_started) return base::Time::min();
  // A pod whose start lies in the future will change places with those that have not started.
  return latest < now ? latest : base::Time::max();
}

}  // namespace

DryRun::DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod)
    : DryRun(handle, state, pod, std::make_shared<DisruptionBudgets>(handle.objects().pod_disruption_budgets)) {}

DryRun::DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
               std::shared_ptr<const DisruptionBudgets> budgets)
    : handle_(handle), state_(state), pod_(pod), now_(handle.now()), budgets_(std::move(budgets)) {}

Trial DryRun::Try(const framework::NodeInfo& node) const {
  Evictables evictable = EvictableOn(node, pod_, now_);
  // The copies are the main cost, and with no pod to remove the filters would only repeat their verdict.
  if (evictable.empty()) return {.status = NoVictims()};
  WhatIf what_if(handle_, state_, pod_, node);
  return Judge(what_if, evictable);
}

Trial DryRun::TryAlone(const framework::NodeInfo& node) const {
  Evictables evictable = EvictableOn(node, pod_, now_);
  if (evictable.empty()) return {.status = NoVictims()};
  if (!shared_state_) shared_state_ = state_.Clone();
  shared_state_->skip_filter = state_.skip_filter;
  if (scratch_) {
    *scratch_ = node;
  } else {
    scratch_ = node;
  }
  WhatIfAlone what_if(handle_, *shared_state_, pod_, *scratch_);
  return Judge(what_if, evictable);
}

template <class AnyWhatIf, class Pods>
Trial DryRun::Judge(AnyWhatIf& what_if, Pods& evictable) const {
  if (const Status removed = what_if.RemoveAll(evictable); !removed.ok()) return {.status = AsError(removed)};
  if (Status fit = what_if.Fit(); !fit.ok()) return {.status = std::move(fit)};

  SortByImportance(evictable);
  std::vector<const PodInfo*> pods;
  pods.reserve(evictable.size());
  for (const Evictable& one : evictable) pods.push_back(one.pod->get());
  const BudgetVerdicts budgets = budgets_->Judge(pods);
  Evictables victims;
  if (Status done = Reprieve(what_if, evictable, budgets.violates, 1, victims); !done.ok()) {
    return {.status = std::move(done)};
  }
  framework::Victims found;
  found.pdb_violations = static_cast<int64_t>(victims.size());
  if (Status done = Reprieve(what_if, evictable, budgets.violates, 0, victims); !done.ok()) {
    return {.status = std::move(done)};
  }
  // The filters rejected the unchanged node, yet accept it with every pod put back: they contradict themselves.
  if (victims.empty()) {
    return {.status =
                Status::Error(fmt::format("expected at least one victim pod on node \"{}\"", what_if.node_name()))};
  }
  SortByImportance(victims);
  for (const Evictable& victim : victims) found.pods.push_back(*victim.pod);
  return {Status::Success(), std::move(found), OrderHoldsAfter(evictable, now_), budgets.asked};
}

}  // namespace berth::preemption
