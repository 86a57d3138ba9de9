#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>

#include "plugins/hints.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

constexpr char kDiskConflict[] = "node(s) had no available disk";
constexpr char kExclusiveClaimInUse[] =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
constexpr char kNoState[] = "cannot read \"PreFilterVolumeRestrictions\" from cycleState";

bool IsExclusiveDisk(const api::VolumeSource& source) {
  return source.gce_persistent_disk || source.aws_elastic_block_store || source.rbd || source.iscsi;
}

bool IsExclusive(const api::PersistentVolumeClaim& claim) {
  const std::vector<std::string>& modes = claim.spec.access_modes;
  return std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
}

bool ShareMonitor(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// The same disk, unless both only read it. AWS disks attach once, read-only or not.
bool Conflict(const api::VolumeSource& a, const api::VolumeSource& b) {
  const auto writes = [](const auto& x, const auto& y) { return !(x->read_only && y->read_only); };
  if (a.gce_persistent_disk && b.gce_persistent_disk &&
      a.gce_persistent_disk->pd_name == b.gce_persistent_disk->pd_name &&
      writes(a.gce_persistent_disk, b.gce_persistent_disk)) {
    return true;
  }
  if (a.aws_elastic_block_store && b.aws_elastic_block_store &&
      a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id) {
    return true;
  }
  if (a.iscsi && b.iscsi && a.iscsi->iqn == b.iscsi->iqn && writes(a.iscsi, b.iscsi)) return true;
  return a.rbd && b.rbd && ShareMonitor(a.rbd->ceph_monitors, b.rbd->ceph_monitors) &&
         a.rbd->rbd_pool == b.rbd->rbd_pool && a.rbd->rbd_image == b.rbd->rbd_image && writes(a.rbd, b.rbd);
}

bool DisksConflict(const VolumeUser& pod, const VolumeUser& other) {
  for (const api::Volume& wanted : pod.volumes) {
    if (!IsExclusiveDisk(wanted.from())) continue;
    for (const api::Volume& held : other.volumes) {
      if (Conflict(wanted.from(), held.from())) return true;
    }
  }
  return false;
}

bool ShareClaim(const VolumeUser& pod, const VolumeUser& other) {
  for (const api::Volume& wanted : pod.volumes) {
    const auto& claim = wanted.from().persistent_volume_claim;
    if (!claim) continue;
    for (const api::Volume& held : other.volumes) {
      const auto& held_claim = held.from().persistent_volume_claim;
      if (held_claim && held_claim->claim_name == claim->claim_name) return true;
    }
  }
  return false;
}

QueueingHint AfterVolumesFreed(const PodInfo& pod, const EventObject& before, const EventObject&) {
  const api::Pod* deleted = before.As<api::Pod>();
  if (deleted == nullptr) return QueueingHint::kQueue;
  if (deleted->metadata.namespace_ != pod.namespace_()) return QueueingHint::kSkip;
  // Whether the claim is ReadWriteOncePod is not looked up: this runs for every deleted pod and every pending one.
  return QueueIf(DisksConflict(pod, *deleted) || ShareClaim(pod, *deleted));
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> VolumeRestrictions::Create(const config::PluginArgs&,
                                                                      framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(new VolumeRestrictions(handle));
}

// By name only, as upstream: a pod of another namespace with a claim of the same name counts as well.
int VolumeRestrictions::State::UsesBy(const PodInfo& other) const {
  int uses = 0;
  for (const api::Volume& volume : other.volumes()) {
    const auto& claim = volume.from().persistent_volume_claim;
    if (claim && exclusive_claims.count(claim->claim_name) > 0) ++uses;
  }
  return uses;
}

framework::PreFilterResult VolumeRestrictions::PreFilter(framework::CycleState& state, const PodInfo& pod) const {
  const std::string_view name_space = pod.namespace_().str();
  bool has_exclusive_disk = false;
  auto found = std::make_unique<State>();
  for (const api::Volume& volume : pod.volumes()) {
    has_exclusive_disk = has_exclusive_disk || IsExclusiveDisk(volume.from());
    const auto& reference = volume.from().persistent_volume_claim;
    if (!reference) continue;
    const auto* claim = handle_.objects().persistent_volume_claims.Find(name_space, reference->claim_name);
    if (claim == nullptr) return Status::UnschedulableAndUnresolvable(ClaimNotFound(reference->claim_name));
    if (IsExclusive(*claim)) found->exclusive_claims.insert(reference->claim_name);
  }
  for (const std::string& claim : found->exclusive_claims) {
    if (handle_.cluster().PodsUsingClaim(name_space, claim) > 0) ++found->conflicts;
  }
  if (!has_exclusive_disk && found->conflicts == 0) return Status::Skip();
  state.Put(state_key_, std::move(found));
  return Status::Success();
}

Status VolumeRestrictions::AddPod(framework::CycleState& state, const PodInfo&, const PodInfo& other,
                                  const framework::NodeInfo&) const {
  State* found = state.FindMutable(state_key_);
  if (found == nullptr) return Status::Error(kNoState);
  found->conflicts += found->UsesBy(other);
  return Status::Success();
}

Status VolumeRestrictions::RemovePod(framework::CycleState& state, const PodInfo&, const PodInfo& other,
                                     const framework::NodeInfo&) const {
  State* found = state.FindMutable(state_key_);
  if (found == nullptr) return Status::Error(kNoState);
  found->conflicts -= found->UsesBy(other);
  return Status::Success();
}

Status VolumeRestrictions::Filter(const framework::CycleState& state, const PodInfo& pod,
                                  const framework::NodeInfo& node) const {
  for (const framework::PodInfoPtr& other : node.pods()) {
    if (DisksConflict(pod, *other)) return Status::Unschedulable(kDiskConflict);
  }
  const State* found = state.Find(state_key_);
  if (found == nullptr) return Status::Error(kNoState);
  // Plain Unschedulable in both cases: evicting the pod that holds the disk or claim helps.
  if (found->conflicts > 0) return Status::Unschedulable(kExclusiveClaimInUse);
  return Status::Success();
}

std::vector<framework::ClusterEventWithHint> VolumeRestrictions::EventsToRegister() const {
  return {
      // Volumes of a pod never change, so that only its deletion frees them.
      {{EventResource::kPod, ActionType::kDelete}, AfterVolumesFreed},
      {{EventResource::kNode, ActionType::kAdd}, {}},
      // PreFilter rejects a pod whose claim does not exist yet.
      {{EventResource::kPersistentVolumeClaim, ActionType::kAdd}, AfterClaimChanged(/*ephemeral=*/false)},
  };
}

// Only pods without an exclusive disk and without a claim that is missing or exclusively in use share answers, and
// those are all alike.
bool VolumeRestrictions::Sign(const PodInfo& pod, framework::SignatureBuilder&) const {
  const std::string_view name_space = pod.namespace_().str();
  for (const api::Volume& volume : pod.volumes()) {
    if (IsExclusiveDisk(volume.from())) return false;
    const auto& reference = volume.from().persistent_volume_claim;
    if (!reference) continue;
    const auto* claim = handle_.objects().persistent_volume_claims.Find(name_space, reference->claim_name);
    if (claim == nullptr) return false;
    if (IsExclusive(*claim) && handle_.cluster().PodsUsingClaim(name_space, reference->claim_name) > 0) return false;
  }
  return true;
}

}  // namespace berth::plugins
