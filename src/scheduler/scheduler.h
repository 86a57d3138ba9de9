// Scheduler: profiles and the two cycles that take a pod from the queue to a node.
//
//   scheduling cycle:  evaluate -> select -> assume -> Reserve -> Permit
//   binding cycle:     (wait) -> PreBind -> Bind -> PostBind
//
// Every early end un-reserves and un-assumes; nothing is promised that is not kept.
// Not thread-safe; runs on the scheduling thread, but for binding cycles that are taken elsewhere.
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
    size_t threads = 1;  // that share passes over many nodes
    // Preemption looks at every candidate in order of name, so that the outcome does not depend on chance.
    bool exhaustive_preemption = false;
    // Attempts tell which node came second.
    bool runner_ups = false;
    // Attempts carry verdicts and scores of all nodes even when a nomination settles the matter.
    engine::Scope scope = engine::Scope::kDecide;
    // Takes binding cycles elsewhere, to Run them and give them back to Finish. Unset: they run on the spot.
    std::function<void(std::unique_ptr<BindingCycle>)> take_binding{};
    // Pods whose binding takes a while get a nominatedNodeName. Where nobody else looks, nobody needs it.
    bool announces_nodes = false;
    // Has a pod that sleeps in the queue tried again, for plugins that ask for it.
    std::function<void(const std::string& uid)> activate{};
    // Outlive the scheduler. Asked in this order, those that may be ignored after the others.
    std::vector<engine::Extender*> extenders{};
    // The time that decisions go by; outlives the scheduler. Null: the clock.
    const base::Clock* input_clock = nullptr;
  };

  static Result<std::unique_ptr<Scheduler>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                   const framework::Registry& registry,
                                                   const config::FeatureGates& gates, cluster::Cluster& cluster,
                                                   const base::Clock& clock, framework::ApiWriter& api,
                                                   Options options);

  // Other profiles from the next cycle on; on an error nothing has changed. Pods that are waiting or being bound end
  // under the profile they were placed by.
  Result<void> Reconfigure(const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry,
                           const config::FeatureGates& gates);
  // Null when no profile has that name: the pod is somebody else's.
  engine::Profile* FindProfile(const std::string& scheduler_name) const;
  const engine::Profile& first_profile() const { return *profiles_.begin()->second.profile; }
  std::vector<const engine::Profile*> profiles() const;
  // For whoever still refers to them while they are replaced.
  std::vector<std::shared_ptr<engine::Profile>> ShareProfiles() const;

  // One pod through both cycles, as far as it gets. The pod's scheduler name must be one of ours; the ticket is what
  // the queue gave it.
  Attempt ScheduleOne(framework::PodInfoPtr pod, base::Ticket ticket);
  Attempt ScheduleOne(Attempt attempt);
  // The end of a binding cycle that ran elsewhere: the pod stays, or everything is undone. `superseded`: the pod came
  // back meanwhile, and is not in this attempt any more.
  Attempt Finish(std::unique_ptr<BindingCycle> cycle, bool superseded = false);
  // Pods whose wait in Permit ended: their binding cycle runs now.
  std::vector<Attempt> FinishWaiting();
  // What plugins want done on this thread; Driver runs it between cycles.
  framework::PostedWork& posted() { return posted_; }
  // Where chance and samples stand, to go on from there.
  base::Random& random() { return random_; }
  engine::NodeSampler& sampler() { return sampler_; }
  // An attempt whose binding cycle is under way elsewhere, taken up again from what is known of it.
  std::unique_ptr<BindingCycle> ResumeBinding(cluster::AssumedPod assumed, Attempt attempt);
  framework::WaitingPods& waiting_pods() { return waiting_pods_; }
  const framework::WaitingPods& waiting_pods() const { return waiting_pods_; }

 private:
  struct ProfileSlot {
    std::shared_ptr<engine::Profile> profile;  // shared with the binding cycles of its pods
    std::unique_ptr<engine::Evaluator> evaluator;
    std::optional<engine::SamplingRule> sampling;  // unset: all nodes are looked at
  };

  using Profiles = std::map<std::string, ProfileSlot, std::less<>>;
  Result<Profiles> MakeProfiles(const config::KubeSchedulerConfiguration& configuration,
                                const framework::Registry& registry, const config::FeatureGates& gates);
  Error UnwatchedResource(const std::map<framework::EventResource, bool>& watched) const;
  // Shares the profile of the pod, which is one of the present ones.
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
  // To take_binding. Until PreBind is over, preemption may take the pod back.
  void HandOut(std::unique_ptr<BindingCycle> cycle);
  void Settle(engine::Profile& profile, framework::CycleState& state, const framework::Status& status,
              cluster::AssumedPod assumed, Attempt& attempt);
  // The node whose room the attempt still holds; "" when the pod was deleted meanwhile and the room given back.
  std::string HeldNode(const Attempt& attempt) const;
  void Evaluate(ProfileSlot& slot, Attempt& attempt);
  void HandleNoFit(engine::Profile& profile, framework::CycleState& state, Attempt& attempt);
  void Preempt(const framework::PodInfoPtr& pod, const framework::PostFilterResult& result);
  // A victim that is not bound yet goes back to the queue and need not be deleted. False: it is too late for that.
  bool TakeBack(const framework::PodInfo& victim);
  void Reject(const framework::Status& status, Attempt& attempt);
  void Fail(const framework::Status& status, Attempt& attempt);
  // The pod's promise of a node, if it has one, is off.
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
