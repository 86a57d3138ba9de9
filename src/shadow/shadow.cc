#include "shadow/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "api/resource_claim.h"
#include "api/storage.h"

namespace berth::shadow {

namespace {

// The nodes evaluated for one pod, in all pictures together; but at least this many pictures.
constexpr size_t kNodesToAsk = 120'000;
constexpr size_t kFewestTrials = 20;

// Why the pod is unschedulable; null if it is not.
const api::PodCondition* GivenUp(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False" && condition.reason == "Unschedulable") {
      return &condition;
    }
  }
  return nullptr;
}

bool IsNewlyGivenUp(const api::Pod& before, const api::Pod& after) {
  const api::PodCondition* was = GivenUp(before);
  const api::PodCondition* is = GivenUp(after);
  return is != nullptr && (was == nullptr || was->message != is->message);
}

// "0.40s before", "0.10s later"
std::string When(const PastChange& event, base::Time decision) {
  const double seconds = std::abs(std::chrono::duration<double>(event.time - decision).count());
  return fmt::format("{:.2f}s {}", seconds, event.number == 0 ? "later" : "before");
}

// What a scheduler writes for a pod before it binds it.
bool IsTraceOf(const PastChange& change, const api::Pod& pod, const std::set<std::string>& claims) {
  if (!change.before || !change.after) return false;
  const api::ObjectMeta& metadata = change.object().metadata();
  if (const auto* after = change.after->As<api::PersistentVolumeClaim>()) {
    if (metadata.namespace_ != pod.metadata.namespace_ || !claims.contains(metadata.name)) return false;
    const auto& before = *change.before->As<api::PersistentVolumeClaim>();
    return before.spec.volume_name != after->spec.volume_name ||
           before.metadata.annotations != after->metadata.annotations;
  }
  if (const auto* after = change.after->As<api::PersistentVolume>()) {
    const auto& before = *change.before->As<api::PersistentVolume>();
    return !before.spec.claim_ref && after->spec.claim_ref &&
           after->spec.claim_ref->namespace_ == pod.metadata.namespace_ && claims.contains(after->spec.claim_ref->name);
  }
  if (const auto* after = change.after->As<api::ResourceClaim>()) {
    const auto& before = *change.before->As<api::ResourceClaim>();
    if (before.status.allocation || !after->status.allocation) return false;
    return std::any_of(after->status.reserved_for.begin(), after->status.reserved_for.end(),
                       [&](const auto& consumer) { return consumer.uid == pod.metadata.uid; });
  }
  return false;
}

// The volume or the devices of a claim, as a scheduler writes them once it has chosen.
bool IsMeantForAClaim(const PastChange& change) {
  if (!change.before || !change.after) return false;
  if (const auto* after = change.after->As<api::PersistentVolume>()) {
    return after->spec.claim_ref && !change.before->As<api::PersistentVolume>()->spec.claim_ref;
  }
  if (const auto* after = change.after->As<api::PersistentVolumeClaim>()) {
    return after->spec.volume_name != change.before->As<api::PersistentVolumeClaim>()->spec.volume_name;
  }
  if (const auto* after = change.after->As<api::ResourceClaim>()) {
    return after->status.allocation && !change.before->As<api::ResourceClaim>()->status.allocation;
  }
  return false;
}

std::set<std::string> ClaimsOf(const api::Pod& pod) {
  std::set<std::string> claims;
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.from().persistent_volume_claim) claims.insert(volume.from().persistent_volume_claim->claim_name);
    if (volume.from().ephemeral) claims.insert(pod.metadata.name + "-" + volume.name);
  }
  return claims;
}

Verdict DifferenceOf(const Opinion& opinion, const Decision& decision) {
  if (opinion.agrees) return Verdict::kAgreed;
  if (decision.node.empty()) return Verdict::kPlaceable;
  return opinion.is_feasible ? Verdict::kLower : Verdict::kInfeasible;
}

}  // namespace

Shadow::Shadow(scheduler::Driver& driver, Options options) : options_(std::move(options)), picture_(driver) {}

void Shadow::Add(Change change) { ahead_.push_back(std::move(change)); }

void Shadow::Begin() {
  while (!ahead_.empty()) {
    picture_.Apply(ahead_.front());
    ahead_.pop_front();
  }
  // Nor are they recent changes.
  picture_.Forget(base::Time::max());
}

