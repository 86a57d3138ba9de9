// Rejections: the unschedulable pods by the plugins that rejected them. Pods of one profile rejected by the same
// plugins form a group; an event is matched against the registrations once per group, and only pods of matching groups
// are checked. There is one group per combination of rejecting plugins, which in practice is a handful.
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

#include "base/clock.h"
#include "framework/events.h"
#include "framework/plugin.h"
#include "queue/in_flight_events.h"
#include "queue/waiting_pod.h"

namespace berth::queue {

// What the queue needs from a profile.
struct ProfileHooks {
  std::function<framework::Status(const framework::PodInfo&)> pre_enqueue;
  // By plugin: the events that may help pods it rejected.
  std::map<std::string, std::vector<framework::ClusterEventWithHint>> events;
};

// What to do with a pod because of an event; greater values are more urgent.
enum class Strategy : uint8_t { kSkip, kAfterBackoff, kImmediately };

// Called when a plugin's hint has run for an event; for metrics.
using HintObserver = std::function<void(const std::string& plugin, const framework::ClusterEvent& event,
                                        framework::QueueingHint hint, base::Duration took)>;

// The queueing hints to run for an event on behalf of the pods of a group.
struct Interest {
  struct Hint {
    const std::string* plugin;
    const framework::QueueingHintFn* ask;  // an empty function: always queue
  };
  std::vector<Hint> urgent;    // of plugins that wait for an external event
  std::vector<Hint> ordinary;  // of the other plugins
  bool concerns_gate = false;  // the group is not gated, or its gate registered for this event

  bool empty() const { return urgent.empty() && ordinary.empty(); }
};

struct RejectionGroup {
  uint32_t profile = 0;
  PluginNames unschedulable_plugins;
  PluginNames pending_plugins;
  std::string gating_plugin;
  std::vector<WaitingPod*> pods;
  std::unordered_map<uint64_t, Interest> interests;  // by kind of event, computed on first use

  bool gated() const { return !gating_plugin.empty(); }
};

class Rejections {
 public:
  // By scheduler name.
  explicit Rejections(std::map<std::string, ProfileHooks> profiles);
  Rejections(const Rejections&) = delete;
  Rejections& operator=(const Rejections&) = delete;

  // Resets to the state after construction; there must be no pods.
  void Reset(std::map<std::string, ProfileHooks> profiles);

  uint32_t ProfileOf(const framework::PodInfo& pod) const;
  const ProfileHooks& hooks(uint32_t profile) const { return profiles_[profile].second; }

  void Add(WaitingPod& pod);
  void Remove(WaitingPod& pod);
  size_t gated() const { return gated_; }
  void set_hint_observer(const base::Clock& clock, HintObserver observer) {
    clock_ = &clock;
    hint_observer_ = std::move(observer);
  }

  // Whether any plugin of any profile registered for the event; always true for the wildcard.
  bool Concerns(const framework::ClusterEvent& event);
  // What the event means for this pod, unschedulable or not, according to the plugins that rejected it.
  Strategy WorthRequeuing(const WaitingPod& pod, const HappenedEvent& happened);
  // Appends the unschedulable pods worth requeuing to `worth`.
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

  RejectionGroup& GroupOf(const WaitingPod& pod);
  // What the hints return for the pod.
  Strategy Ask(const Interest& interest, const framework::PodInfo& pod, const HappenedEvent& happened) const;
  bool Queues(const Interest::Hint& hint, const framework::PodInfo& pod, const HappenedEvent& happened) const;
  const Interest& InterestOf(RejectionGroup& group, const framework::ClusterEvent& event) const;

  std::vector<std::pair<std::string, ProfileHooks>> profiles_;
  // By plugin, across profiles: gates are asked again after an event that any profile registered them for.
  std::map<std::string, std::vector<framework::ClusterEvent>, std::less<>> registered_;
  std::unordered_map<uint64_t, bool> concerns_;  // by kind of event
  std::vector<std::unique_ptr<RejectionGroup>> groups_;
  std::map<Key, RejectionGroup*, ByKey> groups_by_key_;  // keys refer to the groups
  size_t gated_ = 0;
  HintObserver hint_observer_;
  const base::Clock* clock_ = nullptr;  // set when there is an observer
};

}  // namespace berth::queue
