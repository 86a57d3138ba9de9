// Simulation: a whole scheduler over an in-memory cluster. Pending pods are scheduled in queue order, with preemption,
// until nothing more can be placed. Time is virtual: waits pass at once, and the same input and seed give the same
// answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "cluster/cluster.h"
#include "config/types.h"
#include "controllers/claim_controller.h"
#include "controllers/volume_controller.h"
#include "explain/explanation.h"
#include "framework/handle.h"
#include "framework/registry.h"
#include "input/quotas.h"
#include "scheduler/driver.h"
#include "sim/rollouts.h"
#include "sim/utilisation.h"

namespace berth::sim {

enum class PodOutcome {
  kScheduled,
  kPending,    // fits nowhere
  kGated,      // held back by PreEnqueue
  kForeign,    // its schedulerName is not ours: left alone
  kPreempted,  // was running, or scheduled here, and was evicted; nothing recreates it
};

// A device allocated to a pod through a claim.
struct PodDevice {
  std::string claim;  // in the pod's namespace
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  base::FlatMap<std::string, api::Quantity> consumed;  // for a shared device
};

struct PodReport {
  std::string key;  // namespace/name
  PodOutcome outcome = PodOutcome::kPending;
  std::string node;     // its node; for a preempted pod, its former node
  std::string message;  // why it is pending, in upstream's words
  int64_t score = 0;    // total of the node it went to; 0 when only one node was feasible
  bool scored = false;
  size_t feasible_nodes = 0;
  bool tried = false;     // an attempt was made
  std::string runner_up;  // the second best node, when scored and Simulation::Options::runner_ups
  int64_t runner_up_score = 0;
  bool preempting = false;         // scheduled onto the node that preemption had nominated
  std::string nominated_node;      // of a pending pod
  std::string preempted_by;        // namespace/name
  std::vector<PodDevice> devices;  // of a scheduled pod, by claim
  std::string owner;               // the workload it belongs to: "Deployment shop/web"; "" without one
};

struct SimulationReport {
  std::vector<PodReport> pods;       // those that were pending in the input, by namespace and name
  std::vector<PodReport> preempted;  // in the order of eviction
  size_t nodes = 0;
  size_t bound_before = 0;            // pods that had a node in the input
  std::vector<PodReport> lost;        // and those whose node does not exist: they count nowhere
  std::vector<std::string> warnings;  // of the input; filled in by the caller
  std::vector<std::string> notes;
  Utilisation utilisation;  // after the run
  std::vector<RolloutReport> rollouts;
  std::vector<explain::Explanation> explanations;  // by pod, for those requested

  size_t Count(PodOutcome outcome) const;
};

class Simulation final : public framework::SimpleApiWriter, private scheduler::DriverObserver {
 public:
  struct Options {
    uint64_t seed = 1;
    bool verify_incremental = false;
    bool runner_ups = false;  // determine the second-best node
    // Pods to explain, as namespace/name; and whether to explain those that stay pending as well.
    std::set<std::string> explain;
    bool explain_pending = false;
    // Kinds that the input lacks altogether: objects of them that are not found may well exist.
    std::set<api::Kind> absent;
    // Pods of older templates, and their replacements.
    std::vector<input::Rollout> rollouts;
    // Pods that are not even created, and why; they are reported as pending.
    std::vector<input::RefusedPod> refused;
    // Called as in a real cluster, except for binding, which they must not be configured to do. They must outlive the
    // simulation.
    std::vector<engine::Extender*> extenders;
    // Called after each step with the number of pods that had an attempt, and of all that need one.
    std::function<void(size_t tried, size_t total)> progress;
  };

  // Pods need UIDs; the input reader generates missing ones. `registry` has the plugins that the configuration may
  // name; it is needed only here.
  static Result<std::unique_ptr<Simulation>> Create(const std::vector<api::Object>& objects,
                                                    const config::KubeSchedulerConfiguration& configuration,
                                                    const framework::Registry& registry,
                                                    const config::FeatureGates& gates, Options options);

  // Schedules until no pod makes progress any more, and reports on every pod so far.
  SimulationReport Run();
  // Adds one more pending pod, for the next Run. It needs a UID of its own.
  void Submit(std::shared_ptr<const api::Pod> pod);
  // Submits a pod and schedules until it has a node, or until no pod makes progress; reports on that pod alone, so that
  // the cost does not grow with the number of pods. Other ready pods are scheduled in queue order.
  PodReport Place(std::shared_ptr<const api::Pod> pod);
  // Pods evicted so far, in the order of eviction.
  const std::vector<PodReport>& preempted() const { return result_.preempted; }

