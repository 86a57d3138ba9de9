#include "storm/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/coordination.h"
#include "client/scheduling_kinds.h"
#include "storm/claims.h"
#include "storm/volumes.h"

namespace berth::storm {
namespace {

constexpr const char* kLease = "kube-system/kube-scheduler";

bool IsOurPending(const api::Pod& pod) {
  return pod.spec.node_name.empty() && !api::IsTerminated(pod) && pod.spec.scheduling_gates.empty() &&
         !pod.metadata.deletion_timestamp && pod.spec.scheduler_name == "default-scheduler";
}

const api::PodCondition* FindScheduled(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return &condition;
  }
  return nullptr;
}

std::string Describe(const Picture::value_type& entry) {
  const auto& [place, what] = entry;
  return fmt::format("{} {} (uid {}, version {})", api::InfoOf(place.first).name, place.second, what.first,
                     what.second);
}

}  // namespace

Invariants::Invariants(const Timeline& timeline, Store& store, ApiWrites& writes, bool preempts)
    : timeline_(timeline), store_(store), preempts_(preempts), bindings_(timeline, store) {
  writes.Observe([this](const Write& write) { OnWrite(write); });
}

void Invariants::AddLife(const Host& host) {
  identities_[{host.process().name(), host.process().life()}] = host.instance()->identity();
}

void Invariants::Report(Violation violation) {
  if (violation_) return;
  violation.at = timeline_.Now();
  violation_ = std::move(violation);
}

void Invariants::OnSent(const Process& process, const SentBinding& binding) {
  if (Found found = bindings_.OnSent(process, binding)) Report(std::move(*found));
}

void Invariants::OnWrite(const Write& write) {
  if (write.write_class == WriteClass::kLease) {
    if (write.ok()) NoteHolder();
    return;
  }
  if (write.code != 0) {
    if (write.write_class == WriteClass::kBind && write.ok()) bindings_.OnBound(write);
    if (write.write_class == WriteClass::kClaim && write.ok()) {
      if (const std::string device = FindSharedDevice(store_); !device.empty()) {
        Report({.invariant = "no device belongs to two claims",
                .message =
                    fmt::format("{} allocated {} to {}, and another claim has it", write.process, device, write.key),
                .subjects = {write.key}});
      }
    }
    return;
  }
  if (write.write_class != WriteClass::kEvent) ++working_writes_;
  CheckLease(write);
  if (write.write_class == WriteClass::kStatus) CheckReport(write);
  if (write.write_class != WriteClass::kBind) return;
  if (Found found = bindings_.Check(write)) Report(std::move(*found));
}

// One that was sent before the pod was there is about another pod of that name.
void Invariants::CheckReport(const Write& write) {
  for (const Change& change : store_.history(api::Kind::kPod)) {
    if (change.type != Change::Type::kAdded || change.object.metadata().uid != write.uid) continue;
    if (change.time < write.sent) return;
    return Report(
        {.invariant = "no report reaches another pod",
         .message = fmt::format("{} reported on {} before the pod of that name was there", write.process, write.key),
         .subjects = {write.key}});
  }
}

std::string Invariants::Holder() const {
  const api::Lease* lease = store_.Find<api::Lease>(kLease);
  return lease != nullptr ? lease->spec.holder_identity.value_or("") : "";
}

base::Duration Invariants::LeaseEnd() const {
  const api::Lease* lease = store_.Find<api::Lease>(kLease);
  return renewed_ + std::chrono::seconds(lease != nullptr ? lease->spec.lease_duration_seconds.value_or(0) : 0);
}

void Invariants::NoteHolder() {
  renewed_ = timeline_.Now();
  const std::string holder = Holder();
  if (holder.empty()) gave_back_.insert(last_holder_);
  last_holder_ = holder;
}

// A lease that has expired protects nobody, even if it has not been taken yet. Nothing is allowed beyond its duration:
// a write is sent no later than 13 seconds after the renewal before it was sent, and takes effect no later than
// kStraggle after that.
void Invariants::CheckLease(const Write& write) {
  const std::string holder = Holder();
  const auto identity = identities_.find({write.process, write.life});
  if (identity != identities_.end() && identity->second == holder) {
    if (timeline_.Now() <= LeaseEnd()) return;
    return Report({.invariant = "no write outside a lease",
                   .message = fmt::format("{} (life {}) wrote {} {} {:.3f} s after its lease had expired",
                                          write.process, write.life, NameOf(write.write_class), write.key,
                                          std::chrono::duration<double>(timeline_.Now() - LeaseEnd()).count()),
                   .subjects = {write.key, "lease"}});
  }
  // An event that was in flight when the lease was released is only a report.
  const bool gave_back = identity != identities_.end() && gave_back_.contains(identity->second);
  if (write.write_class == WriteClass::kEvent && gave_back) return;
  Report({.invariant = "no write outside a lease",
          .message = fmt::format("{} (life {}) wrote {} {} while the lease was held by \"{}\"", write.process,
                                 write.life, NameOf(write.write_class), write.key, holder),
          .subjects = {write.key, "lease"}});
}

