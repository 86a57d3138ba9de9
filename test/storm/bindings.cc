#include "storm/bindings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/resource_claim.h"
#include "dra/claim_tracker.h"
#include "storm/volumes.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// Of a scheduler that does not tell what its decisions knew.
constexpr base::Duration kOldestDecision = 3min;

constexpr std::string_view kNobodyIsBoundTwice = "no pod is bound twice";
constexpr std::string_view kNobodyIsBoundAfterTheEnd = "no pod is bound that was gone";

bool IsPending(const Change& change) {
  const api::Pod& pod = *change.object.As<api::Pod>();
  return change.type != Change::Type::kDeleted && pod.spec.node_name.empty() && !api::IsTerminated(pod);
}

}  // namespace

Bindings::Bindings(const Timeline& timeline, Store& store) : timeline_(timeline), store_(store) {
  store.Observe([this](const Change& change) {
    const api::Pod* pod = change.object.As<api::Pod>();
    if (pod != nullptr && api::IsTerminated(*pod)) last_over_[pod->metadata.uid] = change.revision;
  });
}

std::optional<Violation> Bindings::OnSent(const Process& process, const SentBinding& binding) {
  const Known known{binding.nodes_seen, binding.pods_seen, store_.RevisionAt(timeline_.Now() - binding.age)};
  sent_.insert_or_assign(std::tuple(process.name(), process.life(), binding.uid, timeline_.Now()), known);
  // Of a pod that was terminated, and returned, two attempts may be under way.
  if (binding.bound_knowing && !HasReturned(binding.uid, *binding.bound_knowing)) {
    return Violation{.invariant = std::string(kNobodyIsBoundTwice),
                     .message = fmt::format("{} binds {} to {}, and its earlier binding has succeeded", process.name(),
                                            binding.uid, binding.node),
                     .subjects = {binding.uid, binding.node}};
  }
  if (const auto [invariant, why] = WhyNotPending(binding.uid, known.pods, known.most); !why.empty()) {
    return Violation{.invariant = std::string(invariant),
                     .message = fmt::format("{} binds {} to {}, and had been told that it {} when it decided that "
                                            "(revision {})",
                                            process.name(), binding.uid, binding.node, why, known.pods),
                     .subjects = {binding.uid, binding.node}};
  }
  if (AllocatableBetween(binding.node, known.nodes, known.most).pods > 0) return std::nullopt;
  return Violation{.invariant = "no pod is bound to a node that was gone",
                   .message = fmt::format("{} binds {} to {}, and had been told that it was gone when it decided that "
                                          "(revision {})",
                                          process.name(), binding.uid, binding.node, binding.nodes_seen),
                   .subjects = {binding.uid, binding.node}};
}

Bindings::Known Bindings::KnownTo(const Write& write) const {
  const auto found = sent_.find(std::tuple(write.process, write.life, write.uid, write.sent));
  if (found != sent_.end()) return found->second;
  const uint64_t then = store_.RevisionAt(timeline_.Now() - kOldestDecision);
  return {then, then, store_.revision()};
}

bool Bindings::HasReturned(const std::string& uid, uint64_t pods_seen) const {
  const auto found = last_over_.find(uid);
  return found != last_over_.end() && found->second > pods_seen;
}

std::pair<std::string_view, std::string> Bindings::WhyNotPending(const std::string& uid, uint64_t first,
                                                                 uint64_t last) const {
  const Change* known = nullptr;
  for (const Change& change : store_.history(api::Kind::kPod)) {
    if (change.revision > last) break;
    if (change.object.metadata().uid != uid) continue;
    if (change.revision <= first) {
      known = &change;
    } else if (IsPending(change)) {
      return {};
    }
  }
  if (known == nullptr || IsPending(*known)) return {};
  const std::string& node = known->object.As<api::Pod>()->spec.node_name;
  if (known->type == Change::Type::kDeleted) return {kNobodyIsBoundAfterTheEnd, "had been deleted"};
  if (!node.empty()) return {kNobodyIsBoundTwice, fmt::format("was bound to {}", node)};
  return {kNobodyIsBoundAfterTheEnd, "had terminated"};
}

Amounts Bindings::AllocatableBetween(const std::string& node, uint64_t first, uint64_t last) const {
  Amounts most;
  uint64_t begin = 0;  // of the state that is looked at
  const auto take = [&](const api::Object& object) {
    if (begin > last) return;
    const Amounts amounts = AllocatableOf(*object.As<api::Node>());
    most.milli_cpu = std::max(most.milli_cpu, amounts.milli_cpu);
    most.memory = std::max(most.memory, amounts.memory);
    most.pods = std::max(most.pods, amounts.pods);
  };
  for (const Change& change : store_.history(api::Kind::kNode)) {
    if (change.object.metadata().name != node) continue;
    // The state before the change was valid until the change.
    if (change.before && change.revision > first) take(*change.before);
    begin = change.revision;
  }
  if (const api::Object* now = store_.FindObject(api::Kind::kNode, node)) take(*now);
  return most;
}

