#include "queue/rejections.h"

#include <algorithm>
#include <string_view>

#include "api/pod.h"
#include "base/check.h"

namespace berth::queue {

using framework::ClusterEvent;
using framework::ClusterEventWithHint;
using framework::QueueingHint;

namespace {

uint64_t KindOf(const ClusterEvent& event) {
  return static_cast<uint64_t>(event.resource) << 32 | static_cast<uint64_t>(event.action);
}

bool AnyCovers(const std::vector<ClusterEvent>& registered, const ClusterEvent& event) {
  return std::any_of(registered.begin(), registered.end(),
                     [&](const ClusterEvent& candidate) { return candidate.Covers(event); });
}

}  // namespace

bool Rejections::Queues(const Interest::Hint& hint, const framework::PodInfo& pod,
                        const HappenedEvent& happened) const {
  const auto ask = [&] { return *hint.ask ? (*hint.ask)(pod, happened.before, happened.after) : QueueingHint::kQueue; };
  if (!hint_observer_) return ask() == QueueingHint::kQueue;
  const base::Time start = clock_->Now();
  const QueueingHint answer = ask();
  hint_observer_(*hint.plugin, happened.event, answer, clock_->Now() - start);
  return answer == QueueingHint::kQueue;
}

Strategy Rejections::Ask(const Interest& interest, const framework::PodInfo& pod, const HappenedEvent& happened) const {
  const auto queues = [&](const Interest::Hint& hint) { return Queues(hint, pod, happened); };
  if (std::any_of(interest.urgent.begin(), interest.urgent.end(), queues)) return Strategy::kImmediately;
  if (std::any_of(interest.ordinary.begin(), interest.ordinary.end(), queues)) return Strategy::kAfterBackoff;
  return Strategy::kSkip;
}

Rejections::Rejections(std::map<std::string, ProfileHooks> profiles) { Reset(std::move(profiles)); }

void Rejections::Reset(std::map<std::string, ProfileHooks> profiles) {
  for (const auto& group : groups_) CHECK(group->pods.empty());
  groups_by_key_.clear();
  groups_.clear();
  concerns_.clear();
  registered_.clear();
  profiles_.clear();
  for (auto& [name, hooks] : profiles) profiles_.emplace_back(name, std::move(hooks));
  for (const auto& [name, hooks] : profiles_) {
    for (const auto& [plugin, events] : hooks.events) {
      for (const ClusterEventWithHint& entry : events) registered_[plugin].push_back(entry.event);
    }
  }
}

uint32_t Rejections::ProfileOf(const framework::PodInfo& pod) const {
  const std::string_view name = api::SchedulerNameOrDefault(pod.pod().spec.scheduler_name);
  for (uint32_t i = 0; i < profiles_.size(); ++i) {
    if (profiles_[i].first == name) return i;
  }
  CHECK_WHY(false, "pods of other schedulers must not be queued");
  return 0;
}

RejectionGroup& Rejections::GroupOf(const WaitingPod& pod) {
  const Key key{pod.profile, pod.unschedulable_plugins, pod.pending_plugins, pod.gating_plugin};
  const auto found = groups_by_key_.find(key);
  if (found != groups_by_key_.end()) return *found->second;
  auto& group = *groups_.emplace_back(std::make_unique<RejectionGroup>());
  group.profile = pod.profile;
  group.unschedulable_plugins = pod.unschedulable_plugins;
  group.pending_plugins = pod.pending_plugins;
  group.gating_plugin = pod.gating_plugin;
  groups_by_key_.emplace(Key{group.profile, group.unschedulable_plugins, group.pending_plugins, group.gating_plugin},
                         &group);
  return group;
}

void Rejections::Add(WaitingPod& pod) {
  CHECK_WHY(!pod.unschedulable_plugins.empty() || !pod.pending_plugins.empty(), "nobody would ever wake this pod");
  RejectionGroup& group = GroupOf(pod);
  pod.rejection = &group;
  pod.rejection_index = group.pods.size();
  group.pods.push_back(&pod);
  if (group.gated()) ++gated_;
}

void Rejections::Remove(WaitingPod& pod) {
  RejectionGroup& group = *pod.rejection;
  WaitingPod& last = *group.pods.back();
  last.rejection_index = pod.rejection_index;
  group.pods[last.rejection_index] = &last;
  group.pods.pop_back();
  pod.rejection = nullptr;
  if (group.gated()) --gated_;
}

bool Rejections::Concerns(const ClusterEvent& event) {
  if (event.IsWildCard()) return true;
  const auto [known, fresh] = concerns_.try_emplace(KindOf(event), false);
  if (fresh) {
    known->second = std::any_of(registered_.begin(), registered_.end(),
                                [&](const auto& plugin) { return AnyCovers(plugin.second, event); });
  }
  return known->second;
}

const Interest& Rejections::InterestOf(RejectionGroup& group, const ClusterEvent& event) const {
  const auto [known, fresh] = group.interests.try_emplace(KindOf(event));
  Interest& interest = known->second;
  if (!fresh) return interest;
  const auto& events = profiles_[group.profile].second.events;
  const auto collect = [&](const PluginNames& plugins, std::vector<Interest::Hint>& hints) {
    for (const std::string& plugin : plugins) {
      const auto registered = events.find(plugin);
      if (registered == events.end()) continue;
      for (const ClusterEventWithHint& entry : registered->second) {
        if (entry.event.Covers(event)) hints.push_back({&registered->first, &entry.hint});
      }
    }
  };
  collect(group.pending_plugins, interest.urgent);
  collect(group.unschedulable_plugins, interest.ordinary);
  const auto gate = registered_.find(group.gating_plugin);
  interest.concerns_gate = !group.gated() || (gate != registered_.end() && AnyCovers(gate->second, event));
  return interest;
}

Strategy Rejections::WorthRequeuing(const WaitingPod& pod, const HappenedEvent& happened) {
  if (pod.unschedulable_plugins.empty() && pod.pending_plugins.empty()) return Strategy::kAfterBackoff;
  if (happened.event.IsWildCard()) {
    const api::Pod* about = happened.after.As<api::Pod>();
    if (!happened.after.empty() && (!about || about->metadata.uid != pod.pod->uid())) return Strategy::kSkip;
    return Strategy::kAfterBackoff;
  }
  RejectionGroup& group = pod.rejection ? *pod.rejection : GroupOf(pod);
  return Ask(InterestOf(group, happened.event), *pod.pod, happened);
}

void Rejections::FindWorthRequeuing(const HappenedEvent& happened,
                                    std::vector<std::pair<WaitingPod*, Strategy>>& worth) {
  const bool wildcard = happened.event.IsWildCard();
  for (const auto& group : groups_) {
    if (group->pods.empty()) continue;
    const Interest* interest = wildcard ? nullptr : &InterestOf(*group, happened.event);
    if (interest && (interest->empty() || !interest->concerns_gate)) continue;
    for (WaitingPod* pod : group->pods) {
      const Strategy strategy = interest ? Ask(*interest, *pod->pod, happened) : WorthRequeuing(*pod, happened);
      if (strategy != Strategy::kSkip) worth.emplace_back(pod, strategy);
    }
  }
}

}  // namespace berth::queue