void Shadow::Advance(base::Time now) {
  while (!ahead_.empty() && ahead_.front().time + options_.behind <= now) TakeFirst();
  picture_.Forget(now - options_.behind);
}

void Shadow::Finish() {
  while (!ahead_.empty()) TakeFirst();
}

bool Shadow::IsLookedAt(const std::string& scheduler_name) const {
  return options_.scheduler_names.empty() ? picture_.driver().Serves(scheduler_name)
                                          : options_.scheduler_names.contains(scheduler_name);
}

engine::Profile& Shadow::ProfileFor(const std::string& scheduler_name) {
  scheduler::Scheduler& scheduler = picture_.driver().scheduler();
  engine::Profile* const own = scheduler.FindProfile(scheduler_name);
  return own ? *own : *scheduler.FindProfile(scheduler.first_profile().scheduler_name());
}

void Shadow::TakeFirst() {
  const Change change = std::move(ahead_.front());
  ahead_.pop_front();
  const api::Pod* pod = change.deleted ? nullptr : change.object.As<api::Pod>();
  const Picture::Pending* pending = pod ? picture_.FindPending(pod->metadata.uid) : nullptr;
  if (pending == nullptr) return picture_.Apply(change);
  if (!IsLookedAt(pod->spec.scheduler_name)) {
    if (!pod->spec.node_name.empty()) ++tally_.left_out[pod->spec.scheduler_name];
    return picture_.Apply(change);
  }
  const std::optional<Decision> decision = DecisionIn(change, *pending);
  // An earlier announcement is void, or is the decision being compared.
  if (decision) picture_.Announce(pod->metadata.uid, "", change.time);
  if (decision) Compare(change, *pending, *decision);
  picture_.Apply(change);
  if (!decision) return;
  if (pod->spec.node_name.empty() && !decision->node.empty()) {
    picture_.Announce(pod->metadata.uid, decision->node, change.time);
  }
  picture_.NoteDecided(pod->metadata.uid, change.time);
}

std::optional<Decision> Shadow::DecisionIn(const Change& change, const Picture::Pending& pending) {
  const api::Pod& before = *pending.pod;
  const api::Pod& after = *change.object.As<api::Pod>();
  if (!after.spec.node_name.empty()) {
    if (pending.announced == after.spec.node_name) return std::nullopt;
    return Decision{after.spec.node_name, ""};
  }
  if (IsNewlyGivenUp(before, after)) return Decision{"", GivenUp(after)->message};
  if (IsAnnouncement(before, after)) return Decision{after.status.nominated_node_name, ""};
  return std::nullopt;
}

// A nomination after a preemption comes with the condition that gives the reason, and its node has no room yet.
bool Shadow::IsAnnouncement(const api::Pod& before, const api::Pod& after) {
  const std::string& node = after.status.nominated_node_name;
  if (node.empty() || node == before.status.nominated_node_name) return false;
  const framework::PodInfoPtr pod =
      std::as_const(picture_.driver()).cluster().MakePodInfo(std::make_shared<const api::Pod>(before));
  return IsFeasible(ProfileFor(after.spec.scheduler_name), *pod, node);
}

// What a scheduler has decided and not written yet: bindings, pods that are announced for a node, volumes and devices
// chosen for a claim. Everything else that arrives later also happened later, unless another watch delivered it late.
std::vector<PastChange> Shadow::ToCome(const Change& change) const {
  const uint64_t version = api::VersionOf(change.object.metadata());
  std::vector<PastChange> to_come;
  std::set<std::string> seen;
  for (const Change& next : ahead_) {
    if (next.time > change.time + options_.behind) break;
    const std::string identity = IdentityOf(next.object);
    if (seen.contains(identity)) continue;
    PastChange preview = picture_.Preview(AsDecided(next));
    const uint64_t next_version = api::VersionOf(next.object.metadata());
    const bool is_pod = next.object.kind() == api::Kind::kPod;
    const bool is_late = !is_pod && version != 0 && next_version != 0 && next_version < version;
    if (!is_late && !(preview.is_bind() && preview.before) && !IsMeantForAClaim(preview)) continue;
    seen.insert(identity);
    to_come.push_back(std::move(preview));
  }
  return to_come;
}

