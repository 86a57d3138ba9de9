#include "input/absent_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "api/pod.h"
#include "api/resource_claim.h"
#include "api/storage.h"

namespace berth::input {

namespace {

// Not every cluster serves these; kubectl rejects the whole list for one kind that is not served.
constexpr api::Kind kDevices[] = {
    api::Kind::kResourceClaim,
    api::Kind::kResourceClaimTemplate,
    api::Kind::kResourceSlice,
    api::Kind::kDeviceClass,
};

constexpr api::Kind kDumped[] = {
    api::Kind::kNode,
    api::Kind::kPod,
    api::Kind::kNamespace,
    api::Kind::kPersistentVolume,
    api::Kind::kPersistentVolumeClaim,
    api::Kind::kService,
    api::Kind::kReplicationController,
    api::Kind::kReplicaSet,
    api::Kind::kStatefulSet,
    api::Kind::kDeployment,
    api::Kind::kDaemonSet,
    api::Kind::kJob,
    api::Kind::kPodDisruptionBudget,
    api::Kind::kPriorityClass,
    api::Kind::kLimitRange,
    api::Kind::kResourceQuota,
    api::Kind::kRuntimeClass,
    api::Kind::kStorageClass,
    api::Kind::kCSINode,
    api::Kind::kCSIDriver,
    api::Kind::kCSIStorageCapacity,
    api::Kind::kVolumeAttachment,
};

// The references to a kind: how many, and the first.
struct Reference {
  size_t count = 0;
  std::string first;
};
using References = std::map<api::Kind, Reference>;

void Refer(api::Kind kind, const DraftObject& from, References& references) {
  Reference& reference = references[kind];
  if (++reference.count == 1) reference.first = from.Who();
}

void CollectOf(const DraftObject& found, const api::Pod& pod, References& references) {
  bool claims = false;
  for (const api::Volume& volume : pod.spec.volumes) claims = claims || volume.from().persistent_volume_claim;
  if (claims) Refer(api::Kind::kPersistentVolumeClaim, found, references);
  for (const api::PodResourceClaim& claim : pod.spec.resource_claims) {
    if (claim.resource_claim_name) Refer(api::Kind::kResourceClaim, found, references);
    // A pod with a node already has its claim, whether or not the template still exists.
    if (claim.resource_claim_template_name && pod.spec.node_name.empty()) {
      Refer(api::Kind::kResourceClaimTemplate, found, references);
    }
    if (claim.resource_claim_template_name && !pod.spec.node_name.empty()) {
      Refer(api::Kind::kResourceClaim, found, references);
    }
  }
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  if (owner && owner->kind == "DaemonSet") Refer(api::Kind::kDaemonSet, found, references);
}

void CollectOf(const DraftObject& found, const api::PersistentVolumeClaim& claim, References& references) {
  if (!claim.spec.volume_name.empty()) Refer(api::Kind::kPersistentVolume, found, references);
  const bool waits = claim.spec.volume_name.empty();
  if (waits && !claim.spec.storage_class_name.value_or("").empty()) {
    Refer(api::Kind::kStorageClass, found, references);
  }
}

void CollectOf(const DraftObject& found, const api::ResourceClaimSpec& spec, References& references) {
  if (spec.devices.requests.empty()) return;
  Refer(api::Kind::kDeviceClass, found, references);
  Refer(api::Kind::kResourceSlice, found, references);
}

References CollectReferences(const ClusterDraft& draft) {
  References references;
  for (const DraftObject& found : draft.objects()) {
    if (const auto* pod = found.object.As<api::Pod>(); pod && !api::IsTerminated(*pod)) {
      CollectOf(found, *pod, references);
    }
    if (const auto* claim = found.object.As<api::PersistentVolumeClaim>()) CollectOf(found, *claim, references);
    if (const auto* claim = found.object.As<api::ResourceClaim>()) CollectOf(found, claim->spec, references);
    if (const auto* made = found.object.As<api::ResourceClaimTemplate>()) CollectOf(found, made->spec.spec, references);
  }
  return references;
}

std::string Consequence(api::Kind kind) {
  switch (kind) {
    case api::Kind::kPersistentVolumeClaim:
      return "whether they can be scheduled cannot be told";
    case api::Kind::kResourceClaim:
      return "which devices they have, or wait for, cannot be told";
    case api::Kind::kResourceClaimTemplate:
      return "they get no claims, and wait for them";
    case api::Kind::kDeviceClass:
    case api::Kind::kResourceSlice:
      return "no device can be allocated";
    case api::Kind::kDaemonSet:
      return "on nodes that are added, none of their pods is counted";
    default:
      return "what depends on them cannot be told";
  }
}

}  // namespace

namespace {

std::string DumpCommandFor(std::span<const api::Kind> kinds) {
  std::vector<std::string_view> resources;
  for (const api::Kind kind : kinds) resources.push_back(api::InfoOf(kind).resource);
  return fmt::format("kubectl get {} -A -o yaml", fmt::join(resources, ","));
}

}  // namespace

std::string DumpCommand() { return DumpCommandFor(kDumped); }

std::set<api::Kind> FindAbsentKinds(const ClusterDraft& draft) {
  std::set<api::Kind> present;
  for (const DraftObject& found : draft.objects()) present.insert(found.object.kind());
  std::set<api::Kind> absent;
  for (const auto& [kind, reference] : CollectReferences(draft)) {
    if (!present.contains(kind)) absent.insert(kind);
  }
  return absent;
}

void WarnOfAbsentKinds(const std::set<api::Kind>& absent, ClusterDraft& draft) {
  if (absent.empty()) return;
  const References references = CollectReferences(draft);
  bool told = false;
  for (const api::Kind kind : absent) {
    const auto found = references.find(kind);
    if (found == references.end()) continue;
    const auto& [count, first] = found->second;
    draft.Warn(fmt::format("the input has no {} at all, and {} refer{} to one, {}: {}", api::InfoOf(kind).name,
                           count == 1 ? "1 object" : fmt::format("{} objects", count), count == 1 ? "s" : "",
                           count == 1 ? first : "first " + first, Consequence(kind)));
    told = true;
  }
  if (!told) return;
  draft.Warn("all that berth reads of a cluster: " + DumpCommand() + " (or: berth snapshot)");
  if (std::any_of(std::begin(kDevices), std::end(kDevices), [&](api::Kind kind) { return absent.contains(kind); })) {
    draft.Warn("and of devices, where the cluster has them: " + DumpCommandFor(kDevices));
  }
}

namespace {

// Unbound claims whose class binds immediately, by whether they come from a cluster that has left them unbound.
struct UnboundClaims {
  size_t count = 0;
  const DraftObject* first = nullptr;

