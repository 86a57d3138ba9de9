#include "testing/fake_cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::testing {

using framework::LabelColumn;
using framework::NodeInfo;
using framework::PodInfoPtr;

namespace {

void Append(LabelColumn& column, const Symbol* value) {
  if (value == nullptr) {
    column.value_id.push_back(LabelColumn::kAbsent);
    return;
  }
  const auto known = std::find(column.values.begin(), column.values.end(), *value);
  column.value_id.push_back(static_cast<int32_t>(known - column.values.begin()));
  if (known == column.values.end()) {
    column.one_node_each = column.one_node_each || column.values.empty();
    column.values.push_back(*value);
  } else {
    column.one_node_each = false;
  }
}

bool Uses(const framework::PodInfo& pod, std::string_view claim) {
  const std::vector<api::Volume>& volumes = pod.volumes();
  return std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& volume) {
    const auto& used = volume.from().persistent_volume_claim;
    return used && used->claim_name == claim;
  });
}

}  // namespace

const NodeInfo& FakeCluster::AddNode(const NodeBuilder& builder, const std::vector<PodInfoPtr>& pods) {
  NodeInfo& node = rows_.emplace_back(builder.Info({}, static_cast<framework::NodeIndex>(rows_.size())));
  CHECK_WHY(Find(node.name()) == nullptr, "two nodes of one name");
  pointers_.push_back(&node);
  AppendColumns(node);
  changes_.push_back(node.index());
  for (auto& [key, column] : label_columns_) Append(column, node.labels().Find(key));
  for (const PodInfoPtr& pod : pods) Put(node, pod);
  return node;
}

void FakeCluster::AddPod(const PodBuilder& builder) {
  const PodInfoPtr pod = builder.Info();
  Put(rows_[Node(pod->pod().spec.node_name).index()], pod);
}

void FakeCluster::RemovePod(const framework::PodInfo& pod) {
  NodeInfo& node = rows_[Node(pod.pod().spec.node_name).index()];
  CHECK_WHY(node.RemovePod(pod), "the node has no such pod");
  if (node.pods_with_affinity().empty()) std::erase(with_affinity_, &node);
  if (node.pods_with_required_anti_affinity().empty()) std::erase(with_required_anti_affinity_, &node);
  columns_.WritePods(node);
  changes_.push_back(node.index());
}

void FakeCluster::Put(NodeInfo& node, PodInfoPtr pod) {
  const bool had_affinity = !node.pods_with_affinity().empty();
  const bool had_anti_affinity = !node.pods_with_required_anti_affinity().empty();
  node.AddPod(std::move(pod));
  if (!had_affinity && !node.pods_with_affinity().empty()) with_affinity_.push_back(&node);
  if (!had_anti_affinity && !node.pods_with_required_anti_affinity().empty()) {
    with_required_anti_affinity_.push_back(&node);
  }
  columns_.WritePods(node);
  changes_.push_back(node.index());
}

const NodeInfo& FakeCluster::Node(std::string_view name) const {
  const NodeInfo* found = Find(name);
  CHECK_WHY(found != nullptr, "the cluster has no node of this name");
  return *found;
}

const NodeInfo* FakeCluster::Find(std::string_view node_name) const {
  const auto found =
      std::find_if(pointers_.begin(), pointers_.end(), [&](const NodeInfo* node) { return node->name() == node_name; });
  return found == pointers_.end() ? nullptr : *found;
}

const LabelColumn& FakeCluster::label_column(const Symbol& key) const {
  const auto [it, added] = label_columns_.try_emplace(key);
  if (added) {
    for (const NodeInfo* node : pointers_) Append(it->second, node->labels().Find(key));
  }
  return it->second;
}

bool FakeCluster::HasImage(std::string_view normalized_name) const {
  return std::ranges::any_of(nodes(),
                             [&](const framework::NodeInfo* node) { return node->FindImage(normalized_name); });
}

bool FakeCluster::IsPlacedByAnother(const std::string& pod_uid, base::Ticket) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const NodeInfo& row) {
    return std::any_of(row.pods().begin(), row.pods().end(),
                       [&](const PodInfoPtr& pod) { return pod->uid() == pod_uid; });
  });
}

int FakeCluster::PodsUsingClaim(std::string_view name_space, std::string_view claim) const {
  int uses = 0;
  for (const NodeInfo* node : pointers_) {
    for (const PodInfoPtr& pod : node->pods()) uses += pod->namespace_() == name_space && Uses(*pod, claim);
  }
  return uses;
}

void FakeCluster::AppendColumns(const NodeInfo& node) {
  columns_.live.push_back(1);
  columns_.unschedulable.push_back(node.node().spec.unschedulable ? 1 : 0);
  columns_.allocatable_milli_cpu.push_back(node.allocatable().milli_cpu);
  columns_.allocatable_memory.push_back(node.allocatable().memory);
  columns_.allocatable_ephemeral_storage.push_back(node.allocatable().ephemeral_storage);
  columns_.allowed_pod_number.push_back(node.allocatable().allowed_pod_number);
  columns_.taint_set.push_back(static_cast<uint32_t>(columns_.taint_sets.size()));
  columns_.taint_sets.emplace_back(node.taints().begin(), node.taints().end());
  // The columns that pods change.
  for (std::vector<int64_t>* column :
       {&columns_.requested_milli_cpu, &columns_.requested_memory, &columns_.requested_ephemeral_storage,
        &columns_.non_zero_milli_cpu, &columns_.non_zero_memory, &columns_.pod_count}) {
    column->push_back(0);
  }
  columns_.generation.push_back(0);
  columns_.WritePods(node);
}

}  // namespace berth::testing
