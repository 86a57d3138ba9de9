#include "scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "config/resolve.h"
#include "engine/all_reasons.h"
#include "engine/extender_calls.h"
#include "framework/diagnosis.h"

namespace berth::scheduler {

using framework::CycleState;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

void NoteRunnerUp(const engine::RunnerUp& second, Attempt& attempt) {
  if (!second.node) return;
  attempt.runner_up = second.node->name();
  attempt.runner_up_score = second.total;
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::Create(const config::KubeSchedulerConfiguration& configuration,
                                                     const framework::Registry& registry,
                                                     const config::FeatureGates& gates, cluster::Cluster& cluster,
                                                     const base::Clock& clock, framework::ApiWriter& api,
                                                     Options options) {
  std::stable_partition(options.extenders.begin(), options.extenders.end(),
                        [](const engine::Extender* extender) { return !extender->IsIgnorable(); });
  std::unique_ptr<Scheduler> scheduler(new Scheduler(cluster, clock, api, options));
  Result<Profiles> made = scheduler->MakeProfiles(configuration, registry, gates);
  if (!made) return made.error();
  scheduler->check_all_filters_ = configuration.always_check_all_predicates;
  scheduler->profiles_ = *std::move(made);
  return scheduler;
}

// Lists and watches are set up at start.
Error Scheduler::UnwatchedResource(const std::map<framework::EventResource, bool>& watched) const {
  for (const auto& [number, keep_json] : cluster_.custom_objects().wants()) {
    const auto before = watched.find(number);
    if (before != watched.end() && before->second == keep_json) continue;
    return Error::InvalidArgument(fmt::format(
        "a plugin watches {}, which cannot be begun while running; restart for it", framework::NameOfCustom(number)));
  }
  return Error::Internal("a plugin watches another resource than before");
}

Result<void> Scheduler::Reconfigure(const config::KubeSchedulerConfiguration& configuration,
                                    const framework::Registry& registry, const config::FeatureGates& gates) {
  const auto watched = cluster_.custom_objects().wants();
  Result<Profiles> made = MakeProfiles(configuration, registry, gates);
  if (made && cluster_.custom_objects().wants() != watched) made = UnwatchedResource(watched);
  if (!made) {
    cluster_.custom_objects().Restore(watched);
    return made.error();
  }
  check_all_filters_ = configuration.always_check_all_predicates;
  profiles_ = *std::move(made);
  return {};
}

std::shared_ptr<engine::Profile> Scheduler::Share(const engine::Profile& profile) const {
  const auto it = profiles_.find(profile.scheduler_name());
  CHECK(it != profiles_.end() && it->second.profile.get() == &profile);
  return it->second.profile;
}

Result<Scheduler::Profiles> Scheduler::MakeProfiles(const config::KubeSchedulerConfiguration& configuration,
                                                    const framework::Registry& registry,
                                                    const config::FeatureGates& gates) {
  Profiles profiles;
  devices_take_allocatable_ = gates.Enabled("DRANodeAllocatableResources");
  announces_nodes_ = options_.announces_nodes && gates.Enabled("NominatedNodeNameForExpectation");
  const engine::Environment environment{.cluster = cluster_,
                                        .gates = gates,
                                        .clock = clock_,
                                        .random = random_,
                                        .api = api_,
                                        .waiting_pods = waiting_pods_,
                                        .posted = posted_,
                                        .activate = options_.activate,
                                        .extenders = options_.extenders,
                                        .input_clock = options_.input_clock};
  std::string first_sort;
  for (const config::Profile& config : configuration.profiles) {
    Result<std::unique_ptr<engine::Profile>> profile = engine::Profile::Create(config, registry, environment);
    if (!profile) {
      return Error{profile.error().code,
                   fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                               config.scheduler_name, profile.error().message)};
    }
    const std::string own_sort((*profile)->queue_sort_name());
    if (first_sort.empty()) first_sort = own_sort;
    const config::Profile& first = configuration.profiles.front();
    const Result<void> agreed = config::CheckSameQueueSort(first, first_sort, config, own_sort);
    if (!agreed) return agreed.error();
    auto evaluator = std::make_unique<engine::Evaluator>(
        **profile, cluster_,
        engine::Evaluator::Options{
            .verify = options_.verify_incremental, .runner_ups = options_.runner_ups, .threads = options_.threads});
    ProfileSlot slot{std::move(*profile), std::move(evaluator), engine::SamplingRule::Of(configuration, config)};
    if (!profiles.emplace(config.scheduler_name, std::move(slot)).second) {
      return Error::AlreadyExists(fmt::format("duplicate profile with scheduler name \"{}\"", config.scheduler_name));
    }
  }
  if (profiles.empty()) return Error::InvalidArgument("at least one profile is required");
  return profiles;
}

std::vector<std::shared_ptr<engine::Profile>> Scheduler::ShareProfiles() const {
  std::vector<std::shared_ptr<engine::Profile>> shared;
  for (const auto& [name, slot] : profiles_) shared.push_back(slot.profile);
  return shared;
}

engine::Profile* Scheduler::FindProfile(const std::string& scheduler_name) const {
  const auto it = profiles_.find(api::SchedulerNameOrDefault(scheduler_name));
  return it == profiles_.end() ? nullptr : it->second.profile.get();
}

std::vector<const engine::Profile*> Scheduler::profiles() const {
  std::vector<const engine::Profile*> profiles;
  for (const auto& [name, slot] : profiles_) profiles.push_back(slot.profile.get());
  return profiles;
}

Scheduler::ProfileSlot& Scheduler::SlotOf(const PodInfo& pod) {
  const auto it = profiles_.find(api::SchedulerNameOrDefault(pod.pod().spec.scheduler_name));
  CHECK_WHY(it != profiles_.end(), "pods of other schedulers must not get here");
  return it->second;
}

Attempt Scheduler::ScheduleOne(PodInfoPtr pod, base::Ticket ticket) {
  Attempt attempt;
  attempt.pod = std::move(pod);
  attempt.ticket = ticket;
  ScheduleOne(attempt);
  return attempt;
}

void Scheduler::ScheduleOne(Attempt& attempt) {
  ProfileSlot& slot = SlotOf(*attempt.pod);
  if (cluster_.nodes().empty()) {
    attempt.outcome = Outcome::kUnschedulable;
    attempt.message = framework::kNoNodesMessage;
    WithdrawNomination(attempt);
    return;
  }

  // What an extender says is not kept: it may say something else the next time.
  const bool everything = options_.scope == engine::Scope::kEverything;
  if (slot.sampling || everything || engine::AnyJudges(options_.extenders, *attempt.pod)) {
    attempt.long_way = slot.sampling ? engine::LongWay::kNone : engine::LongWay::kAsked;
    Evaluate(slot, attempt);
    return;
  }
  engine::Evaluator::Decision decision = slot.evaluator->Decide(*attempt.pod, random_);
  attempt.way = Way::kLane;
  switch (decision.kind) {
    case engine::Evaluator::Decision::Kind::kChosen:
      attempt.node_name = decision.choice.node->name();
      attempt.feasible_nodes = decision.choice.feasible;
      attempt.score = decision.choice.total;
      attempt.scored = decision.choice.scored;
      attempt.ties = decision.choice.ties;
      attempt.nominated = decision.choice.nominated;
      NoteRunnerUp(decision.runner_up, attempt);
      CountCycle(*slot.profile, *decision.state, cluster_.nodes().size(), attempt);
      Place(*slot.profile, *decision.state, attempt);
      break;
    case engine::Evaluator::Decision::Kind::kNoFit:
      attempt.diagnosis = std::move(decision.diagnosis);
      CountCycle(*slot.profile, *decision.state, cluster_.nodes().size(), attempt);
      HandleNoFit(*slot.profile, *decision.state, attempt);
      break;
    case engine::Evaluator::Decision::Kind::kAskEvaluate:
      attempt.long_way = decision.why;
      Evaluate(slot, attempt);
      break;
  }
}

size_t Scheduler::FilteredNodes(const engine::Evaluation& evaluation) const {
  if (!evaluation.pre_filter.ok()) return 0;
  return evaluation.narrowed_to ? evaluation.narrowed_to->size() : cluster_.nodes().size();
}

void Scheduler::CountCycle(engine::Profile& profile, const CycleState& state, size_t filtered_nodes,
                           const Attempt& attempt) {
  profile.CountCycle(state, attempt.nominated ? 1 : filtered_nodes, attempt.scored ? attempt.feasible_nodes : 0);
}

// The long way.
void Scheduler::Evaluate(ProfileSlot& slot, Attempt& attempt) {
  CycleState state = slot.profile->NewCycleState();
  attempt.way = slot.sampling ? Way::kSample : Way::kScratch;
  attempt.evaluation = slot.sampling
                           ? sampler_.Evaluate(*slot.profile, *slot.sampling, state, *attempt.pod, options_.scope)
                           : engine::EvaluateFromScratch(*slot.profile, state, *attempt.pod, options_.scope);
  if (!attempt.evaluation.error.ok()) return Fail(attempt.evaluation.error, attempt);
  if (attempt.evaluation.fits()) {
    Select(attempt.evaluation, attempt);
    CountCycle(*slot.profile, state, FilteredNodes(attempt.evaluation), attempt);
    Place(*slot.profile, state, attempt);
  } else {
    attempt.diagnosis = attempt.evaluation.diagnosis;
    CountCycle(*slot.profile, state, FilteredNodes(attempt.evaluation), attempt);
    HandleNoFit(*slot.profile, state, attempt);
  }
}

void Scheduler::Select(const engine::Evaluation& evaluation, Attempt& attempt) {
  attempt.feasible_nodes = evaluation.feasible.size();
  attempt.scored = !evaluation.totals.empty();
  if (evaluation.nominated) {
    attempt.node_name = evaluation.nominated->name();
    attempt.nominated = true;
    return;
  }
  const size_t choice = evaluation.best.size() == 1 ? 0 : random_.Below(evaluation.best.size());
  const uint32_t position = evaluation.best[choice];
  attempt.node_name = evaluation.feasible[position]->name();
  if (attempt.scored) {
    attempt.score = evaluation.totals[position];
    attempt.ties = evaluation.best.size();
  }
  if (options_.runner_ups) NoteRunnerUp(engine::SecondTo(*evaluation.feasible[position], evaluation), attempt);
}

// From an evaluated pod to one that is bound, or waits for permission.
void Scheduler::Place(engine::Profile& profile, CycleState& state, Attempt& attempt) {
  framework::PodInfoPtr on_node = attempt.pod;
  if (devices_take_allocatable_) {
    if (auto changed = profile.OnNode(state, *attempt.pod, attempt.node_name)) {
      on_node = cluster_.MakePodInfo(std::move(changed));
    }
  }
  Result<cluster::AssumedPod> assumed = cluster_.Assume(std::move(on_node), attempt.node_name, attempt.ticket);
  if (!assumed) return Fail(Status::FromError(assumed.error()), attempt);
  // From here on, later cycles count this pod against the node, and not also as one that was promised it.
  attempt.promised = !cluster_.nominator().NodeOf(attempt.pod->uid()).empty();
  cluster_.nominator().Remove(attempt.pod->uid());
  engine::PermitOutcome permit;
  state.attempt = attempt.ticket;
  Status status = profile.RunReserve(state, *attempt.pod, attempt.node_name);
  if (status.ok()) {
    permit = profile.RunPermit(state, *attempt.pod, attempt.node_name);
    status = permit.status;
  }
  if (status.IsWait()) {
    attempt.outcome = Outcome::kWaiting;
    waiting_pods_.Add(attempt.pod, permit.waits, now(), attempt.ticket);
    waiting_[attempt.pod->uid()] = BeginBinding(profile, state, std::move(*assumed), attempt);
    return;
  }
  if (!status.ok()) {
    profile.RunUnreserve(state, *attempt.pod, attempt.node_name);
    return Reject(status, attempt);
  }
  Bind(profile, state, std::move(*assumed), attempt);
}

// A pod that does not go on at once, because it waits in Permit or because PreBind has something to do, is announced:
// the cluster autoscaler, for one, reads there that a node is not free (feature gate NominatedNodeNameForExpectation).
std::unique_ptr<BindingCycle> Scheduler::BeginBinding(engine::Profile& profile, const CycleState& state,
                                                      cluster::AssumedPod assumed, Attempt& attempt) {
  // The evaluator keeps the state for the next pod of the kind.
  CycleState own_state = state.Clone();
  Status pre_flight;
  if (announces_nodes_) {
    pre_flight = profile.RunPreBindPreFlight(own_state, *attempt.pod, attempt.node_name);
    // An error ends the binding cycle, where PreBind runs into it again.
    attempt.announced = pre_flight.ok() || (pre_flight.IsSkip() && attempt.outcome == Outcome::kWaiting);
    if (attempt.announced) (void)api_.SetNominatedNode(*attempt.pod, attempt.node_name);
  }
  // Where PreBind has nothing to do, the pod is as good as bound.
  if (options_.take_binding && pre_flight.ok()) own_state.in_pre_bind = std::make_shared<framework::PodInPreBind>();
  return std::make_unique<BindingCycle>(Share(profile), std::move(own_state), std::move(assumed), attempt);
}

void Scheduler::Bind(engine::Profile& profile, CycleState& state, cluster::AssumedPod assumed, Attempt& attempt) {
  if (options_.take_binding) {
    attempt.outcome = Outcome::kBinding;
    return HandOut(BeginBinding(profile, state, std::move(assumed), attempt));
  }
  const Status status = RunBindingCycle(profile, state, *attempt.pod, attempt.node_name);
  Settle(profile, state, status, std::move(assumed), attempt);
}

void Scheduler::HandOut(std::unique_ptr<BindingCycle> cycle) {
  const std::string& uid = cycle->attempt_.pod->uid();
  if (const auto& pod = cycle->state_.in_pre_bind) {
    pods_in_pre_bind_[uid] = {cycle->attempt_.ticket, pod};
  } else {
    pods_in_pre_bind_.erase(uid);  // of an earlier attempt
  }
  options_.take_binding(std::move(cycle));
}

void Scheduler::Settle(engine::Profile& profile, CycleState& state, const Status& status, cluster::AssumedPod assumed,
                       Attempt& attempt) {
  if (!status.ok()) {
    profile.RunUnreserve(state, *attempt.pod, attempt.node_name);
    attempt.freed_node = HeldNode(attempt);
    return Fail(status, attempt);
  }
  assumed.Keep();
  attempt.outcome = Outcome::kBound;
}

std::string Scheduler::HeldNode(const Attempt& attempt) const {
  return cluster_.AssumedBy(attempt.pod->uid()) == attempt.ticket ? attempt.node_name : std::string();
}

Attempt Scheduler::Finish(std::unique_ptr<BindingCycle> cycle, bool superseded) {
  Attempt attempt = std::move(cycle->attempt_);
  attempt.superseded = superseded;
  // The pod may have left and come back, and another attempt be under way.
  const auto in_pre_bind = pods_in_pre_bind_.find(attempt.pod->uid());
  if (in_pre_bind != pods_in_pre_bind_.end() && in_pre_bind->second.ticket == attempt.ticket) {
    pods_in_pre_bind_.erase(in_pre_bind);
  }
  Settle(cycle->profile_, cycle->state_, cycle->status_, std::move(cycle->assumed_), attempt);
  return attempt;
}

std::unique_ptr<BindingCycle> Scheduler::ResumeBinding(cluster::AssumedPod assumed, Attempt attempt) {
  ProfileSlot& slot = SlotOf(*attempt.pod);
  attempt.outcome = Outcome::kBinding;
  return std::make_unique<BindingCycle>(slot.profile, slot.profile->NewCycleState(), std::move(assumed),
                                        std::move(attempt));
}

std::vector<Attempt> Scheduler::FinishWaiting() {
  std::vector<Attempt> attempts;
  for (framework::WaitingPods::Decision& decision : waiting_pods_.TakeDecided(now())) {
    auto node = waiting_.extract(decision.pod->uid());
    CHECK(!node.empty());
    std::unique_ptr<BindingCycle> cycle = std::move(node.mapped());
    cycle->attempt_.permit_wait = {now() - decision.since, decision.status.code()};
    if (!decision.status.ok()) {
      cycle->profile_.RunUnreserve(cycle->state_, *cycle->attempt_.pod, cycle->attempt_.node_name);
      cycle->attempt_.freed_node = HeldNode(cycle->attempt_);
      Reject(decision.status, cycle->attempt_);
      attempts.push_back(std::move(cycle->attempt_));
    } else if (options_.take_binding) {
      cycle->attempt_.outcome = Outcome::kBinding;
      attempts.push_back(cycle->attempt_);
      HandOut(std::move(cycle));
    } else {
      cycle->Run();
      attempts.push_back(Finish(std::move(cycle)));
    }
  }
  return attempts;
}

void Scheduler::HandleNoFit(engine::Profile& profile, CycleState& state, Attempt& attempt) {
  attempt.outcome = Outcome::kUnschedulable;
  state.exhaustive_preemption = options_.exhaustive_preemption;
  state.verify_incremental = options_.verify_incremental;
  framework::Diagnosis& diagnosis = attempt.diagnosis;
  if (profile.has_post_filter()) {
    attempt.post_filtered = true;
    attempt.post_filter = profile.RunPostFilter(state, *attempt.pod, diagnosis.node_to_status);
    diagnosis.post_filter_message = attempt.post_filter.status.Message();
  }
  if (check_all_filters_) {
    diagnosis.node_to_status = engine::WithAllReasons(profile, state, *attempt.pod, diagnosis.node_to_status);
  }
  attempt.message = framework::FitErrorMessage(diagnosis, cluster_.nodes().size());
  // Trouble in PostFilter, such as an extender that did not answer, is over without any event: without plugins to ask,
  // the pod is tried again after its backoff. A pod that PreFilter rejects can only fail there.
  const bool trouble = attempt.post_filtered && attempt.post_filter.status.code() == framework::Code::kError;
  if (!trouble || !diagnosis.pre_filter_message.empty()) {
    attempt.unschedulable_plugins = diagnosis.unschedulable_plugins;
    attempt.pending_plugins = diagnosis.pending_plugins;
  }
  if (attempt.post_filter.status.ok() && !attempt.post_filter.nominated_node_name.empty()) {
    Preempt(attempt.pod, attempt.post_filter);
  } else if (attempt.post_filter.clear_nomination || profile.PluginsAt(config::ExtensionPoint::kPostFilter).empty()) {
    WithdrawNomination(attempt);
  }
}

// Nominates the pod and evicts the victims. Pods of lower priority that were promised the same node give way: their
// promise rested on room that is now taken.
void Scheduler::Preempt(const PodInfoPtr& pod, const framework::PostFilterResult& result) {
  const std::vector<PodInfoPtr> nominated = cluster_.nominator().NominatedTo(result.nominated_node_name);
  cluster_.nominator().Nominate(pod, result.nominated_node_name);
  (void)api_.SetNominatedNode(*pod, result.nominated_node_name);
  std::vector<PodInfoPtr> victims;
  for (const PodInfoPtr& victim : result.victims.pods) {
    if (!TakeBack(*victim)) {
      victims.push_back(victim);
      continue;
    }
    api_.Record(pod->pod().spec.scheduler_name,
                {.regarding = framework::ReferenceTo(*victim),
                 .reason = "Preempted",
                 .action = "Preempting",
                 .note = fmt::format("Preempted by pod {} on node {} (in kube-scheduler memory).", pod->uid(),
                                     result.nominated_node_name)});
  }
  api_.EvictAll(victims, *pod);
  for (const PodInfoPtr& other : nominated) {
    if (other->priority() >= pod->priority()) continue;
    cluster_.nominator().Remove(other->uid());
    (void)api_.SetNominatedNode(*other, "");
  }
}

bool Scheduler::TakeBack(const PodInfo& victim) {
  if (waiting_pods_.IsWaiting(victim.uid())) {
    // In no plugin's name: no event would requeue it, so it is tried again after its backoff, perhaps on another node.
    waiting_pods_.Reject(victim.uid(), "", "preempted");
    return true;
  }
  return CancelPreBind(victim.uid(), "preempted by DefaultPreemption");
}

// An earlier attempt of a pod that has left and returned may still be in PreBind: it does not have the pod's room.
bool Scheduler::CancelPreBind(const std::string& uid, const char* why) {
  const auto it = pods_in_pre_bind_.find(uid);
  if (it == pods_in_pre_bind_.end() || it->second.ticket != cluster_.AssumedBy(uid)) return false;
  return it->second.pod->Cancel(why);
}

void Scheduler::NoteBound(const std::string& uid, bool elsewhere) {
  if (!elsewhere) return waiting_pods_.Release(uid);
  constexpr const char* kWhy = "bound to another node by another client, or by an earlier attempt";
  if (waiting_pods_.IsWaiting(uid)) {
    waiting_pods_.Reject(uid, "", kWhy);
  } else {
    CancelPreBind(uid, kWhy);
  }
}

// The chosen node was turned down by Reserve or Permit: told as if it had been the only node.
void Scheduler::Reject(const Status& status, Attempt& attempt) {
  if (!status.IsRejected()) return Fail(status, attempt);
  framework::Diagnosis diagnosis;
  diagnosis.node_to_status.Set(/*node=*/0, status);
  diagnosis.AddPluginStatus(status);
  Fail(status, attempt);
  attempt.message = framework::FitErrorMessage(diagnosis, /*node_count=*/1);
  attempt.unschedulable_plugins = std::move(diagnosis.unschedulable_plugins);
  attempt.pending_plugins = std::move(diagnosis.pending_plugins);
}

// No plugin is noted: after trouble, and after binding failed, the pod comes back once its backoff is over.
void Scheduler::Fail(const Status& status, Attempt& attempt) {
  attempt.outcome = status.IsRejected() ? Outcome::kUnschedulable : Outcome::kError;
  attempt.message = status.Message();
  attempt.node_name.clear();
  if (!attempt.superseded) return WithdrawNomination(attempt);
  // A later attempt may have been promised a node by now, for which others are evicted, or have announced its own.
  const std::string& uid = attempt.pod->uid();
  const bool has_other = !cluster_.nominator().NodeOf(uid).empty() || cluster_.IsAssumed(uid);
  if ((attempt.announced || attempt.promised) && !has_other) (void)api_.SetNominatedNode(*attempt.pod, "");
}

void Scheduler::WithdrawNomination(const Attempt& attempt) {
  const PodInfo& pod = *attempt.pod;
  const bool promised = attempt.promised || !cluster_.nominator().NodeOf(pod.uid()).empty();
  const bool is_shown = !pod.pod().status.nominated_node_name.empty();
  cluster_.nominator().Remove(pod.uid());
  if (attempt.announced || is_shown || promised) (void)api_.SetNominatedNode(pod, "");
}

}  // namespace berth::scheduler
