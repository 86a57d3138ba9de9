#include "dra/claim_tracker.h"

#include <algorithm>
#include <iterator>

namespace berth::dra {
namespace {

bool IsForExtendedResources(const api::ResourceClaim& claim) {
  const std::string* value = claim.metadata.annotations.Find(std::string(kExtendedResourceClaimAnnotation));
  return value && *value == "true";
}

// Calls visit(uid) for each owner by which the claim can be found.
template <class Visit>
void ForEachController(const api::ResourceClaim* claim, Visit&& visit) {
  if (!claim || !IsForExtendedResources(*claim)) return;
  for (const api::OwnerReference& owner : claim->metadata.owner_references) {
    if (owner.controller.value_or(false)) visit(owner.uid);
  }
}

}  // namespace

bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid) {
  return std::any_of(claim.status.reserved_for.begin(), claim.status.reserved_for.end(),
                     [&](const api::ResourceClaimConsumerReference& held) { return held.uid == pod_uid; });
}

void ClaimTracker::Exchange(const ClaimPtr& before, const ClaimPtr& after) {
  if (before == after) return;
  if (after && after->status.allocation) devices_.Add(*after->status.allocation);
  if (!before || !before->status.allocation) return;
  devices_.Remove(*before->status.allocation);
  freed_ |= !after || after->status.allocation != before->status.allocation;
}

// Owners and annotation may change from one version to the next, so that only the old version knows which entries are
// its own.
void ClaimTracker::Replace(const Key& key, const ClaimPtr& before, const ClaimPtr& after) {
  if (before == after) return;
  ForEachController(before.get(), [&](const std::string& uid) {
    const auto [begin, end] = extended_claims_.equal_range(uid);
    for (auto it = begin; it != end;) it = it->second == key ? extended_claims_.erase(it) : std::next(it);
  });
  ForEachController(after.get(), [&](const std::string& uid) { extended_claims_.emplace(uid, key); });
  Exchange(before, after);
}

void ClaimTracker::Put(ClaimPtr claim) {
  const Key key(claim->metadata.namespace_.str(), claim->metadata.name);
  Entry& entry = claims_[key];
  const ClaimPtr before = entry.latest();
  SettleUnreserved(*claim, [&](const std::string& pod) { return !IsReservedFor(*claim, pod); });
  if (entry.assumed && (entry.assumed->metadata.uid != claim->metadata.uid ||
                        api::VersionOf(claim->metadata) >= api::VersionOf(entry.assumed->metadata))) {
    entry.assumed.reset();
  }
  entry.seen = std::move(claim);
  Replace(key, before, entry.latest());
}

void ClaimTracker::Remove(const api::ResourceClaim& claim) {
  const Key key(claim.metadata.namespace_.str(), claim.metadata.name);
  const auto found = claims_.find(key);
  if (found == claims_.end()) return;
  const ClaimPtr before = found->second.latest();
  std::erase_if(unreserved_, [&](const auto& note) { return note.first.first == claim.metadata.uid; });
  claims_.erase(found);
  Replace(key, before, nullptr);
}

ClaimPtr ClaimTracker::Find(std::string_view name_space, std::string_view name) const {
  const auto found = claims_.find(Key(name_space, name));
  return found == claims_.end() ? nullptr : found->second.latest();
}

ClaimPtr ClaimTracker::FindExtendedClaimOf(std::string_view name_space, std::string_view pod_name,
                                           const std::string& pod_uid) const {
  if (extended_claims_.empty()) return nullptr;
  const auto [begin, end] = extended_claims_.equal_range(pod_uid);
  for (auto it = begin; it != end; ++it) {
    if (it->second.first != name_space) continue;
    const ClaimPtr claim = Find(it->second.first, it->second.second);
    for (const api::OwnerReference& owner : claim->metadata.owner_references) {
      if (owner.uid == pod_uid && owner.name == pod_name && owner.controller.value_or(false)) return claim;
    }
  }
  return nullptr;
}

void ClaimTracker::SetInFlight(ClaimPtr claim) {
  ClaimPtr& place = in_flight_[claim->metadata.uid];
  const ClaimPtr before = std::exchange(place, std::move(claim));
  Exchange(before, place);
}

