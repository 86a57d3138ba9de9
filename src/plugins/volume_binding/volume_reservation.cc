#include "plugins/volume_binding/volume_reservation.h"

#include <fmt/format.h>

#include "plugins/volume/claims.h"

namespace berth::plugins {
namespace {

using framework::NodeInfo;
using framework::Objects;
using framework::Status;

const std::optional<Status> kDone = Status::Success();
const std::optional<Status> kNotYet = std::nullopt;

std::optional<Status> Failed(std::string why) { return Status::Error("binding volumes: " + std::move(why)); }

// The volume bound to the claim, the way the volume controller would write it; null when it already is.
VolumePtr BindTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const bool was_bound = IsBoundTo(volume, claim);
  // A volume that a person bound in advance may lack the claim's UID.
  const bool names_claim = was_bound && volume.spec.claim_ref->uid == claim.metadata.uid;
  const bool marked = was_bound || FindAnnotation(volume.metadata, kBoundByControllerAnnotation) != nullptr;
  if (names_claim && marked) return nullptr;
  auto bound = std::make_shared<api::PersistentVolume>(volume);
  if (!names_claim) bound->spec.claim_ref = api::ReferenceTo(api::Kind::kPersistentVolumeClaim, claim.metadata);
  if (!marked) bound->metadata.annotations.Set(std::string(kBoundByControllerAnnotation), "yes");
  return bound;
}

// Whether the object in the store is still the one our write started from.
template <class T>
bool IsUnchanged(const T& stored, const T& after) {
  return !stored.metadata.resource_version.empty() &&
         stored.metadata.resource_version == after.metadata.resource_version;
}

std::optional<Status> CheckAffinity(const api::PersistentVolume& volume, const NodeInfo& node, const Objects& objects) {
  const BoundVolume bound(volume);
  const VolumeAffinity* affinity = bound.AffinityOn(node, objects.csi_nodes);
  if (affinity == nullptr) return Failed("failed to translate pv to csi: " + bound.error());
  if (affinity->Allows(node.labels())) return kDone;
  return Failed(fmt::format("pv \"{}\" node affinity doesn't match node \"{}\": {}", volume.metadata.name, node.name(),
                            affinity->Explain(node.labels())));
}

// What the API server has, which a write has to change. An earlier attempt of the pod, which left and returned, may
// have assumed the same change, and may end without having written it.
VolumePtr Stored(const VolumePtr& volume, const Objects& objects) {
  const VolumePtr* stored = objects.persistent_volumes.FindShared({}, volume->metadata.name);
  return stored != nullptr ? *stored : volume;
}
ClaimPtr Stored(const ClaimPtr& claim, const Objects& objects) {
  const ClaimPtr* stored =
      objects.persistent_volume_claims.FindShared(claim->metadata.namespace_.str(), claim->metadata.name);
  return stored != nullptr ? *stored : claim;
}

const api::PersistentVolumeClaim* FindClaim(const Objects& objects, const api::PersistentVolumeClaim& claim) {
  return objects.persistent_volume_claims.Find(claim.metadata.namespace_.str(), claim.metadata.name);
}

}  // namespace

VolumeReservation VolumeReservation::Assume(const NodeVolumes& volumes, const std::string& node_name,
                                            const Objects& objects, AssumedStorage& assumed) {
  VolumeReservation reservation;
  reservation.node_name_ = node_name;
  for (const StaticBinding& binding : volumes.bindings) {
    const VolumePtr volume = Stored(binding.volume, objects);
    VolumePtr bound = BindTo(*volume, *binding.claim);
    const bool changes = bound != nullptr;
    if (changes) assumed.volumes.Assume(objects.persistent_volumes, bound);
    reservation.bindings_.push_back({binding.claim, {changes ? bound : volume, changes}});
  }
  for (const DynamicProvision& provision : volumes.provisions) {
    const ClaimPtr stored = Stored(provision.claim, objects);
    const std::string* selected = FindAnnotation(stored->metadata, kSelectedNodeAnnotation);
    if (selected != nullptr && *selected == node_name) {
      reservation.provisions_.push_back({stored, false});
      continue;
    }
    auto claim = std::make_shared<api::PersistentVolumeClaim>(*stored);
    claim->metadata.annotations.Set(std::string(kSelectedNodeAnnotation), node_name);
    assumed.claims.Assume(objects.persistent_volume_claims, claim);
    reservation.provisions_.push_back({std::move(claim), true});
  }
  return reservation;
}

