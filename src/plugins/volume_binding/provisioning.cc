#include "plugins/volume_binding/provisioning.h"

#include <algorithm>

#include "plugins/volume_binding/claim_candidates.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// Unset when the term can match no node.
std::optional<api::Selector> CompileTerm(const api::TopologySelectorTerm& term) {
  if (term.match_label_expressions.empty()) return std::nullopt;
  api::Selector selector;
  for (const api::TopologySelectorLabelRequirement& expression : term.match_label_expressions) {
    Result<api::Requirement> requirement =
        api::Requirement::Make(expression.key, api::Requirement::Operator::kIn, expression.values);
    if (!requirement) return std::nullopt;
    selector.Add(*std::move(requirement));
  }
  return selector;
}

}  // namespace

const api::Quantity* VolumeLimit(const api::CSIStorageCapacity& capacity) {
  // The maximum volume size is more precise than the total free space.
  if (capacity.maximum_volume_size) return &*capacity.maximum_volume_size;
  return capacity.capacity ? &*capacity.capacity : nullptr;
}

bool CanServe(const api::CSIStorageCapacity& capacity, std::string_view storage_class, int64_t size) {
  if (capacity.storage_class_name != storage_class) return false;
  const api::Quantity* limit = VolumeLimit(capacity);
  // Without a topology no node can reach the capacity.
  return limit != nullptr && limit->Value() >= size && capacity.node_topology;
}

Provisioning::Provisioning(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class,
                           const framework::Objects& objects)
    : can_provision_(!storage_class.provisioner.empty() && storage_class.provisioner != kNoProvisioner),
      any_topology_(storage_class.allowed_topologies.empty()) {
  if (!can_provision_) return;
  for (const api::TopologySelectorTerm& term : storage_class.allowed_topologies) {
    if (std::optional<api::Selector> selector = CompileTerm(term)) topologies_.push_back(*std::move(selector));
  }
  FindPools(claim, storage_class, objects);
}

void Provisioning::FindPools(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class,
                             const framework::Objects& objects) {
  if (!RequestsStorage(claim)) return;
  const api::CSIDriver* driver = objects.csi_drivers.Find(storage_class.provisioner);
  if (driver == nullptr || !driver->spec.storage_capacity.value_or(false)) return;
  checks_capacity_ = true;
  const int64_t size = RequestedStorage(claim).Value();
  for (const auto& [key, capacity] : objects.csi_storage_capacities) {
    if (!CanServe(*capacity, storage_class.metadata.name, size)) continue;
    Result<api::Selector> nodes = api::Selector::Compile(*capacity->node_topology);
    if (!nodes) continue;  // likewise
    pool_index_.Add(PinOf(*capacity->node_topology), static_cast<uint32_t>(pools_.size()));
    pools_.push_back({*std::move(nodes), capacity->capacity ? capacity->capacity->Value() : 0});
  }
}

Provisioning::Answer Provisioning::On(const api::Labels& node_labels) const {
  if (!can_provision_) return {Verdict::kNoProvisioner, std::nullopt};
  if (!any_topology_ && std::none_of(topologies_.begin(), topologies_.end(),
                                     [&](const api::Selector& topology) { return topology.Matches(node_labels); })) {
    return {Verdict::kNoProvisioner, std::nullopt};
  }
  if (!checks_capacity_) return {};
  // The first pool counts.
  size_t first = pools_.size();
  pool_index_.ForEachNear(node_labels, [&](uint32_t pool) {
    if (pool < first && pools_[pool].nodes.Matches(node_labels)) first = pool;
  });
  if (first == pools_.size()) return {Verdict::kNoSpace, std::nullopt};
  return {Verdict::kPossible, pools_[first].capacity};
}

}  // namespace berth::plugins
