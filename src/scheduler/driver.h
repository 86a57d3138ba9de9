// Driver: the one owner of the picture of the cluster, the queue and the cycles. Free of threads and sockets: what
// happens outside comes in as calls, and what must be written goes out through the ApiWriter that was passed in. A live
// scheduler, a simulation and a benchmark only wrap it, so that what one of them shows is what the others do.
//
//   Put, Remove  -->  picture, queue
//   Step         -->  one pod through its scheduling cycle; its binding cycle is handed out, or runs on the spot
//   Finish       -->  the end of a binding cycle that was handed out
//
// Identity is an attempt. Every Pop of the queue gives a ticket, and the assumed pod, the binding cycle, the requeue
// and the report carry it; an end whose ticket is stale changes nothing.
//
// Not thread-safe: all calls come from one thread, one after the other.
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

// Hears what the driver does, for reports and metrics. Called in the middle of the driver's work.
class DriverObserver {
 public:
  virtual ~DriverObserver() = default;
  // A scheduling cycle begins, and has ended.
  virtual void OnCycleBegin(const framework::PodInfoPtr& /*pod*/) {}
  virtual void OnCycleEnd(const Attempt& /*attempt*/) {}
  // It has a node and waits for permission to be bound there.
  virtual void OnWaiting(const Attempt& /*attempt*/) {}
  // That wait is over, well or not; what follows is told as for any other pod.
  virtual void OnWaited(const Attempt& /*attempt*/) {}
  virtual void OnBound(const Attempt& /*attempt*/) {}
  // It could not be placed, and is back in the queue. `newest` is its newest version.
  virtual void OnFailed(const Attempt& /*attempt*/, const framework::PodInfo& /*newest*/) {}
  // It could not be placed, and is nobody's business any more: deleted, bound after all, or in another attempt.
  virtual void OnStale(const Attempt& /*attempt*/) {}
  // It is being deleted, so it was not tried.
  virtual void OnSkipped(const framework::PodInfo& /*pod*/) {}
};

class Driver {
 public:
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

  struct Options {
    Scheduler::Options scheduler{};
    base::Duration max_unschedulable = std::chrono::minutes(5);  // asleep; then a pod is tried again in any case
    // No more pods are placed while so many are being bound: what is decided early is decided on old news.
    size_t max_binding = 512;
    // A plugin has posted work, which the next Step does; called on the plugin's thread.
    std::function<void()> on_posted{};
    // May change what the queue knows of the profiles, for instance to time it.
    std::function<void(std::map<std::string, queue::ProfileHooks>& hooks)> adapt_hooks{};
    // Hears every input and every decision; outlives the driver. Null: nobody does.
    Tap* tap = nullptr;
  };

  // `registry` is needed only here; the clock, the writer and the observer outlive the driver.
  static Result<std::unique_ptr<Driver>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                const framework::Registry& registry, const config::FeatureGates& gates,
                                                const base::Clock& clock, framework::ApiWriter& api,
                                                DriverObserver& observer, Options options);

  // An object was added or changed; it is gone, `object` being its last known state.
  void Put(const api::Object& object);
  void Remove(const api::Object& object);
  // The same for an object of a resource that a plugin watches.
  void PutCustom(framework::EventResource resource, std::shared_ptr<const api::CustomObject> object);
  void RemoveCustom(framework::EventResource resource, const api::ObjectMeta& metadata);
  // A pending pod of one of our profiles. Put does the same; this is for whoever has made the PodInfo already.
  void Add(framework::PodInfoPtr pod);

  // Other plugins and backoffs from the next Step on, with the scheduler names as they are; on an error nothing has
  // changed. Attempts under way end under the old configuration; sleeping pods are asked again.
  Result<void> Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                           const framework::Registry& registry);

  // Does what plugins have posted and ends the waits that are over, then schedules one pod. False when none is ready.
  bool Step();
  // The same, but schedules nothing: for a caller that has too much in progress already.
  void Tend();
  // The end of a binding cycle that take_binding handed out.
  void Finish(std::unique_ptr<BindingCycle> cycle);
  // When there will be something to do without anybody's doing. Unset: never.
  std::optional<base::Time> NextWake();
  // When the next wait in Permit will be over. Unset: no pod waits.
  std::optional<base::Time> NextTimeout() const;

  // Tries a sleeping pod again whatever its backoff.
  void Activate(const std::string& uid);
  // The pod will not be tried again unless it changes.
  void GiveUp(const std::string& uid);

  // Between two inputs: whether a checkpoint would tell all that decides what comes next. Not while a pod waits for
  // permission, while a plugin has promised what the API server has not reported yet, while claims are being bound, or
  // while a pod is nominated that was nominated to another node before.
  bool IsAtRest() const;
  // Of a driver that is at rest.
  Checkpoint TakeCheckpoint();
  // Into a driver that is new. Binding cycles that were under way are handed out, to be given to Finish with their
  // status set; they must not be run.
  void Restore(const Checkpoint& checkpoint);

  // Whether pods that name this scheduler are ours.
  bool Serves(const std::string& scheduler_name) const { return scheduler_->FindProfile(scheduler_name) != nullptr; }
  const cluster::Cluster& cluster() const { return cluster_; }
  // For what stands in for the outside world in simulations and benchmarks, and fills the picture before the first
  // Step.
  cluster::Cluster& cluster() { return cluster_; }
  const queue::SchedulingQueue& queue() const { return *queue_; }
  Scheduler& scheduler() { return *scheduler_; }
  const Scheduler& scheduler() const { return *scheduler_; }
  EventHandlers& handlers() { return *handlers_; }
  queue::SchedulingQueue& mutable_queue() { return *queue_; }
  // Pods whose binding cycle was handed out and has not come back.
  size_t binding() const { return binding_.size(); }

 private:
  Driver(const config::FeatureGates& gates, const base::Clock& clock, DriverObserver& observer, Options options);

  // From the first to the last moment of one input; calls from within it belong to it.
  class Input;
  void BeginInput();

  // What plugins have posted, and the waits that are over.
  void SettlePosted();
  // The waits in Permit that are over, unless a cycle is under way: then the next Step settles them.
  void SettleWaiting();
  void Settle(const Attempt& attempt);
  void SettleFailure(const Attempt& attempt);

  const config::FeatureGates gates_;
  const base::Clock& clock_;
  InputClock now_;
  DriverObserver& observer_;
  const Options options_;
  // With a tap: between the scheduler and what it was given.
  std::unique_ptr<TappedApi> tapped_api_;
  std::vector<std::unique_ptr<TappedExtender>> tapped_extenders_;
  cluster::Cluster cluster_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<EventHandlers> handlers_;
  std::map<base::Ticket, const BindingCycle*> binding_;  // those that were handed out and have not come back
  bool in_cycle_ = false;                                // a plugin or the writer may call Put and Remove
};

}  // namespace berth::scheduler
