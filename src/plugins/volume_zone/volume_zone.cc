#include "plugins/volume_zone/volume_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugins/hints.h"
#include "plugins/signature_text.h"
#include "plugins/volume/claim_explainer.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/topology_labels.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

constexpr char kZoneConflict[] = "node(s) had no available volume zone";

const std::array<Symbol, 4>& TopologyKeys() {
  const TopologyLabels& labels = GetTopologyLabels();
  static const std::array<Symbol, 4> keys{labels.beta_zone, labels.beta_region, labels.zone, labels.region};
  return keys;
}

const Symbol& TodaysKey(const Symbol& key) {
  const TopologyLabels& labels = GetTopologyLabels();
  if (key == labels.beta_zone) return labels.zone;
  return key == labels.beta_region ? labels.region : key;
}

void AppendDemands(const api::PersistentVolume& volume, std::vector<VolumeZone::Demand>& demands) {
  for (const Symbol& key : TopologyKeys()) {
    const Symbol* label = volume.metadata.labels.Find(key);
    if (label == nullptr) continue;
    VolumeZone::Demand demand{key, {}};
    bool readable = true;
    for (const std::string_view zone : SplitZones(label->str())) {
      const std::string_view trimmed = TrimSpace(zone);
      readable = readable && !trimmed.empty();
      demand.values.emplace_back(trimmed);
    }
    // A label with an empty part ("a__") rules out no node.
    if (!readable) continue;
    std::sort(demand.values.begin(), demand.values.end());
    demand.values.erase(std::unique(demand.values.begin(), demand.values.end()), demand.values.end());
    demands.push_back(std::move(demand));
  }
}

bool HasTopology(const api::Labels& labels) {
  return std::any_of(TopologyKeys().begin(), TopologyKeys().end(),
                     [&](const Symbol& key) { return labels.Contains(key); });
}

bool Satisfies(const api::Labels& labels, const VolumeZone::Demand& demand) {
  const Symbol* value = labels.Find(demand.key);
  if (value == nullptr) value = labels.Find(TodaysKey(demand.key));
  return value != nullptr && std::find(demand.values.begin(), demand.values.end(), *value) != demand.values.end();
}

QueueingHint AfterClassAdded(const PodInfo&, const EventObject&, const EventObject& after) {
  const auto* added = after.As<api::StorageClass>();
  // With any other class the pod has to wait until its claim is bound, so the class alone does not help.
  if (added == nullptr || added->volume_binding_mode == kWaitForFirstConsumer) return QueueingHint::kQueue;
  return QueueingHint::kSkip;
}

QueueingHint AfterVolumeChanged(const PodInfo&, const EventObject& before, const EventObject& after) {
  const auto* old_volume = before.As<api::PersistentVolume>();
  const auto* new_volume = after.As<api::PersistentVolume>();
  if (old_volume == nullptr || new_volume == nullptr) return QueueingHint::kQueue;
  std::vector<VolumeZone::Demand> old_demands, new_demands;
  AppendDemands(*old_volume, old_demands);
  AppendDemands(*new_volume, new_demands);
  return QueueIf(old_demands != new_demands);
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> VolumeZone::Create(const config::PluginArgs&, framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(new VolumeZone(handle));
}

framework::PreFilterResult VolumeZone::PreFilter(framework::CycleState& state, const PodInfo& pod) const {
  auto found = std::make_unique<State>();
  if (Status status = CollectDemands(pod.pod(), found->demands); !status.ok()) return status;
  if (found->demands.empty()) return Status::Skip();
  state.Put(state_key_, std::move(found));
  return Status::Success();
}

Status VolumeZone::CollectDemands(const api::Pod& pod, std::vector<Demand>& demands) const {
  const framework::Objects& objects = handle_.objects();
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto& reference = volume.from().persistent_volume_claim;
    if (!reference) continue;
    if (reference->claim_name.empty()) {
      return Status::UnschedulableAndUnresolvable("PersistentVolumeClaim had no name");
    }
    const auto* claim = objects.persistent_volume_claims.Find(pod.metadata.namespace_.str(), reference->claim_name);
    if (claim == nullptr) return Status::UnschedulableAndUnresolvable(ClaimNotFound(reference->claim_name));
    if (claim->spec.volume_name.empty()) {
      if (Status status = CheckUnbound(*claim); !status.ok()) return status;
      continue;
    }
    const api::PersistentVolume* bound = objects.persistent_volumes.Find(claim->spec.volume_name);
    if (bound == nullptr) return Status::UnschedulableAndUnresolvable(VolumeNotFound(claim->spec.volume_name));
    AppendDemands(*bound, demands);
  }
  return Status::Success();
}

// An unbound claim is fine when it waits for the pod to be placed; any other should have been bound by now.
Status VolumeZone::CheckUnbound(const api::PersistentVolumeClaim& claim) const {
  const std::string_view class_name = StorageClassOf(claim);
  if (class_name.empty()) {
    return Status::UnschedulableAndUnresolvable("PersistentVolumeClaim had no pv name and storageClass name");
  }
  const api::StorageClass* storage_class = handle_.objects().storage_classes.Find(class_name);
  if (storage_class == nullptr) return Status::UnschedulableAndUnresolvable(StorageClassNotFound(class_name));
  if (!storage_class->volume_binding_mode) {
    return Status::UnschedulableAndUnresolvable(
        fmt::format("VolumeBindingMode not set for StorageClass \"{}\"", class_name));
  }
  if (*storage_class->volume_binding_mode == kWaitForFirstConsumer) return Status::Success();
  return Status::UnschedulableAndUnresolvable("PersistentVolume had no name");
}

Status VolumeZone::Filter(const framework::CycleState& state, const PodInfo& pod,
                          const framework::NodeInfo& node) const {
  if (pod.pod().spec.volumes.empty()) return Status::Success();
  std::vector<Demand> collected;
  const State* found = state.Find(state_key_);
  if (found == nullptr) {
    // A profile may run the filter without its PreFilter.
    if (Status status = CollectDemands(pod.pod(), collected); !status.ok()) return status;
  }
  if (!HasTopology(node.labels())) return Status::Success();
  for (const Demand& demand : found ? found->demands : collected) {
    if (!Satisfies(node.labels(), demand)) return Status::UnschedulableAndUnresolvable(kZoneConflict);
  }
  return Status::Success();
}

std::vector<framework::ClusterEventWithHint> VolumeZone::EventsToRegister() const {
  return {
      // The binding mode of a class never changes, so that only new classes matter.
      {{EventResource::kStorageClass, ActionType::kAdd}, AfterClassAdded},
      {{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeLabel}, {}},
      {{EventResource::kPersistentVolumeClaim, ActionType::kAdd | ActionType::kUpdate},
       AfterClaimChanged(/*ephemeral=*/false)},
      {{EventResource::kPersistentVolume, ActionType::kAdd | ActionType::kUpdate}, AfterVolumeChanged},
  };
}

bool VolumeZone::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::vector<Demand> demands;
  if (!CollectDemands(pod.pod(), demands).ok()) return false;
  if (demands.empty()) return true;
  std::string text = NewSignatureText();
  for (const Demand& demand : demands) {
    AppendField(text, demand.key.str());
    AppendField(text, static_cast<int64_t>(demand.values.size()));
    for (const Symbol& value : demand.values) AppendField(text, value.str());
  }
  signature.Add("VolumeZone", text);
  return true;
}

std::unique_ptr<framework::RejectionExplainer> VolumeZone::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<ClaimExplainer>(handle_, pod);
}

}  // namespace berth::plugins