  const cluster::Cluster& cluster() const { return driver().cluster(); }

  // framework::ApiWriter: the API as the scheduler sees it, answering at once.
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override;
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check,
                          base::Duration timeout) override;
  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override;
  ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override;
  Result<void> SetExtendedResourceClaimStatus(const framework::PodInfo&,
                                              const api::PodExtendedResourceClaimStatus&) override {
    return {};  // not read in a simulation
  }
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) override {
    node_allocatable_[pod.uid()] = statuses;
    return {};
  }
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo& pod) override {
    node_allocatable_.erase(pod.uid());
    return framework::Status::Success();
  }
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeallocateResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeleteResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  // For custom resources that plugins watch.
  Result<std::string> Call(const framework::ObjectCall& call) override;

 private:
  Simulation(const config::FeatureGates& gates, Options options);

  // Sets the clock to the latest time in the input.
  void SetClock(const std::vector<api::Object>& objects);
  void LoadCluster(const std::vector<api::Object>& objects);
  // Adds an object of a resource that a plugin watches, matched by its kind; others are ignored.
  void PutCustom(std::shared_ptr<const api::CustomObject> object);
  void NoteLost(const api::Pod& pod);
  Result<void> MakeDriver(const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry);
  const scheduler::Driver& driver() const { return *driver_; }
  void EnqueuePending();
  void Enqueue(const std::shared_ptr<const api::Pod>& pod);
  // Steps until no pod makes progress, or the pod of this report is scheduled (null: no particular pod).
  void RunUntil(const PodReport* report);
  // Schedules one pod, or advances the clock. False when there is nothing left to wait for.
  bool Step();
  PodReport& NoteTried(const scheduler::Attempt& attempt);
  void CollectGated();
  // Reports pods whose turn in a rollout did not come as pending.
  void CollectWaiting();
  // Hooks for rollouts. Empty, or why the API server refuses to create the pod.
  std::string CreatePod(const std::shared_ptr<const api::Pod>& pod);
  void RemoveOld(const std::string& uid);
  std::string WhatIsAbsent(std::string_view message) const;
  void NoteIfGated(const std::shared_ptr<const api::Pod>& pod);
  void CollectExplanations();
  void CollectDevices();
  void NoteExplanation(explain::Explanation explanation, const scheduler::Attempt& attempt);
  explain::Explanation ExplainNow(const framework::PodInfo& pod);

  // scheduler::DriverObserver
  void OnCycleBegin(const framework::PodInfoPtr& pod) override;
  void OnCycleEnd(const scheduler::Attempt& attempt) override;
  void OnWaiting(const scheduler::Attempt& attempt) override;
  void OnBound(const scheduler::Attempt& attempt) override;
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo& newest) override;
  void OnSkipped(const framework::PodInfo& pod) override;

  const config::FeatureGates gates_;
  Options options_;  // constant, except for the rollouts, which are moved out
  base::FakeClock clock_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::unique_ptr<controllers::VolumeController> volumes_;
  std::unique_ptr<controllers::ClaimController> claims_;
  // By UID: what devices use of the node's allocatable resources, for a pod that is being bound.
  std::map<std::string, std::vector<api::NodeAllocatableResourceClaimStatus>> node_allocatable_;
  std::unique_ptr<Rollouts> rollouts_;
  input::NamespaceRules rules_;  // for pods that rollouts create; empty without rollouts
  std::map<std::string, std::shared_ptr<const api::Pod>> old_pods_;  // of rollouts, by UID
  base::Duration max_sleep_{};
  std::optional<explain::Explanation> explaining_;  // the pod whose attempt is under way
  std::vector<std::shared_ptr<const api::Pod>> pending_;
  std::map<std::string, PodReport> reports_;                  // by UID
  std::map<std::string, explain::Explanation> explanations_;  // by namespace/name
  size_t tried_ = 0;                                          // pods that had an attempt
  SimulationReport result_;
  size_t changes_ = 0;  // pods bound and evicted so far; both are finite, so this measures progress
  size_t changes_at_flush_ = 0;
};

}  // namespace berth::sim