std::map<std::string, std::vector<const api::Pod*>> Invariants::PodsByNode() const {
  std::map<std::string, std::vector<const api::Pod*>> found;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    const api::Pod* pod = object.As<api::Pod>();
    if (!pod->spec.node_name.empty() && !api::IsTerminated(*pod)) found[pod->spec.node_name].push_back(pod);
  }
  return found;
}

// The highest priority first: a forgotten pod may block others.
std::optional<Violation> Invariants::FindForgottenPod() const {
  std::vector<const api::Pod*> pending;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    if (IsOurPending(*object.As<api::Pod>())) pending.push_back(object.As<api::Pod>());
  }
  std::stable_sort(pending.begin(), pending.end(),
                   [](const api::Pod* a, const api::Pod* b) { return api::PodPriority(*a) > api::PodPriority(*b); });
  const std::map<std::string, std::vector<const api::Pod*>> present_on = PodsByNode();
  for (const api::Pod* found : pending) {
    const api::Pod& pod = *found;
    const std::string key = api::KeyOf(pod.metadata);
    const Symbol* held = pod.metadata.labels.Find(Symbol(kHeld));
    const bool is_held = preempts_ && held != nullptr && *held != Symbol(kHeldAllowed);
    for (const auto& [name, node_object] : store_.objects(api::Kind::kNode)) {
      if (is_held) break;
      const api::Node& node = *node_object.As<api::Node>();
      if (!MayRunOn(pod, node) || !ClaimsFit(store_, pod, node) || !VolumesFit(store_, pod, node)) continue;
      const auto there = present_on.find(name);
      std::vector<const api::Pod*> present;
      if (there != present_on.end()) present = there->second;
      if (Fits(pod, node, present)) {
        return Violation{"every pod that fits is bound",
                         fmt::format("{} fits on {} and is pending", key, name),
                         {pod.metadata.name, name}};
      }
      if (!preempts_) continue;
      std::erase_if(present, [&](const api::Pod* other) { return api::PodPriority(*other) < api::PodPriority(pod); });
      if (Fits(pod, node, present)) {
        return Violation{"every pod that fits is bound",
                         fmt::format("{} would fit on {} without pods of lower priority and is pending", key, name),
                         {pod.metadata.name, name}};
      }
    }
    const api::PodCondition* condition = FindScheduled(pod);
    if (condition == nullptr || condition->status != "False" || condition->reason != "Unschedulable" ||
        condition->message.empty()) {
      return Violation{"every other pod has its condition and message",
                       fmt::format("{} is pending; its condition is {}", key,
                                   condition == nullptr ? "not there"
                                                        : fmt::format("{} {} \"{}\"", condition->status,
                                                                      condition->reason, condition->message)),
                       {pod.metadata.name}};
    }
  }
  return std::nullopt;
}

std::optional<Violation> Invariants::FindWrongPicture(const Host& host) const {
  Picture truth;
  for (const api::Kind kind : client::kSchedulingKinds) {
    for (const auto& [key, object] : store_.objects(kind)) {
      const api::Pod* pod = object.As<api::Pod>();
      if (pod != nullptr && api::IsTerminated(*pod)) continue;
      truth.emplace(std::pair(kind, key), std::pair(object.metadata().uid, object.metadata().resource_version));
    }
  }
  const Picture seen = host.instance()->picture();
  if (seen == truth) return std::nullopt;
  const auto wrong = [&](const std::string& what, const Picture::value_type& entry) {
    return Violation{"the picture equals the API's objects",
                     fmt::format("{} {} {}", host.process().name(), what, Describe(entry)),
                     {entry.first.second, fmt::format("/{}?", api::InfoOf(entry.first.first).resource)}};
  };
  for (const auto& entry : truth) {
    const auto found = seen.find(entry.first);
    if (found == seen.end()) return wrong("does not know", entry);
    if (found->second != entry.second) return wrong("is behind: the truth is", entry);
  }
  for (const auto& entry : seen) {
    if (!truth.contains(entry.first)) return wrong("still believes in", entry);
  }
  return std::nullopt;
}