Status VolumeReservation::Write(framework::BindingWriter& api) {
  for (Binding& binding : bindings_) {
    if (!binding.volume.changes || binding.volume.written) continue;
    if (Status status = api.UpdatePersistentVolume(binding.volume.after); !status.ok()) return status;
    binding.volume.written = true;
  }
  for (Change<api::PersistentVolumeClaim>& provision : provisions_) {
    if (!provision.changes || provision.written) continue;
    if (Status status = api.UpdatePersistentVolumeClaim(provision.after); !status.ok()) return status;
    provision.written = true;
  }
  return Status::Success();
}

std::optional<Status> VolumeReservation::Check(const Objects& objects, const NodeInfo* node) const {
  if (node == nullptr) return Failed(fmt::format("failed to get node \"{0}\": node \"{0}\" not found", node_name_));
  for (const Binding& binding : bindings_) {
    const std::optional<Status> status = CheckBinding(binding, objects, *node);
    if (!status || !status->ok()) return status;
  }
  for (const Change<api::PersistentVolumeClaim>& provision : provisions_) {
    const std::optional<Status> status = CheckProvision(provision, objects, *node);
    if (!status || !status->ok()) return status;
  }
  return kDone;
}

std::optional<Status> VolumeReservation::CheckBinding(const Binding& binding, const Objects& objects,
                                                      const NodeInfo& node) const {
  const std::string& name = binding.volume.after->metadata.name;
  const api::PersistentVolume* volume = objects.persistent_volumes.Find(name);
  if (volume == nullptr) {
    return Failed(fmt::format("failed to check binding: persistentvolumes \"{}\" not found", name));
  }
  const api::PersistentVolumeClaim* claim = FindClaim(objects, *binding.claim);
  if (claim == nullptr) {
    return Failed(fmt::format("failed to check binding: persistentvolumeclaims \"{}\" not found",
                              api::KeyOf(binding.claim->metadata)));
  }
  if (binding.volume.changes && IsUnchanged(*volume, *binding.volume.after)) return kNotYet;
  if (std::optional<Status> status = CheckAffinity(*volume, node, objects); !status->ok()) return status;
  if (!volume->spec.claim_ref || volume->spec.claim_ref->uid.empty()) {
    return Failed(fmt::format("ClaimRef got reset for pv \"{}\"", name));
  }
  if (!IsBoundTo(*volume, *binding.claim)) {
    const api::ObjectReference& other = *volume->spec.claim_ref;
    return Failed(fmt::format("volume \"{}\" is bound to claim \"{}/{}\", not \"{}\"", name, other.namespace_.str(),
                              other.name, api::KeyOf(binding.claim->metadata)));
  }
  if (!IsFullyBound(*claim)) return kNotYet;
  // A write of an earlier attempt may have taken effect late. Upstream binds the pod beside its volume then.
  if (claim->spec.volume_name == name) return kDone;
  return Failed(fmt::format("claim \"{}\" is bound to volume \"{}\", not \"{}\"", api::KeyOf(claim->metadata),
                            claim->spec.volume_name, name));
}

std::optional<Status> VolumeReservation::CheckProvision(const Change<api::PersistentVolumeClaim>& provision,
                                                        const Objects& objects, const NodeInfo& node) const {
  const api::PersistentVolumeClaim* claim = FindClaim(objects, *provision.after);
  if (claim == nullptr) {
    return Failed(fmt::format("failed to check provisioning pvc: persistentvolumeclaims \"{}\" not found",
                              api::KeyOf(provision.after->metadata)));
  }
  const std::string& name = claim->metadata.name;
  if (provision.changes && IsUnchanged(*claim, *provision.after)) return kNotYet;
  if (claim->metadata.annotations.empty()) {
    return Failed(fmt::format("selectedNode annotation reset for PVC \"{}\"", name));
  }
  // A provisioner that fails removes the annotation, so that the pod is scheduled again.
  const std::string* selected = FindAnnotation(claim->metadata, kSelectedNodeAnnotation);
  if (selected == nullptr || *selected != node_name_) {
    return Failed(fmt::format("provisioning failed for PVC \"{}\"", name));
  }
  if (!claim->spec.volume_name.empty()) {
    // The claim's update may arrive before the volume's.
    const api::PersistentVolume* volume = objects.persistent_volumes.Find(claim->spec.volume_name);
    if (volume == nullptr) return kNotYet;
    if (std::optional<Status> status = CheckAffinity(*volume, node, objects); !status->ok()) return status;
  }
  return IsFullyBound(*claim) ? kDone : kNotYet;
}

void VolumeReservation::Release(AssumedStorage& assumed) const {
  for (const Binding& binding : bindings_) {
    if (binding.volume.changes && !binding.volume.written) assumed.volumes.Forget(binding.volume.after);
  }
  for (const Change<api::PersistentVolumeClaim>& provision : provisions_) {
    if (provision.changes && !provision.written) assumed.claims.Forget(provision.after);
  }
}

}  // namespace berth::plugins
