#include "plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "plugins/hints.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::Code;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

constexpr char kDriverLimitExceeded[] = "node(s) exceed max volume count";

// Drivers without a limit are absent.
std::map<std::string_view, int64_t> DriverLimits(const api::CSINode& csi_node) {
  std::map<std::string_view, int64_t> limits;
  for (const api::CSINodeDriver& driver : csi_node.spec.drivers) {
    if (driver.allocatable && driver.allocatable->count) limits[driver.name] = *driver.allocatable->count;
  }
  return limits;
}

std::map<std::string_view, int64_t> CountByDriver(const AttachableVolumes& volumes) {
  std::map<std::string_view, int64_t> counts;
  for (const AttachableVolume& volume : volumes) ++counts[volume.driver];
  return counts;
}

int64_t LimitOrZero(const api::CSINode& csi_node, const std::string& driver_name) {
  int64_t limit = 0;
  for (const api::CSINodeDriver& driver : csi_node.spec.drivers) {
    if (driver.name == driver_name) limit = driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
  }
  return limit;
}

QueueingHint AfterCsiNodeUpdated(const PodInfo&, const EventObject& before, const EventObject& after) {
  const auto* old_node = before.As<api::CSINode>();
  const auto* new_node = after.As<api::CSINode>();
  if (old_node == nullptr || new_node == nullptr) return QueueingHint::kQueue;
  for (const api::CSINodeDriver& driver : new_node->spec.drivers) {
    const int64_t limit = driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
    if (limit > LimitOrZero(*old_node, driver.name)) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

QueueingHint AfterUserDeleted(const PodInfo&, const EventObject& before, const EventObject&) {
  const api::Pod* deleted = before.As<api::Pod>();
  if (deleted == nullptr) return QueueingHint::kQueue;
  return QueueIf(!HoldsNoPlace(*deleted) && MayAttachVolumes(*deleted));
}

QueueingHint AfterAttachmentDeleted(const PodInfo& pod, const EventObject& before, const EventObject&) {
  const auto* attachment = before.As<api::VolumeAttachment>();
  if (attachment == nullptr) return QueueingHint::kQueue;
  for (const api::Volume& volume : pod.pod().spec.volumes) {
    if (volume.from().persistent_volume_claim) return QueueingHint::kQueue;
    const CsiMigration* migration = MigrationOf(volume.from());
    if (migration == nullptr) continue;
    if (migration->driver == attachment->spec.attacher) return QueueingHint::kQueue;
    // A source the driver would not understand: when in doubt, retry.
    if (migration->scheduled_as_csi && !CsiVolumeHandle(*migration, volume.from()).ok()) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

}  // namespace

NodeVolumeLimits::NodeVolumeLimits(framework::Handle& handle)
    : handle_(handle),
      state_key_(handle.NewStateKey<State>()),
      volume_limit_scaling_(handle.gates().Enabled("VolumeLimitScaling")) {}

Result<std::unique_ptr<framework::Plugin>> NodeVolumeLimits::Create(const config::PluginArgs&,
                                                                    framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(new NodeVolumeLimits(handle));
}

framework::PreFilterResult NodeVolumeLimits::PreFilter(framework::CycleState& state, const PodInfo& pod) const {
  if (!MayAttachVolumes(pod.pod())) return Status::Skip();
  auto found = std::make_unique<State>();
  // Answers outlive the cycle when the state does.
  if (const State* before = state.Find(state_key_)) found->kept = before->kept;
  if (found->kept) {
    found->kept->precomputed = nullptr;
  } else {
    found->precomputed = Precompute(pod);
  }
  state.Put(state_key_, std::move(found));
  return Status::Success();
}

std::shared_ptr<const NodeVolumeLimits::Precomputed> NodeVolumeLimits::PrecomputedOf(const framework::CycleState& state,
                                                                                     const PodInfo& pod) const {
  const State* found = state.Find(state_key_);
  // A profile may run the filter without its PreFilter.
  if (found == nullptr) return Precompute(pod);
  if (!found->kept) return found->precomputed;
  if (!found->kept->precomputed) found->kept->precomputed = Precompute(pod);
  return found->kept->precomputed;
}

std::shared_ptr<const NodeVolumeLimits::Precomputed> NodeVolumeLimits::Precompute(const PodInfo& pod) const {
  const framework::Objects& objects = handle_.objects();
  auto result = std::make_shared<Precomputed>();
  for (const bool node_has_csi : {true, false}) {
    Wanted& wanted = node_has_csi ? result->with_csi_node : result->without_csi_node;
    wanted.status = CollectAttachable(objects, pod.pod(), PodRole::kIncoming, node_has_csi, wanted.volumes);
  }
  for (const auto& [key, attachment] : objects.volume_attachments) {
    if (std::optional<AttachableVolume> attached = AttachedBy(objects, *attachment)) {
      result->attachments[attachment->spec.node_name].insert(*std::move(attached));
    }
  }
  return result;
}

Status NodeVolumeLimits::Filter(const framework::CycleState& state, const PodInfo& pod,
                                const framework::NodeInfo& node) const {
  if (pod.pod().spec.volumes.empty()) return Status::Success();
  const framework::Objects& objects = handle_.objects();
  const std::shared_ptr<const Precomputed> precomputed = PrecomputedOf(state, pod);
  const api::CSINode* csi_node = objects.csi_nodes.Find(node.name());
  const Wanted& wanted = csi_node ? precomputed->with_csi_node : precomputed->without_csi_node;
  if (!wanted.status.ok()) return wanted.status;
  if (wanted.volumes.empty()) return Status::Success();
  if (volume_limit_scaling_) {
    if (Status status = CheckDriversPresent(wanted.volumes, csi_node); !status.ok()) return status;
  }
  if (csi_node == nullptr) return Status::Success();
  const std::map<std::string_view, int64_t> limits = DriverLimits(*csi_node);
  if (limits.empty()) return Status::Success();

  AttachableVolumes in_use;
  for (const framework::PodInfoPtr& other : node.pods()) {
    Status status = CollectAttachable(objects, *other, PodRole::kRunning, /*node_has_csi=*/true, in_use);
    if (!status.ok()) return status;
  }
  // A volume that the pod shares with pods here adds nothing. One that is merely attached still counts as new, as it
  // may be about to be detached.
  AttachableVolumes added;
  std::set_difference(wanted.volumes.begin(), wanted.volumes.end(), in_use.begin(), in_use.end(),
                      std::inserter(added, added.end()));
  if (const auto attached = precomputed->attachments.find(node.name()); attached != precomputed->attachments.end()) {
    in_use.insert(attached->second.begin(), attached->second.end());
  }

  const std::map<std::string_view, int64_t> used = CountByDriver(in_use);
  for (const auto& [driver, count] : CountByDriver(added)) {
    const auto limit = limits.find(driver);
    if (limit == limits.end()) continue;
    const auto current = used.find(driver);
    const int64_t held = current == used.end() ? 0 : current->second;
    if (held + count <= limit->second) continue;
    return Status(Code::kUnschedulable, {kDriverLimitExceeded},
                  {{Symbol(fmt::format("attachable-volumes-csi-{}", driver)), count, held, limit->second}});
  }
  return Status::Success();
}

// Drivers may require that their pods go only where the driver runs; others may be installed later, or be no CSI
// drivers.
Status NodeVolumeLimits::CheckDriversPresent(const AttachableVolumes& wanted, const api::CSINode* csi_node) const {
  for (const AttachableVolume& volume : wanted) {
    const api::CSIDriver* driver = handle_.objects().csi_drivers.Find(volume.driver);
    if (driver == nullptr || !driver->spec.prevent_pod_scheduling_if_missing.value_or(false)) continue;
    const bool installed =
        csi_node != nullptr && std::any_of(csi_node->spec.drivers.begin(), csi_node->spec.drivers.end(),
                                           [&](const api::CSINodeDriver& d) { return d.name == volume.driver; });
    if (!installed) {
      return Status::Unschedulable(fmt::format("{} CSI driver is not installed on the node", volume.driver));
    }
  }
  return Status::Success();
}

std::vector<framework::ClusterEventWithHint> NodeVolumeLimits::EventsToRegister() const {
  return {
      {{EventResource::kCSINode, ActionType::kAdd}, {}},
      {{EventResource::kCSINode, ActionType::kUpdate}, AfterCsiNodeUpdated},
      {{EventResource::kPod, ActionType::kDelete}, AfterUserDeleted},
      {{EventResource::kPersistentVolumeClaim, ActionType::kAdd}, AfterClaimChanged(/*ephemeral=*/true)},
      {{EventResource::kVolumeAttachment, ActionType::kDelete}, AfterAttachmentDeleted},
  };
}

}  // namespace berth::plugins