// Objects that are right may have been counted wrong.
std::optional<Violation> Invariants::FindWrongUsage(const Host& host) const {
  const auto seen = host.instance()->usage();
  if (!seen) return std::nullopt;
  std::map<std::string, Amounts> truth;
  for (const auto& [node, pods] : PodsByNode()) {
    if (store_.FindObject(api::Kind::kNode, node) == nullptr) continue;
    for (const api::Pod* pod : pods) truth[node] += RequestsOf(*pod);
  }
  if (*seen == truth) return std::nullopt;
  const auto at = [](const std::map<std::string, Amounts>& all, const std::string& node) {
    const auto found = all.find(node);
    return found != all.end() ? found->second : Amounts();
  };
  for (const auto& [node, object] : store_.objects(api::Kind::kNode)) {
    const Amounts counted = at(*seen, node), present = at(truth, node);
    if (counted == present) continue;
    return Violation{"the picture equals the API's objects",
                     fmt::format("{} counts {} on {}, which holds {}", host.process().name(), counted.ToString(), node,
                                 present.ToString()),
                     {node}};
  }
  return Violation{"the picture equals the API's objects", host.process().name() + " counts pods on no node", {}};
}

void Invariants::CheckKnownAsItIs(const std::string& pod_key, const std::vector<std::unique_ptr<Host>>& hosts) {
  constexpr base::Duration kLongestDelivery = std::chrono::seconds(1);
  const api::Pod* pod = store_.Find<api::Pod>(pod_key);
  if (pod == nullptr) return;
  const std::vector<Change>& history = store_.history(api::Kind::kPod);
  const auto last = std::find_if(history.rbegin(), history.rend(),
                                 [&](const Change& change) { return api::KeyOf(change.object.metadata()) == pod_key; });
  if (last != history.rend() && timeline_.Now() - last->time < kLongestDelivery) return;
  for (const auto& host : hosts) {
    if (host->instance() == nullptr || !host->instance()->is_leader()) continue;
    const Picture seen = host->instance()->picture();
    const auto found = seen.find({api::Kind::kPod, pod_key});
    if (found == seen.end() || found->second.second == pod->metadata.resource_version) continue;
    Report(
        {.invariant = "a pod that is tried again is known as it is",
         .message = fmt::format("{} has version {} of {}, which has had version {} for a second",
                                host->process().name(), found->second.second, pod_key, pod->metadata.resource_version),
         .subjects = {pod->metadata.name}});
  }
}

// A nomination that only one side knows either reserves room for no pod or gives it away.
std::optional<Violation> Invariants::FindWrongNomination(const Host& host) const {
  const auto nominations = host.instance()->nominations();
  if (!nominations) return std::nullopt;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    const api::Pod& pod = *object.As<api::Pod>();
    if (!IsOurPending(pod)) continue;
    const auto found = nominations->find(pod.metadata.uid);
    const std::string known = found != nominations->end() ? found->second : "";
    if (known == pod.status.nominated_node_name) continue;
    return Violation{"nominations are those of the API",
                     fmt::format("{} is nominated to \"{}\", and {} believes \"{}\"", key,
                                 pod.status.nominated_node_name, host.process().name(), known),
                     {pod.metadata.name}};
  }
  return std::nullopt;
}

// Reports that overtake each other, or arrive late, leave a pod with a reason that is no longer true.
std::optional<Violation> Invariants::FindOldReport(const Host& host) const {
  if (!host.instance()->is_leader()) return std::nullopt;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    const api::Pod& pod = *object.As<api::Pod>();
    if (!IsOurPending(pod)) continue;
    const api::PodCondition* condition = FindScheduled(pod);
    const std::optional<std::string> last = host.instance()->LastReport(pod.metadata.uid);
    if (!last || (condition != nullptr && condition->message == *last)) continue;
    return Violation{"a pod shows its last report",
                     fmt::format("{} shows \"{}\", and {} has last reported \"{}\"", key,
                                 condition != nullptr ? condition->message : "", host.process().name(), *last),
                     {pod.metadata.name}};
  }
  return std::nullopt;
}

std::optional<Violation> Invariants::FindUnsettled(const std::vector<std::unique_ptr<Host>>& hosts) const {
  int leaders = 0;
  for (const auto& host : hosts) {
    const std::string& name = host->process().name();
    if (host->instance() == nullptr) return Violation{"every process runs", name + " is down", {name}};
    if (host->instance()->is_leader()) ++leaders;
  }
  if (leaders != 1) return Violation{"one process leads", fmt::format("{} do", leaders), {"lease"}};
  if (Found found = FindForgottenPod()) return found;
  if (Found found = bindings_.FindLostReservation()) return found;
  if (const std::string claim = FindStaleReservation(store_); !claim.empty()) {
    return Violation{"no claim is left reserved", claim + " is reserved for a pod that is gone", {claim}};
  }
  for (const auto& host : hosts) {
    if (Found found = FindWrongPicture(*host)) return found;
    if (Found found = FindWrongUsage(*host)) return found;
    if (Found found = FindWrongNomination(*host)) return found;
    if (Found found = FindOldReport(*host)) return found;
    const std::vector<std::string> left = host->instance()->Leftovers();
    if (!left.empty()) {
      return Violation{"nothing is left over",
                       fmt::format("{}: {}", host->process().name(), fmt::join(left, "; ")),
                       {host->process().name()}};
    }
  }
  return std::nullopt;
}

}  // namespace berth::storm
