// Scheduler: profiles and the two cycles that take a pod from the queue to a node.
//
//   scheduling cycle:  evaluate -> select -> assume -> Reserve -> Permit
//   binding cycle:     (wait) -> PreBind -> Bind -> PostBind
//
// Every early return unreserves and forgets the pod.
// Not thread-safe; runs on the scheduling thread, except for binding cycles that are handed to other threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/cluster.h"
#include "config/types.h"
#include "engine/evaluator.h"
#include "engine/extender.h"
#include "engine/node_sampling.h"
#include "engine/profile.h"
#include "framework/registry.h"
#include "scheduler/attempt.h"
#include "scheduler/binding_cycle.h"

namespace berth::scheduler {

class Scheduler {
 public:
  struct Options {
    uint64_t seed = 1;
    bool verify_incremental = false;
    size_t threads = 1;  // for passes over many nodes
    // Preemption tries every candidate, in the order of names, so that the result does not depend on random numbers.
    bool exhaustive_preemption = false;
    // Attempts contain the second best node.
    bool runner_ups = false;
    // Whether attempts contain the verdicts and scores of all nodes, even if the pod goes to its nominated node.
    engine::Scope scope = engine::Scope::kDecide;
    // Calls Run of a binding cycle on another thread, and then Finish on this one. Unset: cycles run synchronously.
    std::function<void(std::unique_ptr<BindingCycle>)> take_binding{};
    // Sets nominatedNodeName of pods whose binding may take long, for other components of the cluster.
    bool announces_nodes = false;
    // Moves an unschedulable pod to the active queue, for plugins that request it.
    std::function<void(const std::string& uid)> activate{};
    // Must outlive the scheduler. Called in this order, ignorable ones after the others.
    std::vector<engine::Extender*> extenders{};
    // The time that decisions are based on; must outlive the scheduler. Null: the clock.
    const base::Clock* input_clock = nullptr;
  };

  static Result<std::unique_ptr<Scheduler>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                   const framework::Registry& registry,
                                                   const config::FeatureGates& gates, cluster::Cluster& cluster,
                                                   const base::Clock& clock, framework::ApiWriter& api,
                                                   Options options);

  // Replaces the profiles from the next cycle on; an error changes nothing. Pods that are waiting in Permit or being
  // bound keep the profile that placed them.
  Result<void> Reconfigure(const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry,
                           const config::FeatureGates& gates);
  // Null if no profile has that name: the pod belongs to another scheduler.
  engine::Profile* FindProfile(const std::string& scheduler_name) const;
  const engine::Profile& first_profile() const { return *profiles_.begin()->second.profile; }
  std::vector<const engine::Profile*> profiles() const;
  // For callers that refer to the profiles while they are replaced.
  std::vector<std::shared_ptr<engine::Profile>> ShareProfiles() const;

  // Runs the scheduling cycle of a pod and, if it gets a node, the binding cycle. A profile must have the pod's
  // scheduler name; the ticket is the one from the queue.
  Attempt ScheduleOne(framework::PodInfoPtr pod, base::Ticket ticket);
  // The same for an attempt that has begun, whose result is written into it.
  void ScheduleOne(Attempt& attempt);
  // Finishes a binding cycle that ran on another thread: the pod is bound, or everything is undone. `superseded`: the
  // pod left and came back meanwhile, and is not in this attempt any more.
  Attempt Finish(std::unique_ptr<BindingCycle> cycle, bool superseded = false);
  // Runs the binding cycles of pods whose wait in Permit has ended.
  std::vector<Attempt> FinishWaiting();
  // Work that plugins have posted to this thread; Driver runs it between cycles.
  framework::PostedWork& posted() { return posted_; }
  // State that checkpoints contain.
  base::Random& random() { return random_; }
  engine::NodeSampler& sampler() { return sampler_; }
  // Restores the binding cycle of an attempt from a checkpoint.
  std::unique_ptr<BindingCycle> ResumeBinding(cluster::AssumedPod assumed, Attempt attempt);
  // The API server shows an assumed pod on a node. If its attempt is not that far, an earlier attempt or somebody else
  // has bound it, and Permit has nothing left to decide. On the node that the attempt has chosen, it goes on: PreBind
  // writes what the pod still needs there, and Bind finds it bound. On another node it fails, so that PreBind does not
  // allocate claims and volumes where the pod does not run.
  void NoteBound(const std::string& uid, bool elsewhere);
  framework::WaitingPods& waiting_pods() { return waiting_pods_; }
  const framework::WaitingPods& waiting_pods() const { return waiting_pods_; }