  void Add(const DraftObject& claim) {
    if (++count == 1) first = &claim;
  }
  std::string Others() const { return count == 1 ? "" : fmt::format(" (and {} more)", count - 1); }
};

void WarnOfUnboundClaims(ClusterDraft& draft) {
  UnboundClaims left, fresh;
  for (const DraftObject& object : draft.objects()) {
    const auto* claim = object.object.As<api::PersistentVolumeClaim>();
    if (!claim || !claim->spec.volume_name.empty() || claim->metadata.deletion_timestamp) continue;
    const DraftObject* found = draft.Find(api::Kind::kStorageClass, claim->spec.storage_class_name.value_or(""));
    if (!found) continue;
    const auto* storage_class = found->object.As<api::StorageClass>();
    if (storage_class->volume_binding_mode.value_or("Immediate") != "Immediate") continue;
    (claim->metadata.creation_timestamp ? left : fresh).Add(object);
  }
  if (left.first) {
    draft.Warn(*left.first, "spec.storageClassName",
               fmt::format("is not bound, though its class binds at once{}: the cluster has not made its volume, and "
                           "pods that use it stay pending",
                           left.Others()));
  }
  if (fresh.first) {
    draft.Warn(*fresh.first, "spec.storageClassName",
               fmt::format("its class binds at once, before any pod is there{}: where the volume will be is not known, "
                           "and it is taken to suit every node",
                           fresh.Others()));
  }
}

}  // namespace

void WarnOfContradictions(ClusterDraft& draft) {
  std::vector<std::pair<const DraftObject*, std::string>> found;
  for (const DraftObject& object : draft.objects()) {
    const auto* claim = object.object.As<api::PersistentVolumeClaim>();
    if (!claim || claim->spec.volume_name.empty()) continue;
    const DraftObject* volume = draft.Find(api::Kind::kPersistentVolume, claim->spec.volume_name);
    if (!volume) continue;
    const auto& holder = volume->object.As<api::PersistentVolume>()->spec.claim_ref;
    const std::string held = holder ? fmt::format("{}/{}", holder->namespace_.str(), holder->name) : "";
    if (!holder || held == api::KeyOf(claim->metadata)) continue;
    found.emplace_back(
        &object, fmt::format("spec.volumeName: volume \"{}\" belongs to claim {}", claim->spec.volume_name, held));
  }
  for (const auto& [object, text] : found) draft.Warn(*object, "spec.volumeName", text);
  WarnOfUnboundClaims(draft);
}

}  // namespace berth::input
