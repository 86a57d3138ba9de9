#include "perf/bench_volumes.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/storage.h"
#include "perf/bench_workload.h"

namespace berth::perf {
namespace {

constexpr uint64_t kVolumeZones = 3;
constexpr uint64_t kVolumesPerNode = 4;  // of csilimits
constexpr char kDiskDriver[] = "disk.example.com";
constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
constexpr char kHostnameLabel[] = "kubernetes.io/hostname";
constexpr char kClaimNamespace[] = "default";

std::string VolumeClaimName(uint64_t number) { return fmt::format("data-pod-{}", number); }
std::string VolumeName(uint64_t number) { return fmt::format("pv-{}", number); }

api::ResourceList Storage(std::string_view amount) { return {{Symbol("storage"), *api::Quantity::Parse(amount)}}; }

// Does nothing when there is no such object.
template <class T>
void Remove(const framework::ObjectStore<T>& store, std::string_view name_space, const std::string& name,
            scheduler::Driver& driver) {
  if (const std::shared_ptr<const T>* found = store.FindShared(name_space, name)) driver.Remove(api::Object(*found));
}

void PutClass(std::string name, std::string provisioner, scheduler::Driver& driver, bool in_two_zones = false) {
  api::StorageClass storage_class;
  storage_class.metadata.name = std::move(name);
  storage_class.provisioner = std::move(provisioner);
  storage_class.volume_binding_mode = "WaitForFirstConsumer";
  if (in_two_zones) {
    storage_class.allowed_topologies = {{{{Symbol(kZoneLabel), {Symbol("zone-0"), Symbol("zone-1")}}}}};
  }
  PutObject(std::move(storage_class), driver);
}

api::PersistentVolumeClaim MakeClaim(uint64_t number, std::string_view storage_class) {
  api::PersistentVolumeClaim claim;
  claim.metadata.name = VolumeClaimName(number);
  claim.metadata.namespace_ = Symbol(kClaimNamespace);
  claim.metadata.uid = claim.metadata.name;
  claim.spec.access_modes = {"ReadWriteOnce"};
  claim.spec.resources.requests = Storage("10Gi");
  claim.spec.storage_class_name = std::string(storage_class);
  claim.status.phase = "Pending";
  return claim;
}

api::PersistentVolume MakeVolume(std::string name, std::string_view storage_class) {
  api::PersistentVolume volume;
  volume.metadata.name = std::move(name);
  volume.spec.capacity = Storage("10Gi");
  volume.spec.access_modes = {"ReadWriteOnce"};
  volume.spec.storage_class_name = std::string(storage_class);
  volume.status.phase = "Available";
  return volume;
}

void UsableIn(api::PersistentVolume& volume, const char* label, std::string_view value) {
  volume.spec.node_affinity.emplace().required.emplace().node_selector_terms.push_back(
      {{{Symbol(label), "In", {Symbol(value)}}}, {}});
}

// As the volume controller leaves them.
void PutBound(api::PersistentVolumeClaim claim, api::PersistentVolume volume, scheduler::Driver& driver) {
  claim.spec.volume_name = volume.metadata.name;
  claim.metadata.annotations.Set("pv.kubernetes.io/bind-completed", "yes");
  claim.status.phase = "Bound";
  api::ObjectReference& reference = volume.spec.claim_ref.emplace();
  reference.namespace_ = claim.metadata.namespace_;
  reference.name = claim.metadata.name;
  reference.uid = claim.metadata.uid;
  volume.status.phase = "Bound";
  PutObject(std::move(volume), driver);
  PutObject(std::move(claim), driver);
}

api::PersistentVolume MakeCsiVolume(uint64_t number, std::string_view storage_class) {
  api::PersistentVolume volume = MakeVolume(VolumeName(number), storage_class);
  volume.spec.source.csi.emplace();
  volume.spec.source.csi->driver = kDiskDriver;
  volume.spec.source.csi->volume_handle = fmt::format("disk-{}", number);
  return volume;
}

// What follows a pod's placement: its volume is attached, provisioned, or reported as bound.
void Settle(std::string_view kind, uint64_t number, scheduler::Driver& driver) {
  const cluster::Cluster& cluster = std::as_const(driver).cluster();
  const framework::Objects& objects = cluster.objects();
  const std::string node = cluster.NodeOf(BenchWorkload::UidOf(number));
  const auto* claim = objects.persistent_volume_claims.Find(kClaimNamespace, VolumeClaimName(number));
  if (node.empty() || claim == nullptr) return;
  if (kind == "pvwait") return PutBound(*claim, MakeCsiVolume(number, "wait"), driver);
  if (kind == "pvlocal") {
    if (const auto* volume = objects.persistent_volumes.Find("local-" + node)) PutBound(*claim, *volume, driver);
    return;
  }
  api::VolumeAttachment attachment;
  attachment.metadata.name = "attach-" + VolumeName(number);
  attachment.spec.attacher = kDiskDriver;
  attachment.spec.node_name = node;
  attachment.spec.source.persistent_volume_name = VolumeName(number);
  attachment.status.attached = true;
  PutObject(std::move(attachment), driver);
}

void Retire(std::string_view kind, uint64_t number, scheduler::Driver& driver) {
  const cluster::Cluster& cluster = std::as_const(driver).cluster();
  const framework::Objects& objects = cluster.objects();
  const std::string node = cluster.NodeOf(BenchWorkload::UidOf(number));
  BenchWorkload::EndPod(number, driver);
  Remove(objects.persistent_volume_claims, kClaimNamespace, VolumeClaimName(number), driver);
  if (kind == "csilimits") {
    Remove(objects.volume_attachments, "", "attach-" + VolumeName(number), driver);
    Remove(objects.persistent_volumes, "", VolumeName(number), driver);
  } else if (const auto* volume = objects.persistent_volumes.Find("local-" + node)) {
    api::PersistentVolume free = *volume;
    free.spec.claim_ref.reset();
    free.status.phase = "Available";
    PutObject(std::move(free), driver);
  }
}

// How many pods run at a time if volumes are scarce.
std::optional<uint64_t> Lifetime(std::string_view kind, uint64_t nodes) {
  if (kind == "csilimits") return nodes * kVolumesPerNode * 15 / 16;
  if (kind == "pvlocal") return nodes * 3 / 4;
  return std::nullopt;
}

}  // namespace

bool IsVolumeKind(std::string_view kind) { return kind.starts_with("pv") || kind == "csilimits"; }

void FillVolumes(std::string_view kind, uint64_t nodes, scheduler::Driver& driver) {
  PutClass("bound", kDiskDriver, driver);
  PutClass("wait", kDiskDriver, driver, /*in_two_zones=*/true);
  PutClass("local", "kubernetes.io/no-provisioner", driver);
  api::CSIDriver disk_driver;
  disk_driver.metadata.name = kDiskDriver;
  disk_driver.spec.storage_capacity = true;
  PutObject(std::move(disk_driver), driver);
  for (uint64_t zone = 0; zone < kVolumeZones; ++zone) {
    api::CSIStorageCapacity capacity;
    capacity.metadata.name = fmt::format("wait-zone-{}", zone);
    capacity.metadata.namespace_ = Symbol("storage");
    capacity.storage_class_name = "wait";
    capacity.node_topology.emplace().match_labels = {{Symbol(kZoneLabel), Symbol(fmt::format("zone-{}", zone))}};
    capacity.capacity = api::Quantity::Parse("1000Ti").value();
    PutObject(std::move(capacity), driver);
  }
  for (uint64_t i = 0; i < nodes; ++i) {
    api::CSINode csi_node;
    csi_node.metadata.name = fmt::format("node-{}", i);
    api::CSINodeDriver& installed = csi_node.spec.drivers.emplace_back();
    installed.name = kDiskDriver;
    installed.allocatable.emplace().count = kind == "csilimits" ? static_cast<int32_t>(kVolumesPerNode) : 128;
    PutObject(std::move(csi_node), driver);
    if (kind != "pvlocal") continue;
    api::PersistentVolume volume = MakeVolume(fmt::format("local-node-{}", i), "local");
    volume.spec.source.local.emplace().path = "/disk";
    UsableIn(volume, kHostnameLabel, fmt::format("node-{}", i));
    PutObject(std::move(volume), driver);
  }
}

void ShapeVolumePod(uint64_t number, api::Pod& pod) {
  auto source = std::make_shared<api::VolumeSource>();
  source->persistent_volume_claim.emplace().claim_name = VolumeClaimName(number);
  pod.spec.volumes.push_back({"data", std::move(source)});
}

void TurnVolumes(std::string_view kind, uint64_t number, uint64_t nodes, scheduler::Driver& driver) {
  if (const auto lifetime = Lifetime(kind, nodes); lifetime && number >= *lifetime) {
    Retire(kind, number - *lifetime, driver);
  }
  if (number > 0 && kind != "pvbound") Settle(kind, number - 1, driver);
  if (kind == "pvwait" || kind == "pvlocal") {
    return PutObject(MakeClaim(number, kind == "pvwait" ? "wait" : "local"), driver);
  }
  api::PersistentVolume volume = MakeCsiVolume(number, "bound");
  if (kind == "pvbound") {
    const std::string zone = fmt::format("zone-{}", number % kVolumeZones);
    volume.metadata.labels.Set(Symbol(kZoneLabel), Symbol(zone));
    UsableIn(volume, kZoneLabel, zone);
  }
  PutBound(MakeClaim(number, "bound"), std::move(volume), driver);
}

}  // namespace berth::perf
