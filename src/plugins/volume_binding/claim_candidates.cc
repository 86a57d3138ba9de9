#include "plugins/volume_binding/claim_candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/volume/claims.h"

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

// What even a volume bound to the claim beforehand must meet.
bool IsEligible(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (volume.spec.claim_ref && !IsBoundTo(volume, claim)) return false;
  if (StorageCapacity(volume) < RequestedStorage(claim)) return false;
  if (ModeOf(volume.spec.volume_mode) != ModeOf(claim.spec.volume_mode)) return false;
  if (volume.spec.volume_attributes_class_name.value_or("") != claim.spec.volume_attributes_class_name.value_or("")) {
    return false;
  }
  return !volume.metadata.deletion_timestamp;
}

bool OffersModes(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const std::vector<std::string>& offered = volume.spec.access_modes;
  return std::all_of(claim.spec.access_modes.begin(), claim.spec.access_modes.end(), [&](const std::string& mode) {
    return std::find(offered.begin(), offered.end(), mode) != offered.end();
  });
}

}  // namespace

api::Quantity RequestedStorage(const api::PersistentVolumeClaim& claim) { return Get(claim.spec.resources.requests); }
api::Quantity StorageCapacity(const api::PersistentVolume& volume) { return Get(volume.spec.capacity); }

bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const std::optional<api::ObjectReference>& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name && reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

ClaimCandidates::ClaimCandidates(const api::PersistentVolumeClaim& claim, std::span<const VolumePtr> volumes) {
  api::Selector selector = api::Selector::Everything();
  if (claim.spec.selector) {
    Result<api::Selector> compiled = api::Selector::Compile(*claim.spec.selector);
    if (!compiled) {
      error_ = fmt::format("error creating internal label selector for claim: {}: {}", api::KeyOf(claim.metadata),
                           compiled.error().message);
      return;
    }
    selector = *std::move(compiled);
  }
  const std::string_view wanted_class = StorageClassOf(claim);
  for (const VolumePtr& volume : volumes) {
    if (!IsEligible(*volume, claim)) continue;
    const bool bound = IsBoundTo(*volume, claim);
    // Volumes in another phase are about to change; taking one now would mostly end in a conflict.
    if (!bound && (volume->status.phase != "Available" || !selector.Matches(volume->metadata.labels) ||
                   StorageClassOf(*volume) != wanted_class || !OffersModes(*volume, claim))) {
      continue;
    }
    (bound ? prebound_ : available_)
        .push_back({volume, StorageCapacity(*volume), VolumeAffinity(volume->spec.node_affinity)});
  }
  std::stable_sort(available_.begin(), available_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.capacity < b.capacity; });
}

VolumePtr ClaimCandidates::FindOn(const api::Labels& node_labels, const std::set<std::string>& taken) const {
  for (const Candidate& candidate : prebound_) {
    if (taken.count(candidate.volume->metadata.name) > 0) continue;
    // The claim will get this volume wherever the pod goes: nodes that cannot use it are out, whatever else they have.
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
