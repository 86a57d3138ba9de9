#include "plugins/in_tree_volume_limits/in_tree_volume_limits.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "base/check.h"
#include "plugins/hints.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::Code;
using framework::EventObject;
using framework::EventResource;
using framework::NodeInfo;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

constexpr char kLimitExceeded[] = "node(s) exceed max volume count";
constexpr char kLimitVariable[] = "KUBE_MAX_PD_VOLS";

// Unset unless the variable is a positive number.
std::optional<int64_t> LimitFromEnvironment() {
  const char* text = std::getenv(kLimitVariable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  int64_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error != std::errc() || end != digits.data() + digits.size() || limit <= 0) return std::nullopt;
  return limit;
}

const CsiMigration& MigrationFor(const InTreeDisks& disks) {
  const CsiMigration* migration = MigrationOfPlugin(disks.type);
  CHECK_WHY(migration != nullptr, "an in-tree volume type without a CSI driver");
  return *migration;
}

// The cloud's name for the disk; null when the source is of another type. Inline and persistent sources name the types
// alike.
template <class Source>
const std::string* DiskOf(InTreeKind kind, const Source& source) {
  switch (kind) {
    case InTreeKind::kAwsEbs:
      return source.aws_elastic_block_store ? &source.aws_elastic_block_store->volume_id : nullptr;
    case InTreeKind::kGcePd:
      return source.gce_persistent_disk ? &source.gce_persistent_disk->pd_name : nullptr;
    case InTreeKind::kAzureDisk:
      return source.azure_disk ? &source.azure_disk->disk_name : nullptr;
    case InTreeKind::kCinder:
      return source.cinder ? &source.cinder->volume_id : nullptr;
    default:
      return nullptr;
  }
}

// c5, m5 and r5 with their variants; t3 and z1d anywhere in the name.
bool IsNitro(std::string_view instance_type) {
  const bool fifth_generation = instance_type.size() >= 2 &&
                                std::string_view("cmr").find(instance_type[0]) != std::string_view::npos &&
                                instance_type[1] == '5';
  return fifth_generation || instance_type.find("t3") != std::string_view::npos ||
         instance_type.find("z1d") != std::string_view::npos;
}

std::string_view InstanceTypeOf(const NodeInfo& node) {
  static const Symbol kStable("node.kubernetes.io/instance-type");
  static const Symbol kBeta("beta.kubernetes.io/instance-type");
  const Symbol* type = node.labels().Find(kStable);
  if (type == nullptr) type = node.labels().Find(kBeta);
  return type ? type->str() : std::string_view();
}

// Unset where the CSINode has no limit.
std::optional<int64_t> LimitOfDriver(const api::CSINode& csi_node, std::string_view name) {
  const auto driver = std::ranges::find(csi_node.spec.drivers, name, &api::CSINodeDriver::name);
  if (driver == csi_node.spec.drivers.end() || !driver->allocatable || !driver->allocatable->count) return std::nullopt;
  return *driver->allocatable->count;
}

QueueingHint AfterPodDeleted(const PodInfo&, const EventObject& before, const EventObject&) {
  const api::Pod* deleted = before.As<api::Pod>();
  return QueueIf(deleted == nullptr || (!HoldsNoPlace(*deleted) && !deleted->spec.volumes.empty()));
}

}  // namespace

InTreeVolumeLimits::InTreeVolumeLimits(const InTreeDisks& disks, const framework::Handle& handle)
    : disks_(disks),
      migration_(MigrationFor(disks)),
      handle_(handle),
      limit_resource_(disks.limit_resource),
      limit_from_environment_(LimitFromEnvironment()) {}

std::optional<AttachableVolume> InTreeVolumeLimits::FromClaim(const api::PersistentVolumeClaim& claim) const {
  const framework::Objects& objects = handle_.objects();
  const api::PersistentVolume* volume =
      claim.spec.volume_name.empty() ? nullptr : objects.persistent_volumes.Find(claim.spec.volume_name);
  if (volume != nullptr) {
    const std::string* disk = DiskOf(migration_.kind, volume->spec.source);
    if (disk == nullptr) return std::nullopt;
    return AttachableVolume{std::string(disks_.type), *disk};
  }
  // Not bound, or its volume no longer exists: the class tells whether it is, or was, such a disk.
  if (!claim.spec.storage_class_name) return std::nullopt;
  const api::StorageClass* storage_class = objects.storage_classes.Find(*claim.spec.storage_class_name);
  if (storage_class == nullptr || storage_class->provisioner != disks_.type) return std::nullopt;
  return AttachableVolume{std::string(disks_.type), api::KeyOf(claim.metadata), true};
}

