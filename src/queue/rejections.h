// Rejections: the sleeping pods by who turned them down. Pods of one profile that the same plugins turned down make one
// group; an event is held against the registrations once per group, and only the pods of groups that it may help are
// looked at. There are as many groups as combinations of rejecting plugins were seen, which in practice is a handful.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/events.h"
#include "framework/plugin.h"
#include "queue/happened_event.h"
#include "queue/waiting_pod.h"

namespace berth::queue {

// What the queue needs of a profile.
struct ProfileHooks {
  std::function<framework::Status(const framework::PodInfo&)> pre_enqueue;
  // By plugin: the events that may help pods it rejected.
  std::map<std::string, std::vector<framework::ClusterEventWithHint>> events;
};

// What to do with a pod because of an event; the greater, the more urgent.
enum class Strategy : uint8_t { kSkip, kAfterBackoff, kImmediately };

// Whom to ask about an event on behalf of the pods of a group.
struct Interest {
  std::vector<const framework::QueueingHintFn*> urgent;    // of plugins that wait for something outside
  std::vector<const framework::QueueingHintFn*> ordinary;  // of the other plugins
  bool concerns_gate = false;                              // the group is not gated, or its gate registered for this

  bool empty() const { return urgent.empty() && ordinary.empty(); }
  Strategy Ask(const framework::PodInfo& pod, const HappenedEvent& happened) const;
};

struct Rejection {
  uint32_t profile = 0;
  PluginNames unschedulable_plugins;
  PluginNames pending_plugins;
  std::string gating_plugin;
  std::vector<WaitingPod*> sleepers;
  std::unordered_map<uint64_t, Interest> interests;  // by kind of event, worked out when first asked for

  bool gated() const { return !gating_plugin.empty(); }
};

class Rejections {
 public:
  // By scheduler name.
  explicit Rejections(std::map<std::string, ProfileHooks> profiles);
  Rejections(const Rejections&) = delete;
  Rejections& operator=(const Rejections&) = delete;

  uint32_t ProfileOf(const framework::PodInfo& pod) const;
  const ProfileHooks& hooks(uint32_t profile) const { return profiles_[profile].second; }

  void FallAsleep(WaitingPod& pod);
  void WakeUp(WaitingPod& pod);
  size_t gated() const { return gated_; }

  // Whether any plugin of any profile registered for it; always for the wildcard.
  bool Concerns(const framework::ClusterEvent& event);
  // What the event means to this pod, asleep or not, by the plugins that turned it down.
  Strategy WorthRequeuing(const WaitingPod& pod, const HappenedEvent& happened);
  // Appends the sleepers worth requeuing to `worth`.
  void FindWorthRequeuing(const HappenedEvent& happened, std::vector<std::pair<WaitingPod*, Strategy>>& worth);

 private:
  struct Key {
    uint32_t profile;
    const PluginNames& unschedulable_plugins;
    const PluginNames& pending_plugins;
    const std::string& gating_plugin;
  };
  struct ByKey {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      const auto tie = [](const auto& key) {
        return std::tie(key.profile, key.gating_plugin, key.unschedulable_plugins, key.pending_plugins);
      };
      return tie(a) < tie(b);
    }
  };

  Rejection& GroupOf(const WaitingPod& pod);
  const Interest& InterestOf(Rejection& group, const framework::ClusterEvent& event) const;

  std::vector<std::pair<std::string, ProfileHooks>> profiles_;
  // By plugin, whatever the profile: gates are asked again about an event that any profile registered them for.
  std::map<std::string, std::vector<framework::ClusterEvent>, std::less<>> registered_;
  std::unordered_map<uint64_t, bool> concerns_;  // by kind of event
  std::vector<std::unique_ptr<Rejection>> groups_;
  std::map<Key, Rejection*, ByKey> groups_by_key_;  // keys refer to the groups
  size_t gated_ = 0;
};

}  // namespace berth::queue
