// EventHandlers: applies the changes of API objects to the cluster state and the queue, which requeues the pods that a
// change may help.
//
//   pod without a node, of one of our profiles  ->  queue (and nominations)
//   pod with a node                             ->  cluster state; leaves the queue
//   pod that is assumed                         ->  the API is behind: its newest version is kept for a retry, and a
//                                                   deletion releases its resources
//
// Not thread-safe; runs on the scheduling thread, between cycles.
#pragma once

#include <functional>
#include <memory>

#include "api/object.h"
#include "cluster/cluster.h"
#include "queue/scheduling_queue.h"
#include "scheduler/scheduler.h"

namespace berth::scheduler {

class EventHandlers {
 public:
  // Called with the time that each event took; for metrics.
  using Observer = std::function<void(const framework::ClusterEvent& event, base::Duration took)>;

  EventHandlers(cluster::Cluster& cluster, queue::SchedulingQueue& queue, Scheduler& scheduler,
                const config::FeatureGates& gates, const base::Clock& clock)
      : cluster_(cluster), queue_(queue), scheduler_(scheduler), gates_(gates), clock_(clock) {
    cluster_.nominator().RememberEnded();
  }
  void set_observer(Observer observer) { observer_ = std::move(observer); }

  // Added or changed.
  void Put(const api::Object& object);
  // Deleted; `object` is its last known state.
  void Remove(const api::Object& object);
  // The same for an object of a resource that a plugin watches (framework/custom_objects.h).
  void PutCustom(framework::EventResource resource, std::shared_ptr<const api::CustomObject> object);
  void RemoveCustom(framework::EventResource resource, const api::ObjectMeta& metadata);
  // The resources of an assumed pod are free again. `except`: the UID of a pod that need not be requeued for this.
  void OnForgotten(const framework::PodInfo& pod, const std::string& node_name, std::string_view except = {});
  // Requeues pods that wait for devices, if devices have become free about which the API reports nothing because they
  // were only in flight to a claim. Called after each end of an attempt.
  void TellOfFreedDevices(std::string_view except = {});
  // Requeues pods that want the resources of a nomination that has ended, without waiting until the API reports that:
  // it may show the old nomination until there is another one, or the pod is bound. Called after each end of an
  // attempt.
  void TellOfEndedNominations();

 private:
  void PutPod(std::shared_ptr<const api::Pod> pod);
  void PutAssigned(std::shared_ptr<const api::Pod> pod);
  void PutPending(std::shared_ptr<const api::Pod> pod);
  void RemovePod(const api::Pod& pod);
  void DropAssumed(const std::string& uid);
  void PutNode(std::shared_ptr<const api::Node> node);
  void RemoveNode(const std::string& name);
  void SlicesChanged();
  // Runs `handle`, and passes the time it took to the observer.
  void Timed(framework::ActionType action, const std::function<void()>& handle);
  template <class T>
  void Happened(framework::ClusterEvent event, std::shared_ptr<const T> before, std::shared_ptr<const T> after,
                std::string_view except = {});

  cluster::Cluster& cluster_;
  queue::SchedulingQueue& queue_;
  Scheduler& scheduler_;
  const config::FeatureGates& gates_;
  const base::Clock& clock_;
  Observer observer_;
};

}  // namespace berth::scheduler