bool ClaimTracker::EndFlight(const std::string& uid) {
  const auto found = in_flight_.find(uid);
  if (found == in_flight_.end()) return false;
  const ClaimPtr before = std::move(found->second);
  in_flight_.erase(found);
  Exchange(before, nullptr);
  return true;
}

void ClaimTracker::Assume(ClaimPtr claim) {
  // Writes of a claim keep their order: this reservation was made after the end of the one before.
  // What was written for another pod brings along the reservations whose end is still on its way.
  const auto& holders = claim->status.reserved_for;
  SettleUnreserved(*claim, [&](const std::string& pod) { return !holders.empty() && holders.back().uid == pod; });
  const auto found = claims_.find(Key(claim->metadata.namespace_.str(), claim->metadata.name));
  if (found == claims_.end()) return;
  Entry& entry = found->second;
  const ClaimPtr before = entry.latest();
  if (before->metadata.uid != claim->metadata.uid || api::VersionOf(claim->metadata) < api::VersionOf(before->metadata))
    return;
  // The API server has reported it already.
  if (api::VersionOf(claim->metadata) == api::VersionOf(entry.seen->metadata)) return;
  entry.assumed = std::move(claim);
  Replace(found->first, before, entry.assumed);
}

void ClaimTracker::Land(const std::string& uid, const ClaimPtr& written) {
  Assume(written);
  const bool freed = freed_;
  EndFlight(uid);
  // Unless something newer has taken them away, they are the claim's now.
  const ClaimPtr now = Find(written->metadata.namespace_.str(), written->metadata.name);
  if (now && now->status.allocation) freed_ = freed;
}

void ClaimTracker::NoteUnreserved(const api::ResourceClaim& claim, const std::string& pod_uid) {
  // The API server has reported already that it is not reserved: nothing would settle this.
  const ClaimPtr now = Find(claim.metadata.namespace_.str(), claim.metadata.name);
  if (!now || now->metadata.uid != claim.metadata.uid) return;
  if (api::VersionOf(now->metadata) > api::VersionOf(claim.metadata) && !IsReservedFor(*now, pod_uid)) return;
  unreserved_[{claim.metadata.uid, pod_uid}] = api::VersionOf(claim.metadata);
}

template <class Settles>
void ClaimTracker::SettleUnreserved(const api::ResourceClaim& now, Settles settles) {
  const std::string& uid = now.metadata.uid;
  for (auto it = unreserved_.lower_bound({uid, ""}); it != unreserved_.end() && it->first.first == uid;) {
    const bool is_settled = api::VersionOf(now.metadata) > it->second && settles(it->first.second);
    it = is_settled ? unreserved_.erase(it) : std::next(it);
  }
}

void ClaimTracker::Restore(std::string_view name_space, std::string_view name) {
  const auto found = claims_.find(Key(name_space, name));
  if (found == claims_.end()) return;
  const ClaimPtr before = found->second.latest();
  found->second.assumed.reset();
  Replace(found->first, before, found->second.seen);
}

bool ClaimTracker::IsAtRest() const { return !HasAssumed() && unreserved_.empty() && !freed_; }

bool ClaimTracker::HasAssumed() const {
  return !in_flight_.empty() ||
         std::any_of(claims_.begin(), claims_.end(), [](const auto& claim) { return claim.second.assumed != nullptr; });
}

void ClaimTracker::Apply(const Landed& landed) {
  if (landed.written && !landed.ended_flight.empty()) return Land(landed.ended_flight, landed.written);
  if (landed.written) Assume(landed.written);
  if (!landed.ended_flight.empty()) EndFlight(landed.ended_flight);
}

void ClaimTracker::Post(Landed landed) {
  if (drops_posts_) return;
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(landed));
  has_posted_.store(true, std::memory_order_release);
}

void ClaimTracker::ApplyPosted() {
  std::vector<Landed> changes;
  {
    const std::lock_guard lock(mutex_);
    changes.swap(posted_);
    has_posted_.store(false, std::memory_order_release);
  }
  for (const Landed& landed : changes) {
    if (on_landed_) on_landed_(landed);
    Apply(landed);
  }
}

}  // namespace berth::dra
