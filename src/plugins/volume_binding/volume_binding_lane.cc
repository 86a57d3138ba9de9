// VolumeBinding for pods that share answers: their signature, and what is kept between them.
#include <algorithm>
#include <utility>

#include "plugins/signature_text.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;

namespace {

void AppendClaimSelector(std::string& text, const std::optional<api::LabelSelector>& selector) {
  AppendField(text, int64_t{selector.has_value()});
  if (!selector) return;
  AppendLabels(text, selector->match_labels);
  AppendField(text, static_cast<int64_t>(selector->match_expressions.size()));
  for (const api::LabelSelectorRequirement& requirement : selector->match_expressions) {
    AppendField(text, requirement.key.str());
    AppendField(text, requirement.op);
    AppendField(text, static_cast<int64_t>(requirement.values.size()));
    for (const Symbol& value : requirement.values) AppendField(text, value.str());
  }
}

}  // namespace

// A pod that PreFilter would reject is not signed.
bool VolumeBinding::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  bool has_claims = false;
  if (!CheckClaims(pod.pod(), has_claims).ok()) return false;
  if (!has_claims) return true;
  // Explanations try changed objects in a view of their own.
  if (&handle_.objects() != &objects_) return false;
  std::string text = NewSignatureText();
  for (const api::Volume& volume : pod.pod().spec.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod.pod(), volume);
    if (!reference) continue;
    const ClaimPtr claim =
        assumed_.claims.Find(objects_.persistent_volume_claims, pod.namespace_().str(), reference->name);
    if (claim == nullptr) return false;
    if (!(IsFullyBound(*claim) ? SignBound(*claim, text) : SignUnbound(*claim, text))) return false;
  }
  signature.Add("VolumeBinding", text);
  return true;
}

bool VolumeBinding::SignBound(const api::PersistentVolumeClaim& claim, std::string& text) const {
  const VolumePtr volume = assumed_.volumes.Find(objects_.persistent_volumes, "", claim.spec.volume_name);
  if (volume == nullptr) return false;
  AppendField(text, "bound");
  AppendAffinity(text, volume->spec.node_affinity);
  const CsiMigration* migration = MigrationOf(volume->spec.source);
  if (migration == nullptr || !migration->scheduled_as_csi) return true;
  // A volume that its driver would not recognise is an error of its own.
  if (!CsiVolumeHandle(*migration, *volume)) return false;
  AppendField(text, migration->plugin);
  AppendAffinity(text, CsiNodeAffinity(*migration, *volume));
  return true;
}

bool VolumeBinding::SignUnbound(const api::PersistentVolumeClaim& claim, std::string& text) const {
  const std::string_view class_name = StorageClassOf(claim);
  const api::StorageClass* storage_class = class_name.empty() ? nullptr : objects_.storage_classes.Find(class_name);
  if (storage_class == nullptr || storage_class->volume_binding_mode != kWaitForFirstConsumer) return false;
  if (!claim.spec.volume_name.empty() || FindAnnotation(claim.metadata, kSelectedNodeAnnotation)) return false;
  free_volumes_.CatchUp(objects_, assumed_.volumes);
  if (free_volumes_.HasVolumeFor(claim)) return false;
  if (claim.spec.selector && !api::Selector::Compile(*claim.spec.selector)) return false;
  AppendField(text, "unbound");
  AppendField(text, class_name);
  AppendField(text, int64_t{RequestsStorage(claim)});
  AppendField(text, RequestedStorage(claim).ToString());
  AppendField(text, claim.spec.volume_mode.value_or("Filesystem"));
  AppendField(text, claim.spec.volume_attributes_class_name.value_or(""));
  AppendField(text, static_cast<int64_t>(claim.spec.access_modes.size()));
  for (const std::string& mode : claim.spec.access_modes) AppendField(text, mode);
  AppendClaimSelector(text, claim.spec.selector);
  return true;
}

bool VolumeBinding::FilterRange(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                NodeIndex begin, std::span<uint8_t> verdicts) const {
  const State* found = state.Find(state_key_);
  if (found == nullptr || !found->kept || !found->plan) return false;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const NodeIndex node = static_cast<NodeIndex>(begin + i);
    if (!columns.live[node]) continue;
    verdicts[i] = found->plan->VerdictOn(handle_.cluster().row(node), objects_).value_or(kAskFilter);
  }
  return true;
}

std::shared_ptr<VolumeBinding::Kept> VolumeBinding::StartKeeping(const VolumePlan& plan) const {
  auto kept = std::make_shared<Kept>();
  kept->classes = objects_.storage_classes.version();
  kept->drivers = objects_.csi_drivers.version();
  kept->capacities = objects_.csi_storage_capacities.version();
  kept->csi_nodes = objects_.csi_nodes.version();
  kept->rebuilds = free_volumes_.rebuilds();
  kept->cursor = free_volumes_.changes().end();
  if (plan.unbound().size() != 1) return kept;
  const VolumePlan::UnboundClaim& unbound = plan.unbound().front();
  kept->serves.resize(free_volumes_.group_count());
  for (StaticVolumes::GroupId id = 0; id < kept->serves.size(); ++id) {
    const StaticVolumes::Group& group = free_volumes_.group(id);
    kept->serves[id] =
        group.storage_class == StorageClassOf(*unbound.claim) && group.Find(*unbound.matcher, {}) != nullptr;
  }
  return kept;
}

