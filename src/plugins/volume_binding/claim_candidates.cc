#include "plugins/volume_binding/claim_candidates.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::plugins {
namespace {

const Symbol& StorageName() {
  static const Symbol name("storage");
  return name;
}

api::Quantity Get(const api::ResourceList& list) {
  const api::Quantity* amount = list.Find(StorageName());
  return amount ? *amount : api::Quantity();
}

std::string_view ModeOf(const std::optional<std::string>& mode) {
  return mode ? std::string_view(*mode) : std::string_view("Filesystem");
}

}  // namespace

api::Quantity RequestedStorage(const api::PersistentVolumeClaim& claim) { return Get(claim.spec.resources.requests); }
bool RequestsStorage(const api::PersistentVolumeClaim& claim) {
  return claim.spec.resources.requests.Contains(StorageName());
}
api::Quantity StorageCapacity(const api::PersistentVolume& volume) { return Get(volume.spec.capacity); }

bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const std::optional<api::ObjectReference>& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name && reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

ClaimMatcher::ClaimMatcher(const api::PersistentVolumeClaim& claim)
    : requested_(RequestedStorage(claim)),
      mode_(ModeOf(claim.spec.volume_mode)),
      attributes_class_(claim.spec.volume_attributes_class_name.value_or("")),
      access_modes_(claim.spec.access_modes) {
  if (!claim.spec.selector) return;
  Result<api::Selector> compiled = api::Selector::Compile(*claim.spec.selector);
  if (compiled) {
    selector_ = *std::move(compiled);
  } else {
    error_ = fmt::format("error creating internal label selector for claim: {}: {}", api::KeyOf(claim.metadata),
                         compiled.error().message);
  }
}

bool ClaimMatcher::IsEligible(const api::PersistentVolume& volume) const {
  return !(StorageCapacity(volume) < requested_) && ModeOf(volume.spec.volume_mode) == mode_ &&
         volume.spec.volume_attributes_class_name.value_or("") == attributes_class_ &&
         !volume.metadata.deletion_timestamp;
}

bool ClaimMatcher::Accepts(const api::PersistentVolume& volume) const {
  const std::vector<std::string>& offered = volume.spec.access_modes;
  return IsEligible(volume) && IsAvailable(volume) && selector_.Matches(volume.metadata.labels) &&
         std::all_of(access_modes_.begin(), access_modes_.end(), [&](const std::string& mode) {
           return std::find(offered.begin(), offered.end(), mode) != offered.end();
         });
}

bool IsAvailable(const api::PersistentVolume& volume) { return volume.status.phase == "Available"; }

ClaimCandidates::ClaimCandidates(const api::PersistentVolumeClaim& claim, std::span<const VolumePtr> volumes) {
  const ClaimMatcher matcher(claim);
  error_ = matcher.error();
  if (!error_.empty()) return;
  for (const VolumePtr& volume : volumes) {
    const bool bound = IsBoundTo(*volume, claim);
    if (!bound && volume->spec.claim_ref) continue;
    if (!(bound ? matcher.IsEligible(*volume) : matcher.Accepts(*volume))) continue;
    (bound ? prebound_ : available_)
        .push_back({volume, StorageCapacity(*volume), VolumeAffinity(volume->spec.node_affinity)});
  }
  std::stable_sort(available_.begin(), available_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.capacity < b.capacity; });
}

VolumePtr ClaimCandidates::FindOn(const api::Labels& node_labels, const std::set<std::string>& taken) const {
  for (const Candidate& candidate : prebound_) {
    if (taken.count(candidate.volume->metadata.name) > 0) continue;
    // The claim gets this volume wherever the pod goes: nodes that cannot use it are rejected, whatever else they have.
    return candidate.affinity.Allows(node_labels) ? candidate.volume : nullptr;
  }
  for (const Candidate& candidate : available_) {
    if (taken.count(candidate.volume->metadata.name) == 0 && candidate.affinity.Allows(node_labels)) {
      return candidate.volume;
    }
  }
  return nullptr;
}

}  // namespace berth::plugins
