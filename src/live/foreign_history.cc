#include "live/foreign_history.h"

#include <algorithm>
#include <utility>

#include "engine/search.h"

namespace berth::live {

namespace {

// At most a fifth of the time goes into judging other schedulers' decisions.
constexpr int kRestAfterJudgement = 4;

const api::PodCondition* ForeignFailureOf(const api::Pod& pod) {
  const auto found = std::find_if(pod.status.conditions.begin(), pod.status.conditions.end(),
                                  [](const api::PodCondition& condition) { return condition.type == "PodScheduled"; });
  const bool is_failure =
      found != pod.status.conditions.end() && found->status == "False" && found->reason != "SchedulingGated";
  return is_failure ? &*found : nullptr;
}

}  // namespace

engine::Profile& ForeignHistory::ProfileFor(const scheduler::Driver& driver, const api::Pod& pod) {
  const scheduler::Scheduler& scheduler = driver.scheduler();
  engine::Profile* const own = scheduler.FindProfile(pod.spec.scheduler_name);
  return own ? *own : *scheduler.FindProfile(scheduler.first_profile().scheduler_name());
}

void ForeignHistory::Note(const scheduler::Driver& driver, const api::Object& object, bool deleted, bool live,
                          base::Time now) {
  const std::shared_ptr<const api::Pod> pod = object.Share<api::Pod>();
  if (!pod) return;
  const std::string& uid = pod->metadata.uid;
  if (deleted) {
    pending_.erase(uid);
  } else if (pod->spec.node_name.empty()) {
    NotePending(driver, pod, now);
  } else if (pending_.contains(uid)) {
    if (live) NoteBound(driver, *pod, now);
    pending_.erase(uid);
  }
}

void ForeignHistory::NotePending(const scheduler::Driver& driver, std::shared_ptr<const api::Pod> pod, base::Time now) {
  Pending& pending = pending_[pod->metadata.uid];
  if (!pending.pod) pending.since = now;
  const api::PodCondition* failure = ForeignFailureOf(*pod);
  const std::string message = failure ? failure->message : "";
  pending.pod = driver.cluster().MakePodInfo(pod);
  // An attempt with the same result leaves the condition unchanged, so it cannot be observed.
  if (message == pending.message) return;
  pending.message = message;
  if (!failure) return;
  scheduler::Attempt attempt;
  attempt.pod = pending.pod;
  attempt.number = ++pending.attempts;
  attempt.started = now;
  attempt.message = message;
  const bool is_error = failure->reason != "Unschedulable";
  attempt.outcome = is_error ? scheduler::Outcome::kError : scheduler::Outcome::kUnschedulable;
  journal_.Record(attempt, is_error ? scheduler::Ending::kError : scheduler::Ending::kUnschedulable, now,
                  driver.cluster().nodes().size());
}

void ForeignHistory::NoteBound(const scheduler::Driver& driver, const api::Pod& pod, base::Time now) {
  const Pending& pending = pending_.at(pod.metadata.uid);
  scheduler::Attempt attempt;
  attempt.pod = pending.pod;
  attempt.number = pending.attempts + 1;
  attempt.started = attempt.first_attempt.emplace(pending.since);
  attempt.outcome = scheduler::Outcome::kBound;
  attempt.node_name = pod.spec.node_name;
  attempt.nominated = pending.pod->pod().status.nominated_node_name == pod.spec.node_name;
  Judge(driver, attempt);
  journal_.Record(attempt, scheduler::Ending::kBound, now, driver.cluster().nodes().size());
}

void ForeignHistory::Judge(const scheduler::Driver& driver, scheduler::Attempt& attempt) {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_judgement_) return;
  framework::CycleState state;
  const engine::Evaluation found = engine::EvaluateFromScratch(ProfileFor(driver, attempt.pod->pod()), state,
                                                               *attempt.pod, engine::Scope::kEverything);
  const auto took = std::chrono::steady_clock::now() - begin;
  next_judgement_ = begin + (1 + kRestAfterJudgement) * took;
  attempt.feasible_nodes = found.feasible.size();
  for (size_t i = 0; i < found.totals.size(); ++i) {
    if (found.feasible[i]->name() != attempt.node_name) continue;
    attempt.scored = true;
    attempt.score = found.totals[i];
    const bool is_best = std::find(found.best.begin(), found.best.end(), i) != found.best.end();
    attempt.ties = is_best ? found.best.size() : 0;
  }
}

}  // namespace berth::live
