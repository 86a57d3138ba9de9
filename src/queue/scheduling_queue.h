// SchedulingQueue: pending pods, each in one of these states:
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
// Unschedulable: rejected. Waits for an event that a rejecting plugin's hint considers helpful, at most five minutes.
// In flight: being scheduled. Events received meanwhile are kept for it, until it is being bound.
//
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/events.h"
#include "framework/plugin.h"
#include "queue/in_flight_events.h"
#include "queue/pod_backoff.h"
#include "queue/queued_pod.h"
#include "queue/rejections.h"
#include "queue/waiting_pod.h"

namespace berth::queue {

class SchedulingQueue {
 public:
  struct Options {
    base::Duration initial_backoff = std::chrono::seconds(1);
    base::Duration max_backoff = std::chrono::seconds(10);
    base::Duration max_unschedulable = std::chrono::minutes(5);
  };

  // `profiles` by scheduler name. The clock and the sort plugin must outlive the queue.
  SchedulingQueue(const base::Clock& clock, const framework::QueueSortPlugin& sort,
                  std::map<std::string, ProfileHooks> profiles, Options options);
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;
  ~SchedulingQueue();

  // Called for every pod that enters a state, with the cause: an event's label, or one of upstream's own names
  // ("BackoffComplete"). For metrics.
  using Observer = std::function<void(PodState state, std::string_view cause)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Called after every hint that was run, with the plugin's name. The clock measures how long each took; it must
  // outlive the queue.
  void set_hint_observer(const base::Clock& clock, HintObserver observer) {
    rejections_.set_hint_observer(clock, std::move(observer));
  }

  void Add(framework::PodInfoPtr pod);
  // The pod changed while pending; adds it when it is not in the queue.
  void Update(framework::PodInfoPtr pod);
  void Delete(const std::string& uid);

  // The next pod to schedule, now in flight; null when none is ready. It stays valid until Done, Requeue or Delete.
  const QueuedPod* Pop();
  // The following end or continue the attempt that Pop began. Each is a no-op if the attempt has been superseded: the
  // pod was deleted meanwhile, and perhaps came back.
  // The pod has a node and is being bound: events from now on do not matter to it.
  void Bind(const std::string& uid, base::Ticket ticket);
  // It is bound.
  void Done(const std::string& uid, base::Ticket ticket);
  // It could not be placed. No plugins: an internal error. The pod becomes unschedulable, unless the error or an event
  // received while it was in flight makes another attempt worthwhile.
  void Requeue(const std::string& uid, base::Ticket ticket, PluginNames unschedulable_plugins,
               PluginNames pending_plugins);
  // The pod of that attempt in its newest version; null if the attempt has been superseded.
  const QueuedPod* FindAttempt(const std::string& uid, base::Ticket ticket) const;

  // A cluster event: requeues the pods it may help, except the one with the UID `except`.
  template <class T>
  void OnEvent(framework::ClusterEvent event, std::shared_ptr<const T> before, std::shared_ptr<const T> after,
               std::string_view except = {}) {
    HappenedEvent happened{event, {}, {}, nullptr, nullptr};
    if (before) happened.before = framework::EventObject(before.get());
    if (after) happened.after = framework::EventObject(after.get());
    happened.before_owner = std::move(before);
    happened.after_owner = std::move(after);
    OnEvent(std::move(happened), except);
  }
  void OnEvent(HappenedEvent happened, std::string_view except = {});
  // Makes an unschedulable or backing-off pod active regardless of its backoff; for plugins that ask for it.
  void Activate(const std::string& uid);

  // Replaces the plugins, for the same scheduler names. Attempts in progress continue; unschedulable pods are requeued,
  // since what rejected them may be gone.
  void Reconfigure(const framework::QueueSortPlugin& sort, std::map<std::string, ProfileHooks> profiles,
                   Options options);

  // Moves pods that are due: backoffs that are over, pods that were unschedulable for too long.
  void Flush();
  // When Flush will next have something to do; unset when nothing waits for time to pass.
  std::optional<base::Time> NextFlush();

