// SchedulingQueue: pods that want a node, each in one of these places:
//
//              Add            Pop                    Done
//   (unknown) -----> active ---------> in flight ------------> (unknown)
//       |              ^  ^                |
//       | gated        |  | backoff over   | Requeue
//       v              |  |                v
//   unschedulable -----+  +-- backoff <----+---> unschedulable
//       (also gated)  an event that helps
//
// Active: ready; the order is the QueueSort plugin's.
// Backoff: failed recently and must wait. Ordered by when the wait ends, so that a pod that keeps failing cannot starve
// the rest; taken from early when nothing is active, unless the failure was an internal error.
// Unschedulable: turned down. Sleeps until an event that a rejecting plugin thinks may help, or for five minutes.
// In flight: being scheduled. Events that happen meanwhile are remembered for it.
//
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/events.h"
#include "framework/plugin.h"
#include "queue/backoff.h"
#include "queue/in_flight_events.h"
#include "queue/queued_pod.h"

namespace berth::queue {

// What the queue needs of a profile.
struct ProfileHooks {
  std::function<framework::Status(const framework::PodInfo&)> pre_enqueue;
  // By plugin: the events that may help pods it rejected.
  std::map<std::string, std::vector<framework::ClusterEventWithHint>> events;
};

class SchedulingQueue {
 public:
  struct Options {
    base::Duration initial_backoff = std::chrono::seconds(1);
    base::Duration max_backoff = std::chrono::seconds(10);
    base::Duration max_unschedulable = std::chrono::minutes(5);
  };

  // `profiles` by scheduler name. The clock and the sort plugin outlive the queue.
  SchedulingQueue(const base::Clock& clock, const framework::QueueSortPlugin& sort,
                  std::map<std::string, ProfileHooks> profiles, Options options);
  ~SchedulingQueue();

  void Add(framework::PodInfoPtr pod);
  // The pod changed while pending; adds it when it is not here.
  void Update(framework::PodInfoPtr pod);
  void Delete(const std::string& uid);

  // The next pod to schedule, now in flight; null when none is ready. It stays valid until Done, Requeue or Delete.
  const QueuedPod* Pop();
  // It is placed, or gone.
  void Done(const std::string& uid);
  // It could not be placed. No plugins: an internal error. Goes to sleep, or straight back if something that happened
  // while it was in flight may help.
  void Requeue(const std::string& uid, PluginNames unschedulable_plugins, PluginNames pending_plugins);

  // Something happened: wakes the pods it may help.
  template <class T>
  void OnEvent(framework::ClusterEvent event, std::shared_ptr<const T> before, std::shared_ptr<const T> after) {
    HappenedEvent happened{event, {}, {}, before, after};
    if (before) happened.before = framework::EventObject(before.get());
    if (after) happened.after = framework::EventObject(after.get());
    OnEvent(std::move(happened));
  }
  void OnEvent(HappenedEvent happened);
  // Puts a sleeping pod into the active place whatever its backoff; for plugins that know better.
  void Activate(const std::string& uid);

  // Moves what is due by the clock: backoffs that are over, pods that slept too long.
  void Flush();
  // When Flush will next have something to do; unset when nothing waits for time to pass.
  std::optional<base::Time> NextFlush();

  struct Counts {
    size_t active = 0, backoff = 0, unschedulable = 0, gated = 0, in_flight = 0;
  };
  Counts counts() const;
  // For dumps and for telling why a pod is not being scheduled; null when unknown.
  const QueuedPod* Find(const std::string& uid) const;

 private:
  enum class Place { kActive, kBackoff, kErrorBackoff, kUnschedulable, kInFlight };
  enum class Strategy { kSkip, kAfterBackoff, kImmediately };
  struct Entry : QueuedPod {
    Place place = Place::kUnschedulable;
    uint64_t sequence = 0;                   // order of arrival, so that equals keep it
    base::Time flushed = base::Time::min();  // when it was last woken for having slept too long

    // A gate that stays shut must not make every flush ask it again.
    std::pair<base::Time, std::string> SleepKey() const { return {std::max(timestamp, flushed), pod->uid()}; }
  };
  struct ActiveOrder {
    const SchedulingQueue* queue;
    bool operator()(const Entry* a, const Entry* b) const { return queue->ActiveLess(*a, *b); }
  };
  struct BackoffOrder {
    const SchedulingQueue* queue;
    bool windows_by_priority;
    bool operator()(const Entry* a, const Entry* b) const;
  };

  bool ActiveLess(const Entry& a, const Entry& b) const;
  const ProfileHooks& HooksOf(const QueuedPod& pod) const;
  void Leave(Entry& entry);
  void Enter(Entry& entry, Place place);
  void EnterActive(Entry& entry);
  void EnterBackoff(Entry& entry);
  // Asks PreEnqueue; true when the pod may be scheduled.
  bool PassesGates(Entry& entry) const;
  void Requeue(Entry& entry, Strategy strategy);
  Strategy WorthRequeuing(const QueuedPod& pod, const HappenedEvent& happened) const;
  Strategy WorthRequeuingAfterFlight(const QueuedPod& pod) const;
  // UIDs of the unschedulable, to walk while they move.
  std::vector<std::string> Sleepers() const;
  bool ConcernsGate(const QueuedPod& pod, const framework::ClusterEvent& event) const;

  const base::Clock& clock_;
  const framework::QueueSortPlugin& sort_;
  const std::map<std::string, ProfileHooks> profiles_;
  const Options options_;
  Backoff backoff_rule_;
  uint64_t next_sequence_ = 0;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;  // by UID
  std::set<Entry*, ActiveOrder> active_;
  std::set<Entry*, BackoffOrder> backoff_;
  std::set<Entry*, BackoffOrder> error_backoff_;
  std::set<std::pair<base::Time, std::string>> unschedulable_;  // (since when, UID): the order of the five-minute flush
  InFlightEvents in_flight_;
};

}  // namespace berth::queue
