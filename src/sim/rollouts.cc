#include "sim/rollouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::sim {

Rollouts::Rollouts(std::vector<input::Rollout> rollouts, Hooks hooks) : hooks_(std::move(hooks)) {
  for (input::Rollout& rollout : rollouts) states_.push_back({std::move(rollout)});
}

size_t Rollouts::NewWithNode(const State& state) const {
  const auto& pods = state.rollout.new_pods;
  return static_cast<size_t>(
      std::count_if(pods.begin(), pods.begin() + static_cast<ptrdiff_t>(state.created),
                    [&](const std::shared_ptr<const api::Pod>& pod) { return hooks_.has_node(pod->metadata.uid); }));
}

size_t Rollouts::UpdatedWithNode(const State& state) const {
  const auto& uids = state.rollout.updated_uids;
  return static_cast<size_t>(
             std::count_if(uids.begin(), uids.end(), [&](const std::string& uid) { return hooks_.has_node(uid); })) +
         NewWithNode(state);
}

size_t Rollouts::OldWithNode(const State& state) const {
  const auto& uids = state.rollout.old_uids;
  return static_cast<size_t>(std::count_if(uids.begin() + static_cast<ptrdiff_t>(state.removed), uids.end(),
                                           [&](const std::string& uid) { return hooks_.has_node(uid); }));
}

bool Rollouts::CreateNext(State& state) {
  if (state.created == state.rollout.new_pods.size()) return false;
  state.refusal = hooks_.create(state.rollout.new_pods[state.created]);
  if (!state.refusal.empty()) return false;  // the controller tries again when something has changed
  ++state.created;
  return true;
}

bool Rollouts::RemoveNext(State& state) {
  if (state.removed == state.rollout.old_uids.size()) return false;
  hooks_.remove(state.rollout.old_uids[state.removed++]);
  return true;
}

// Creates newer pods up to maxSurge more than wanted; removes older ones while enough pods of both kinds have a node.
bool Rollouts::AdvanceAnyFirst(State& state) {
  const input::Rollout& rollout = state.rollout;
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    const size_t all = rollout.old_uids.size() - state.removed + state.created + rollout.updated_uids.size();
    if (all < rollout.wanted + rollout.max_surge && CreateNext(state)) again = true;
    const size_t available = OldWithNode(state) + UpdatedWithNode(state);
    const size_t least = rollout.wanted - std::min(rollout.wanted, rollout.max_unavailable);
    if (available > least && RemoveNext(state)) again = true;
    changed = changed || again;
  }
  return changed;
}

// The newer pod replaces the older one: after it is removed or, with maxSurge, before.
bool Rollouts::AdvanceInTurn(State& state) {
  const input::Rollout& rollout = state.rollout;
  bool changed = false;
  if (rollout.max_surge > 0) {
    // The older pod is removed once the newer one beside it has a node; both lists are in the same order.
    while (state.removed < state.created && hooks_.has_node(rollout.new_pods[state.removed]->metadata.uid)) {
      changed = RemoveNext(state) || changed;
    }
    while (state.created - state.removed < rollout.max_surge && CreateNext(state)) changed = true;
    return changed;
  }
  // A pod elsewhere in the set that has no node counts too: the controller would wait for it. So does one that could
  // not be created after the older one was removed.
  const auto waiting = [&] { return state.removed + rollout.updated_uids.size() - UpdatedWithNode(state); };
  const auto fill = [&] {
    while (state.created < state.removed && CreateNext(state)) changed = true;
  };
  fill();
  while (waiting() < rollout.max_unavailable && RemoveNext(state)) {
    changed = true;
    fill();
  }
  return changed;
}

std::string Rollouts::WhyWaiting(const State& state, size_t position) {
  if (position == state.created && !state.refusal.empty()) return state.refusal;
  return fmt::format("not created: the rollout of {} stands still, and older pods stay", state.rollout.workload);
}

bool Rollouts::Advance() {
  bool changed = false;
  for (State& state : states_) {
    const bool any_first = state.rollout.order == input::Rollout::Order::kAnyFirst;
    const bool went_on = any_first ? AdvanceAnyFirst(state) : AdvanceInTurn(state);
    changed = changed || went_on;
  }
  return changed;
}

std::vector<RolloutReport> Rollouts::Report() const {
  std::vector<RolloutReport> reports;
  for (const State& state : states_) {
    RolloutReport& report = reports.emplace_back();
    report.workload = state.rollout.workload;
    report.wanted = state.rollout.wanted;
    report.updated = UpdatedWithNode(state);
    report.old_left = OldWithNode(state);
  }
  return reports;
}

}  // namespace berth::sim