// A pod that is announced for a node, as if it were bound there.
Change Shadow::AsDecided(const Change& change) const {
  const api::Pod* pod = change.deleted ? nullptr : change.object.As<api::Pod>();
  const Picture::Pending* pending = pod ? picture_.FindPending(pod->metadata.uid) : nullptr;
  if (pending == nullptr || !pod->spec.node_name.empty() || pod->status.nominated_node_name.empty()) return change;
  if (IsNewlyGivenUp(*pending->pod, *pod) ||
      pod->status.nominated_node_name == pending->pod->status.nominated_node_name) {
    return change;
  }
  api::Pod placed = *pod;
  placed.spec.node_name = pod->status.nominated_node_name;
  return {change.time, false, api::MakeObject(std::move(placed))};
}

// Its volumes and devices, as they were before they were prepared for it.
std::vector<OtherState> Shadow::OwnTraces(const Picture::Pending& pending) const {
  const std::set<std::string> claims = ClaimsOf(*pending.pod);
  if (claims.empty() && pending.pod->spec.resource_claims.empty()) return {};
  std::map<std::string, OtherState> first;
  for (const PastChange& change : picture_.history()) {
    if (change.time < pending.since || !IsTraceOf(change, *pending.pod, claims)) continue;
    first.try_emplace(IdentityOf(change.object()), OtherState{change.before, &change});
  }
  std::vector<OtherState> traces;
  for (auto& [identity, state] : first) traces.push_back(std::move(state));
  return traces;
}

// In a large cluster a picture costs more, and with sampling nearly every pod would need many.
RaceLimits Shadow::LimitsFor(size_t nodes) const {
  RaceLimits limits = options_.race;
  limits.trials = std::min(limits.trials, std::max(kFewestTrials, kNodesToAsk / std::max<size_t>(nodes, 1)));
  return limits;
}

void Shadow::Compare(const Change& change, const Picture::Pending& pending, const Decision& decision) {
  const api::Pod& seen = *change.object.As<api::Pod>();
  Comparison comparison;
  comparison.time = change.time;
  comparison.pod = api::KeyOf(seen.metadata);
  comparison.uid = seen.metadata.uid;
  comparison.scheduler = seen.spec.scheduler_name;
  comparison.node = decision.node;
  comparison.message = decision.message;
  engine::Profile& profile = ProfileFor(seen.spec.scheduler_name);
  const framework::PodInfoPtr pod = std::as_const(picture_.driver()).cluster().MakePodInfo(pending.pod);

  Opinion opinion;
  const std::vector<OtherState> traces = OwnTraces(pending);
  if (!traces.empty()) {
    const Picture::Alternative without(picture_, traces);
    opinion = Judge(profile, *pod, decision, comparison);
  }
  // They may have been prepared for another reason.
  if (!opinion.agrees) opinion = Judge(profile, *pod, decision, comparison);
  comparison.trials = traces.empty() ? 1 : 2;
  comparison.verdict = comparison.without_race = DifferenceOf(opinion, decision);
  if (!opinion.agrees) {
    std::set<std::string> nodes(comparison.best.begin(), comparison.best.end());
    nodes.insert(decision.node);
    nodes.erase("");
    const std::vector<PastChange> to_come = ToCome(change);
    const std::vector<OtherState> candidates =
        FindCandidates(picture_, pending, nodes, to_come, change.time, options_.race);
    const RaceLimits limits = LimitsFor(comparison.nodes);
    const Race race = FindRace(picture_, profile, *pod, decision, opinion, candidates, limits);
    comparison.trials += race.trials;
    if (!race.differences.empty()) comparison.verdict = Verdict::kRaced;
    for (const OtherState& difference : race.differences) {
      const PastChange& because = *difference.because;
      comparison.events.push_back(fmt::format("{} ({})", because.Text(), When(because, change.time)));
    }
  }
  comparison.is_sampling_likely = comparison.verdict == Verdict::kLower && options_.samples_from_nodes > 0 &&
                                  comparison.nodes >= options_.samples_from_nodes;
  tally_.Add(comparison);
  if (options_.on_compared) options_.on_compared(comparison);
}

}  // namespace berth::shadow
