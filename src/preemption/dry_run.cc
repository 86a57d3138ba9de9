#include "preemption/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "preemption/cost.h"
#include "preemption/eligibility.h"

namespace berth::preemption {

using framework::PodInfoPtr;
using framework::Status;

namespace {

// Copies of a node and of the cycle's state in which pods come and go.
class WhatIf {
 public:
  WhatIf(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
         const framework::NodeInfo& node)
      : handle_(handle), pod_(pod), state_(state.Clone()), node_(node) {}

  const std::string& node_name() const { return node_.name(); }
  Status RemoveAll(const std::vector<PodInfoPtr>& others) {
    for (const PodInfoPtr& other : others) {
      if (Status removed = Remove(other); !removed.ok()) return removed;
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

// Pods come and go on a copy of the node alone, which is the caller's so that its memory serves node after node.
class WhatIfAlone {
 public:
  WhatIfAlone(const framework::Handle& handle, framework::CycleState& state, const framework::PodInfo& pod,
              framework::NodeInfo& copy)
      : handle_(handle), state_(state), pod_(pod), node_(copy) {}

  const std::string& node_name() const { return node_.name(); }
  Status RemoveAll(const std::vector<PodInfoPtr>&) {
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
  Status Fit() { return handle_.RunFilterWithNominatedPods(state_, pod_, node_); }

 private:
  const framework::Handle& handle_;
  framework::CycleState& state_;
  const framework::PodInfo& pod_;
  framework::NodeInfo& node_;
};

// A plugin that cannot follow a change to its state is an error, whatever code it chose.
Status AsError(const Status& status) { return status.IsError() ? status : Status::Error(status.Message()); }

// Puts each pod back that leaves the preemptor enough; the others join `victims`.
template <class AnyWhatIf>
Status Reprieve(AnyWhatIf& what_if, const std::vector<PodInfoPtr>& pods, std::vector<PodInfoPtr>& victims) {
  for (const PodInfoPtr& pod : pods) {
    if (const Status added = what_if.Add(pod); !added.ok()) return AsError(added);
    if (what_if.Fit().ok()) continue;
    if (const Status removed = what_if.Remove(pod); !removed.ok()) return AsError(removed);
    victims.push_back(pod);
  }
  return Status::Success();
}

// Shared by all nodes that have nobody to evict: often most of them.
const Status& NoVictims() {
  static const Status status = Status::UnschedulableAndUnresolvable("No preemption victims found for incoming pod");
  return status;
}

std::vector<PodInfoPtr> EvictableOn(const framework::NodeInfo& node, const framework::PodInfo& preemptor) {
  std::vector<PodInfoPtr> evictable;
  evictable.reserve(node.pods().size());
  std::copy_if(node.pods().begin(), node.pods().end(), std::back_inserter(evictable),
               [&](const PodInfoPtr& pod) { return MayBeEvictedFor(*pod, preemptor); });
  return evictable;
}

// From when on the order of these pods no longer depends on the moment; see Trial::holds_after.
base::Time OrderHoldsAfter(const std::vector<PodInfoPtr>& pods, base::Time now) {
  base::Time latest = base::Time::min();
  bool some_not_started = false;
  for (const PodInfoPtr& pod : pods) {
    const auto& start = pod->start_time();
    if (start) latest = std::max(latest, *start);
    some_not_started = some_not_started || !start;
  }
  if (!some_not_started) return base::Time::min();
  // Whoever starts in the future will change places with those that have not started.
  return latest < now ? latest : base::Time::max();
}

}  // namespace

DryRun::DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod)
    : DryRun(handle, state, pod, std::make_shared<DisruptionBudgets>(handle.objects().pod_disruption_budgets)) {}

DryRun::DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod,
               std::shared_ptr<const DisruptionBudgets> budgets)
    : handle_(handle), state_(state), pod_(pod), now_(handle.now()), budgets_(std::move(budgets)) {}

Trial DryRun::Try(const framework::NodeInfo& node) const {
  std::vector<PodInfoPtr> evictable = EvictableOn(node, pod_);
  // Copying is what costs, and with nothing to take away the filters would only repeat their verdict.
  if (evictable.empty()) return {.status = NoVictims()};
  WhatIf what_if(handle_, state_, pod_, node);
  return Judge(what_if, std::move(evictable));
}

Trial DryRun::TryAlone(const framework::NodeInfo& node) const {
  std::vector<PodInfoPtr> evictable = EvictableOn(node, pod_);
  if (evictable.empty()) return {.status = NoVictims()};
  if (!shared_state_) shared_state_ = state_.Clone();
  if (scratch_) {
    *scratch_ = node;
  } else {
    scratch_ = node;
  }
  WhatIfAlone what_if(handle_, *shared_state_, pod_, *scratch_);
  return Judge(what_if, std::move(evictable));
}

template <class AnyWhatIf>
Trial DryRun::Judge(AnyWhatIf& what_if, std::vector<PodInfoPtr> evictable) const {
  if (const Status removed = what_if.RemoveAll(evictable); !removed.ok()) return {.status = AsError(removed)};
  if (Status fit = what_if.Fit(); !fit.ok()) return {.status = std::move(fit)};

  // Stable, so that pods of equal standing are treated in the order in which the node has them.
  std::stable_sort(evictable.begin(), evictable.end(), MoreImportant{now_});
  const VictimGroups groups = budgets_->Split(evictable);
  framework::Victims victims;
  if (Status done = Reprieve(what_if, groups.violating, victims.pods); !done.ok()) return {.status = std::move(done)};
  victims.pdb_violations = static_cast<int64_t>(victims.pods.size());
  if (Status done = Reprieve(what_if, groups.harmless, victims.pods); !done.ok()) return {.status = std::move(done)};
  // The filters rejected the untouched node, yet accept it with every pod back: they contradict themselves.
  if (victims.pods.empty()) {
    return {.status =
                Status::Error(fmt::format("expected at least one victim pod on node \"{}\"", what_if.node_name()))};
  }
  std::stable_sort(victims.pods.begin(), victims.pods.end(), MoreImportant{now_});
  return {Status::Success(), std::move(victims), OrderHoldsAfter(evictable, now_), groups.asked};
}

}  // namespace berth::preemption