  struct Counts {
    size_t active = 0, backoff = 0, unschedulable = 0, gated = 0, in_flight = 0;
  };
  Counts counts() const;
  // Events kept for pods in flight: visit(const ClusterEvent&, size_t count), for each kind seen so far.
  template <class Visit>
  void ForEachInFlightEvent(Visit&& visit) const {
    in_flight_.ForEachKind(visit);
  }
  // Every pod here, in no particular order: visit(const QueuedPod&, PodState).
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [uid, pod] : pods_) visit(static_cast<const QueuedPod&>(pod), pod.state);
  }
  // The same with the queue's own fields: visit(const WaitingPod&).
  template <class Visit>
  void ForEachWaiting(Visit&& visit) const {
    for (const auto& [uid, pod] : pods_) visit(pod);
  }
  // The pods in that state, in its order: visit(const WaitingPod&). None for pods in flight.
  template <class Visit>
  void ForEachInLine(PodState state, Visit&& visit) const {
    const Line* line = LineOf(state);
    if (line == nullptr) return;
    for (const WaitingPod* pod : *line) visit(*pod);
  }
  // When the pod leaves its state even without an event: its backoff is over, or it has been unschedulable for too
  // long. Unset when time does not move it.
  std::optional<base::Time> DueAt(const WaitingPod& pod) const;
  // When the backoff of its last attempt is over, whatever its state.
  base::Time BackoffOverAt(const QueuedPod& pod) const { return PodBackoff::OverAt(backoff_rule_.EndOf(pod)); }
  // The queue between two attempts; there must be no pods in flight.
  struct Saved {
    struct Pod {
      QueuedPod queued;
      PodState state = PodState::kUnschedulable;
      uint64_t sequence = 0;
      base::Time flushed = base::Time::min();
    };
    std::vector<Pod> pods;  // by arrival
    uint64_t next_sequence = 0;
    uint64_t last_ticket = 0;
  };
  Saved Save() const;
  // The queue must be empty. Calls no plugin and no observer.
  void Restore(const Saved& saved);

  // For dumps and for explaining why a pod is not being scheduled; null when unknown.
  const QueuedPod* Find(const std::string& uid) const;

 private:
  // Keyed by UID; the text belongs to the pod.
  using Pods = std::unordered_map<std::string_view, WaitingPod>;

  WaitingPod* OfAttempt(const std::string& uid, base::Ticket ticket);
  // Null for a pod in flight.
  const Line* LineOf(PodState state) const;
  Line* LineOf(PodState state) { return const_cast<Line*>(std::as_const(*this).LineOf(state)); }
  void Leave(WaitingPod& pod);
  void Enter(WaitingPod& pod, PodState state);
  // As Enter, and calls the observer.
  void Arrive(WaitingPod& pod, PodState state, std::string_view cause);
  void EnterActive(WaitingPod& pod, std::string_view cause);
  void EnterBackoff(WaitingPod& pod, std::string_view cause);
  // Asks PreEnqueue; true when the pod may be scheduled.
  bool PassesGates(WaitingPod& pod) const;
  // Sets the new version of a pod that is currently in no line.
  void Replace(Pods::iterator it, framework::PodInfoPtr pod);
  void Requeue(WaitingPod& pod, Strategy strategy, std::string_view cause);
  // Empty without an observer, since only observers need the label.
  std::string LabelOf(const framework::ClusterEvent& event) const { return observer_ ? event.Label() : std::string(); }
  Strategy WorthRequeuingAfterFlight(const WaitingPod& pod);
  void Record(HappenedEvent happened);

  const base::Clock& clock_;
  Options options_;
  Observer observer_;
  PodBackoff backoff_rule_;
  uint64_t next_sequence_ = 0;
  uint64_t last_ticket_ = 0;
  Pods pods_;
  Line active_;
  Line backoff_;
  Line error_backoff_;
  Line unschedulable_;  // for the five-minute flush
  Rejections rejections_;
  InFlightEvents in_flight_;
  std::vector<std::pair<WaitingPod*, Strategy>> waking_;  // a member only to reuse its memory
};

}  // namespace berth::queue