bool VolumeBinding::CatchUpDevices(CycleState& state, const PodInfo& pod, std::vector<NodeIndex>& changed) const {
  State* found = state.FindMutable(state_key_);
  if (found == nullptr || !found->plan || &handle_.objects() != &objects_) return false;
  found->reservation.reset();
  const bool unbound = !found->plan->all_bound();
  if (unbound) free_volumes_.CatchUp(objects_, assumed_.volumes);
  if (!found->kept) {
    // PreFilter could not know that its plan would be kept.
    found->plan = VolumePlan::Make(pod.pod(), objects_, assumed_, &free_volumes_).plan;
    if (!found->plan) return false;
    found->kept = StartKeeping(*found->plan);
    return true;
  }
  Kept& kept = *found->kept;
  if (unbound) {
    // Both change rarely.
    if (kept.classes != objects_.storage_classes.version() || kept.drivers != objects_.csi_drivers.version()) {
      return false;
    }
    found->plan = found->plan->For(pod.pod(), objects_, assumed_);
    if (!found->plan || !FollowCapacities(kept, *found->plan) || !FollowVolumes(kept, *found->plan, changed)) {
      return false;
    }
  }
  return FollowCsiNodes(kept, *found->plan, changed);
}

bool VolumeBinding::FollowCsiNodes(Kept& kept, const VolumePlan& plan, std::vector<NodeIndex>& changed) const {
  const auto& changes = objects_.csi_nodes.changes();
  if (!plan.reads_csi_nodes()) kept.csi_nodes = changes.end();
  if (!changes.Knows(kept.csi_nodes)) return false;
  for (; kept.csi_nodes < changes.end(); ++kept.csi_nodes) {
    const auto& change = changes.at(kept.csi_nodes);
    const NodeInfo* node = handle_.cluster().Find((change.after ? change.after : change.before)->metadata.name);
    if (node != nullptr) changed.push_back(node->index());
  }
  return true;
}

// Less capacity does not matter while the claims still fit, and that is the usual change: volumes are provisioned from
// it. Scores depend on the amount.
bool VolumeBinding::FollowCapacities(Kept& kept, const VolumePlan& plan) const {
  const auto& changes = objects_.csi_storage_capacities.changes();
  if (kept.capacities == changes.end()) return true;
  if (capacity_score_ || !changes.Knows(kept.capacities)) return false;
  for (; kept.capacities < changes.end(); ++kept.capacities) {
    const auto& [before, after] = changes.at(kept.capacities);
    const bool same_nodes = before && after && before->node_topology == after->node_topology;
    for (const VolumePlan::UnboundClaim& unbound : plan.unbound()) {
      const std::string_view storage_class = StorageClassOf(*unbound.claim);
      const int64_t size = RequestedStorage(*unbound.claim).Value();
      const bool served = before && CanServe(*before, storage_class, size);
      const bool serves = after && CanServe(*after, storage_class, size);
      if (served != serves || (serves && !same_nodes)) return false;
    }
  }
  return true;
}

// One volume more or less in a group does not matter to a claim, unless it is the first or the last suitable one.
// Scores depend on which volume it is.
bool VolumeBinding::FollowVolumes(Kept& kept, const VolumePlan& plan, std::vector<NodeIndex>& changed) const {
  if (kept.rebuilds != free_volumes_.rebuilds() || !free_volumes_.changes().Knows(kept.cursor)) return false;
  const bool single = plan.unbound().size() == 1;
  for (; kept.cursor < free_volumes_.changes().end(); ++kept.cursor) {
    const StaticVolumes::GroupId id = free_volumes_.changes().at(kept.cursor);
    const StaticVolumes::Group& group = free_volumes_.group(id);
    const auto is_of_group = [&](const VolumePlan::UnboundClaim& unbound) {
      return StorageClassOf(*unbound.claim) == group.storage_class;
    };
    if (std::none_of(plan.unbound().begin(), plan.unbound().end(), is_of_group)) continue;
    bool differs = true;
    if (single) {
      if (id >= kept.serves.size()) kept.serves.resize(id + 1);
      const bool serves = group.Find(*plan.unbound().front().matcher, {}) != nullptr;
      differs = serves != static_cast<bool>(std::exchange(kept.serves[id], serves));
    }
    if (differs || capacity_score_) ListNodesOf(group, changed);
  }
  return true;
}

void VolumeBinding::ListNodesOf(const StaticVolumes::Group& group, std::vector<NodeIndex>& changed) const {
  const framework::ClusterView& cluster = handle_.cluster();
  if (!group.pin) {
    for (const NodeInfo* node : cluster.nodes()) {
      if (group.affinity.Allows(node->labels())) changed.push_back(node->index());
    }
    return;
  }
  const framework::LabelColumn& column = cluster.label_column(group.pin->key);
  for (const Symbol& value : group.pin->values) {
    const auto found = std::find(column.values.begin(), column.values.end(), value);
    if (found == column.values.end()) continue;
    const auto value_id = static_cast<int32_t>(found - column.values.begin());
    for (NodeIndex node = 0; node < column.value_id.size(); ++node) {
      if (column.value_id[node] == value_id) changed.push_back(node);
    }
  }
}

}  // namespace berth::plugins
