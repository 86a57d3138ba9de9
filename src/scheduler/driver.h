// Driver: the sole owner of the cluster state, the queue and the cycles. It has no threads or sockets: events outside
// come in as calls, and writes go out through the ApiWriter that was passed in. A live scheduler, a simulation and a
// benchmark only wrap it, so all of them make the same decisions.
//
//   Put, Remove  -->  cluster state, queue
//   Step         -->  one pod through its scheduling cycle; its binding cycle is handed out, or runs synchronously
//   Finish       -->  the end of a binding cycle that was handed out
//
// Attempts have identity. Every Pop of the queue returns a ticket, and the assumed pod, the binding cycle, the requeue
// and the report carry it; a result with a stale ticket changes nothing.
//
// Not thread-safe: all calls must come from one thread, one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/ticket.h"
#include "cluster/cluster.h"
#include "config/types.h"
#include "framework/handle.h"
#include "framework/registry.h"
#include "queue/scheduling_queue.h"
#include "scheduler/checkpoint.h"
#include "scheduler/event_handlers.h"
#include "scheduler/input_clock.h"
#include "scheduler/scheduler.h"
#include "scheduler/tap.h"
#include "scheduler/tapped_api.h"

namespace berth::scheduler {

// Observes what the driver does, for reports and metrics. Called while the driver is working.
class DriverObserver {
 public:
  virtual ~DriverObserver() = default;
  // A scheduling cycle begins or has ended.
  virtual void OnCycleBegin(const framework::PodInfoPtr& /*pod*/) {}
  virtual void OnCycleEnd(const Attempt& /*attempt*/) {}
  // The pod has a node and waits in Permit.
  virtual void OnWaiting(const Attempt& /*attempt*/) {}
  // The wait has ended (allowed, rejected or timed out); later results are reported as usual.
  virtual void OnWaited(const Attempt& /*attempt*/) {}
  virtual void OnBound(const Attempt& /*attempt*/) {}
  // The pod could not be scheduled or bound, and is back in the queue. `newest` is its newest version.
  virtual void OnFailed(const Attempt& /*attempt*/, const framework::PodInfo& /*newest*/) {}
  // The attempt failed, but the pod no longer needs scheduling or is in another attempt: it was deleted or bound
  // meanwhile, or came back.
  virtual void OnStale(const Attempt& /*attempt*/) {}
  // The pod is being deleted, so it was not tried.
  virtual void OnSkipped(const framework::PodInfo& /*pod*/) {}
};

class Driver {
 public:
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

  struct Options {
    Scheduler::Options scheduler{};
    base::Duration max_unschedulable = std::chrono::minutes(5);  // after that, a pod is tried again in any case
    // No more pods are scheduled while this many are being bound: decisions made too early use stale state.
    size_t max_binding = 512;
    // A plugin has posted work, which the next Step runs; called on the plugin's thread.
    std::function<void()> on_posted{};
    // May change the queue's hooks into the profiles, for instance to measure them.
    std::function<void(std::map<std::string, queue::ProfileHooks>& hooks)> adapt_hooks{};
    // Observes every input and every decision; must outlive the driver. May be null.
    Tap* tap = nullptr;
  };

  // `registry` is needed only in this call; the clock, the writer and the observer must outlive the driver.
  static Result<std::unique_ptr<Driver>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                const framework::Registry& registry, const config::FeatureGates& gates,
                                                const base::Clock& clock, framework::ApiWriter& api,
                                                DriverObserver& observer, Options options);

  // An object was added or changed, or was deleted; then `object` is its last known state.
  void Put(const api::Object& object);
  void Remove(const api::Object& object);
  // The same for an object of a resource that a plugin watches.
  void PutCustom(framework::EventResource resource, std::shared_ptr<const api::CustomObject> object);
  void RemoveCustom(framework::EventResource resource, const api::ObjectMeta& metadata);
  // A pending pod of one of our profiles. Put does the same; this is for callers that already have the PodInfo.
  void Add(framework::PodInfoPtr pod);

  // Uses other plugins and backoffs from the next Step on, with the same scheduler names; an error changes nothing.
  // Attempts in progress end under the old configuration; unschedulable pods are requeued.
  Result<void> Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                           const framework::Registry& registry);

  // Runs what plugins have posted and ends the waits in Permit that are over, then schedules one pod. False if none is
  // ready.
  bool Step();
  // The same, but schedules nothing: for a caller that has too much in progress already.
  void Tend();
  // The end of a binding cycle that take_binding handed out.
  void Finish(std::unique_ptr<BindingCycle> cycle);
  // The time of the next internal event (a backoff or timeout that ends). Unset if there is none.
  std::optional<base::Time> NextWake();
  // When the next wait in Permit times out. Unset if no pod waits.
  std::optional<base::Time> NextTimeout() const;

  // Moves an unschedulable or backing-off pod to the active queue, whatever its backoff.
  void Activate(const std::string& uid);
  // The pod will not be tried again unless it changes.
  void GiveUp(const std::string& uid);

  // Between two inputs: whether a checkpoint captures all state that affects later decisions. False while a pod waits
  // in Permit, while a plugin has assumed something that the API server has not reported yet, while a pod with claims
  // is being bound, or while a pod is nominated that was nominated to another node before.
  bool IsAtRest() const;
  // Only for a driver at rest.
  Checkpoint TakeCheckpoint();
  // Only for a new driver. Binding cycles that were in progress are handed out: pass them to Finish with their status
  // set; they must not be run.
  void Restore(const Checkpoint& checkpoint);

  // Whether pods that name this scheduler are ours.
  bool Serves(const std::string& scheduler_name) const { return scheduler_->FindProfile(scheduler_name) != nullptr; }
  const cluster::Cluster& cluster() const { return cluster_; }
  // Objects are changed by Put and Remove. This is for what has no call of its own: a replayed claim that a plugin has
  // written (Cluster::LandClaim), and devices that are allocated by what stands in for the API server.
  cluster::Cluster& cluster() { return cluster_; }
  const queue::SchedulingQueue& queue() const { return *queue_; }
  Scheduler& scheduler() { return *scheduler_; }
  const Scheduler& scheduler() const { return *scheduler_; }
  EventHandlers& handlers() { return *handlers_; }
  queue::SchedulingQueue& mutable_queue() { return *queue_; }
  // The number of pods whose binding cycle was handed out and has not been passed to Finish.
  size_t binding() const { return binding_.size(); }

 private:
  Driver(const config::FeatureGates& gates, const base::Clock& clock, DriverObserver& observer, Options options);

  // The scope of one input; calls made within it belong to the same input.
  class Input;
  void BeginInput();

  // Runs what plugins have posted, and ends the waits that are over.
  void SettlePosted();
  // Ends the waits in Permit that are over, unless a cycle is in progress: then the next Step does.
  void SettleWaiting();
  void Settle(const Attempt& attempt);
  void SettleFailure(const Attempt& attempt);

  const config::FeatureGates gates_;
  const base::Clock& clock_;
  InputClock now_;
  DriverObserver& observer_;
  const Options options_;
  // With a tap: these pass on the calls to the writer and the extenders, and store the responses.
  std::unique_ptr<TappedApi> tapped_api_;
  std::vector<std::unique_ptr<TappedExtender>> tapped_extenders_;
  cluster::Cluster cluster_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<EventHandlers> handlers_;
  std::map<base::Ticket, const BindingCycle*> binding_;  // those that were handed out and not passed to Finish
  bool in_cycle_ = false;                                // a plugin or the writer may call Put and Remove
};

}  // namespace berth::scheduler
