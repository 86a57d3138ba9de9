#include "preemption/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "preemption/eligibility.h"
#include "preemption/victim_order.h"

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

// A plugin that cannot follow a change to its state is an error, whatever code it chose.
Status AsError(const Status& status) { return status.IsError() ? status : Status::Error(status.Message()); }

// Puts each pod back that leaves the preemptor enough; the others join `victims`.
Status Reprieve(WhatIf& what_if, const std::vector<PodInfoPtr>& pods, std::vector<PodInfoPtr>& victims) {
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

}  // namespace

DryRun::DryRun(const framework::Handle& handle, const framework::CycleState& state, const framework::PodInfo& pod)
    : handle_(handle),
      state_(state),
      pod_(pod),
      now_(handle.clock().Now()),
      budgets_(handle.objects().pod_disruption_budgets) {}

Trial DryRun::Try(const framework::NodeInfo& node) const {
  std::vector<PodInfoPtr> evictable;
  std::copy_if(node.pods().begin(), node.pods().end(), std::back_inserter(evictable),
               [&](const PodInfoPtr& pod) { return MayBeEvictedFor(*pod, pod_); });
  // Copying is what costs, and with nothing to take away the filters would only repeat their verdict.
  if (evictable.empty()) return {NoVictims(), {}};

  WhatIf what_if(handle_, state_, pod_, node);
  for (const PodInfoPtr& pod : evictable) {
    if (const Status removed = what_if.Remove(pod); !removed.ok()) return {AsError(removed), {}};
  }
  if (Status fit = what_if.Fit(); !fit.ok()) return {std::move(fit), {}};

  // Stable, so that pods of equal standing are treated in the order in which the node has them.
  std::stable_sort(evictable.begin(), evictable.end(), MoreImportant{now_});
  const VictimGroups groups = budgets_.Split(evictable);
  framework::Victims victims;
  if (Status done = Reprieve(what_if, groups.violating, victims.pods); !done.ok()) return {std::move(done), {}};
  victims.pdb_violations = static_cast<int64_t>(victims.pods.size());
  if (Status done = Reprieve(what_if, groups.harmless, victims.pods); !done.ok()) return {std::move(done), {}};
  // The filters rejected the untouched node, yet accept it with every pod back: they contradict themselves.
  if (victims.pods.empty()) {
    return {Status::Error(fmt::format("expected at least one victim pod on node \"{}\"", node.name())), {}};
  }
  std::stable_sort(victims.pods.begin(), victims.pods.end(), MoreImportant{now_});
  return {Status::Success(), std::move(victims)};
}

}  // namespace berth::preemption