Status InTreeVolumeLimits::CollectByType(const VolumeUser& pod, AttachableVolumes& volumes) const {
  for (const api::Volume& volume : pod.volumes) {
    if (const std::string* disk = DiskOf(migration_.kind, volume.from())) {
      volumes.insert({std::string(disks_.type), *disk});
      continue;
    }
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference) continue;
    if (reference->name.empty()) return Status::Error("PersistentVolumeClaim had no name");
    // A claim that does not exist, or was made for another pod, may be of any type: not counted.
    const api::PersistentVolumeClaim* claim =
        handle_.objects().persistent_volume_claims.Find(pod.namespace_.str(), reference->name);
    if (claim == nullptr || (reference->ephemeral && OwnershipProblem(pod, *claim))) continue;
    if (std::optional<AttachableVolume> found = FromClaim(*claim)) volumes.insert(*std::move(found));
  }
  return Status::Success();
}

Status InTreeVolumeLimits::CollectByDriver(const VolumeUser& pod, AttachableVolumes& volumes) const {
  AttachableVolumes all;
  Status status = CollectAttachable(handle_.objects(), pod, PodRole::kRunning, /*node_has_csi=*/true, all);
  if (!status.ok()) return status;
  std::ranges::copy_if(all, std::inserter(volumes, volumes.end()),
                       [&](const AttachableVolume& volume) { return volume.driver == migration_.driver; });
  return Status::Success();
}

int64_t InTreeVolumeLimits::LimitByType(const NodeInfo& node) const {
  if (const int64_t* reported = node.allocatable().scalar.Find(limit_resource_)) return *reported;
  if (limit_from_environment_) return *limit_from_environment_;
  return IsNitro(InstanceTypeOf(node)) ? disks_.nitro_limit : disks_.limit;
}

Status InTreeVolumeLimits::Filter(const framework::CycleState&, const PodInfo& pod, const NodeInfo& node) const {
  if (pod.pod().spec.volumes.empty()) return Status::Success();
  AttachableVolumes wanted;
  if (Status status = CollectByType(pod, wanted); !status.ok()) return status;
  if (wanted.empty()) return Status::Success();

  const api::CSINode* csi_node = handle_.objects().csi_nodes.Find(node.name());
  const bool migrated = IsMigratedOnNode(migration_, csi_node);
  const auto collect = migrated ? &InTreeVolumeLimits::CollectByDriver : &InTreeVolumeLimits::CollectByType;
  const std::optional<int64_t> limit = migrated ? LimitOfDriver(*csi_node, migration_.driver) : LimitByType(node);
  if (!limit) return Status::Success();
  if (migrated) {
    wanted.clear();
    if (Status status = CollectByDriver(pod, wanted); !status.ok()) return status;
  }

  AttachableVolumes in_use;
  for (const framework::PodInfoPtr& other : node.pods()) {
    if (Status status = (this->*collect)(*other, in_use); !status.ok()) return status;
  }
  const auto held = static_cast<int64_t>(in_use.size());
  // A disk that pods here already use adds nothing.
  const int64_t added = std::ranges::count_if(wanted, [&](const AttachableVolume& v) { return !in_use.contains(v); });
  if (held + added <= *limit) return Status::Success();
  return Status(Code::kUnschedulable, {kLimitExceeded}, {{limit_resource_, added, held, *limit}});
}

bool InTreeVolumeLimits::FilterRange(const framework::CycleState&, const PodInfo& pod, const framework::NodeColumns&,
                                     framework::NodeIndex, std::span<uint8_t> verdicts) const {
  if (!VolumesAreShareable(pod.pod())) return false;
  std::ranges::fill(verdicts, 0);
  return true;
}

std::vector<framework::ClusterEventWithHint> InTreeVolumeLimits::EventsToRegister() const {
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeAllocatable}, {}},
          {{EventResource::kCSINode, ActionType::kAdd | ActionType::kUpdate}, {}},
          {{EventResource::kPod, ActionType::kDelete}, AfterPodDeleted}};
}

bool InTreeVolumeLimits::Sign(const PodInfo& pod, framework::SignatureBuilder&) const {
  return VolumesAreShareable(pod.pod());
}

}  // namespace berth::plugins