std::optional<Violation> Bindings::Check(const Write& write) const {
  const Known known = KnownTo(write);
  // The resources of a terminated pod are given to others at once, as upstream does, and its devices and volumes, even
  // while its binding is in flight; if the pod returns in time, that binding is valid.
  if (HasReturned(write.uid, known.pods)) return std::nullopt;
  if (std::optional<Violation> found = CheckRoom(write, known)) return found;
  return CheckClaims(write);
}

void Bindings::OnBound(const Write& write) {
  const Known known = KnownTo(write);
  bound_[write.uid] = {store_.revision(), known.most, HasReturned(write.uid, known.pods)};
}

// Pods for which there was only room later, because the node has grown since, may have been bound earlier.
std::optional<Violation> Bindings::CheckRoom(const Write& write, const Known& known) const {
  if (std::optional<Violation> found = CheckRoom(write, known, known.most, known.most)) return found;
  return CheckRoom(write, known, store_.revision(), store_.revision());
}

std::optional<Violation> Bindings::CheckRoom(const Write& write, const Known& known, uint64_t decided,
                                             uint64_t last) const {
  const Amounts room = AllocatableBetween(write.node, known.nodes, last);
  Amounts used = RequestsOf(*store_.Find<api::Pod>(write.key));
  std::vector<std::string> subjects = {write.node};
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    const api::Pod& other = *object.As<api::Pod>();
    if (other.spec.node_name != write.node || api::IsTerminated(other)) continue;
    const auto bound = bound_.find(other.metadata.uid);
    if (bound == bound_.end() || bound->second.decided > decided) continue;
    // Its room was given to this one before anybody could see that it was bound after all.
    if (bound->second.had_returned && bound->second.revision > known.pods) continue;
    used += RequestsOf(other);
    subjects.push_back(other.metadata.name);
  }
  if (used.FitsInto(room)) return std::nullopt;
  subjects.push_back(write.key);
  return Violation{.invariant = "no node is over its allocatable by our binds",
                   .message = fmt::format("{} bound {} to {}, which has {} and would have to hold {}", write.process,
                                          write.key, write.node, room.ToString(), used.ToString()),
                   .subjects = std::move(subjects)};
}

// A pod that starts without its devices is worse than one that waits.
std::optional<Violation> Bindings::CheckClaims(const Write& write) const {
  const api::Pod* pod = store_.Find<api::Pod>(write.key);
  if (const std::string claim = FindUnboundVolume(store_, *pod, write.node); !claim.empty()) {
    return Violation{.invariant = "a pod is bound with its volumes",
                     .message = fmt::format("{} bound {} to {}, where {} is not bound to a volume", write.process,
                                            write.key, write.node, claim),
                     .subjects = {pod->metadata.name, claim}};
  }
  for (const api::PodResourceClaim& named : pod->spec.resource_claims) {
    const std::string key = fmt::format("{}/{}", pod->metadata.namespace_.str(), *named.resource_claim_name);
    const auto* claim = store_.Find<api::ResourceClaim>(key);
    const bool is_here = claim != nullptr && claim->status.allocation &&
                         claim->status.allocation->devices.results.front().pool == write.node;
    if (is_here && dra::IsReservedFor(*claim, write.uid)) continue;
    return Violation{.invariant = "a pod is bound with its devices",
                     .message = fmt::format("{} bound {} to {}, where {} is not {} for it", write.process, write.key,
                                            write.node, key, is_here ? "reserved" : "allocated"),
                     .subjects = {pod->metadata.name, key}};
  }
  return std::nullopt;
}

// Pods that returned are left out: their devices were given away between their two lives.
std::optional<Violation> Bindings::FindLostReservation() const {
  for (const auto& [pod_key, object] : store_.objects(api::Kind::kPod)) {
    const api::Pod& pod = *object.As<api::Pod>();
    const auto bound = bound_.find(pod.metadata.uid);
    if (pod.spec.node_name.empty() || api::IsTerminated(pod) || bound == bound_.end()) continue;
    if (bound->second.had_returned) continue;
    for (const api::PodResourceClaim& named : pod.spec.resource_claims) {
      const std::string key = fmt::format("{}/{}", pod.metadata.namespace_.str(), *named.resource_claim_name);
      const auto* claim = store_.Find<api::ResourceClaim>(key);
      if (claim != nullptr && dra::IsReservedFor(*claim, pod.metadata.uid)) continue;
      return Violation{.invariant = "a running pod keeps its devices",
                       .message = fmt::format("{} runs on {}, and {} is not reserved for it any more", pod_key,
                                              pod.spec.node_name, key),
                       .subjects = {pod.metadata.name, key}};
    }
  }
  return std::nullopt;
}

}  // namespace berth::storm