 private:
  struct ProfileSlot {
    std::shared_ptr<engine::Profile> profile;  // shared with the binding cycles of its pods
    std::unique_ptr<engine::Evaluator> evaluator;
    std::optional<engine::SamplingRule> sampling;  // unset: all nodes are evaluated
  };

  using Profiles = std::map<std::string, ProfileSlot, std::less<>>;
  Result<Profiles> MakeProfiles(const config::KubeSchedulerConfiguration& configuration,
                                const framework::Registry& registry, const config::FeatureGates& gates);
  Error UnwatchedResource(const std::map<framework::EventResource, bool>& watched) const;
  // Shared ownership of a current profile.
  std::shared_ptr<engine::Profile> Share(const engine::Profile& profile) const;

  Scheduler(cluster::Cluster& cluster, const base::Clock& clock, framework::ApiWriter& api, Options options)
      : cluster_(cluster),
        clock_(clock),
        api_(api),
        options_(std::move(options)),
        random_(options_.seed),
        sampler_(cluster) {}

  base::Time now() const { return options_.input_clock ? options_.input_clock->Now() : clock_.Now(); }
  // For metrics.
  static void CountCycle(engine::Profile& profile, const framework::CycleState& state, size_t filtered_nodes,
                         const Attempt& attempt);
  size_t FilteredNodes(const engine::Evaluation& evaluation) const;
  ProfileSlot& SlotOf(const framework::PodInfo& pod);
  void Select(const engine::Evaluation& evaluation, Attempt& attempt);
  void Place(engine::Profile& profile, framework::CycleState& state, Attempt& attempt);
  std::unique_ptr<BindingCycle> BeginBinding(engine::Profile& profile, const framework::CycleState& state,
                                             cluster::AssumedPod assumed, Attempt& attempt);
  void Bind(engine::Profile& profile, framework::CycleState& state, cluster::AssumedPod assumed, Attempt& attempt);
  // Passes the cycle to take_binding. Until PreBind is over, preemption may cancel it.
  void HandOut(std::unique_ptr<BindingCycle> cycle);
  void Settle(engine::Profile& profile, framework::CycleState& state, const framework::Status& status,
              cluster::AssumedPod assumed, Attempt& attempt);
  // The node whose resources the attempt holds; "" if the pod was deleted meanwhile, which released them.
  std::string HeldNode(const Attempt& attempt) const;
  void Evaluate(ProfileSlot& slot, Attempt& attempt);
  void HandleNoFit(engine::Profile& profile, framework::CycleState& state, Attempt& attempt);
  void Preempt(const framework::PodInfoPtr& pod, const framework::PostFilterResult& result);
  // Requeues a victim that is not bound yet, so that it need not be deleted. False if PreBind is over.
  bool TakeBack(const framework::PodInfo& victim);
  // False if the pod is not in PreBind.
  bool CancelPreBind(const std::string& uid, const char* why);
  void Reject(const framework::Status& status, Attempt& attempt);
  void Fail(const framework::Status& status, Attempt& attempt);
  // Removes the pod's nomination, if it has one.
  void WithdrawNomination(const Attempt& attempt);

  cluster::Cluster& cluster_;
  const base::Clock& clock_;
  framework::ApiWriter& api_;
  const Options options_;
  bool check_all_filters_ = false;         // for messages, see alwaysCheckAllPredicates
  bool devices_take_allocatable_ = false;  // gate DRANodeAllocatableResources
  bool announces_nodes_ = false;           // gate NominatedNodeNameForExpectation
  base::Random random_;
  engine::NodeSampler sampler_;
  framework::WaitingPods waiting_pods_;
  framework::PostedWork posted_;
  Profiles profiles_;
  std::map<std::string, std::unique_ptr<BindingCycle>> waiting_;  // by UID
  struct InPreBind {
    base::Ticket ticket;
    std::shared_ptr<framework::PodInPreBind> pod;
  };
  std::map<std::string, InPreBind> pods_in_pre_bind_;  // by UID
};

}  // namespace berth::scheduler
