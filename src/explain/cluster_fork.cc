#include "explain/cluster_fork.h"

#include <algorithm>

#include "base/check.h"

namespace berth::explain {

using framework::LabelColumn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;

namespace {

std::vector<const NodeInfo*> CopyOf(std::span<const NodeInfo* const> nodes) { return {nodes.begin(), nodes.end()}; }

void SetLabel(LabelColumn& column, NodeIndex node, const Symbol* value) {
  if (!value) {
    column.value_id[node] = LabelColumn::kAbsent;
    return;
  }
  const auto found = std::find(column.values.begin(), column.values.end(), *value);
  column.value_id[node] = static_cast<int32_t>(found - column.values.begin());
  if (found == column.values.end()) column.values.push_back(*value);
}

bool SaysTheSame(const LabelColumn& column, NodeIndex node, const Symbol* value) {
  const int32_t id = column.value_id[node];
  if (id == LabelColumn::kAbsent || !value) return id == LabelColumn::kAbsent && !value;
  return column.values[static_cast<size_t>(id)] == *value;
}

void SetTaints(NodeColumns& columns, const NodeInfo& row) {
  columns.taint_set[row.index()] = static_cast<uint32_t>(columns.taint_sets.size());
  columns.taint_sets.emplace_back(row.taints().begin(), row.taints().end());
}

}  // namespace

ClusterFork::ClusterFork(const framework::ClusterView& original)
    : original_(original),
      nodes_(CopyOf(original.nodes())),
      with_affinity_(CopyOf(original.nodes_with_affinity_pods())),
      with_anti_affinity_(CopyOf(original.nodes_with_required_anti_affinity_pods())) {}

void ClusterFork::ReplaceNode(std::shared_ptr<const api::Node> node) {
  const NodeInfo* before = Find(node->metadata.name);
  CHECK_WHY(before != nullptr, "a fork changes a node that does not exist");
  auto after = std::make_unique<NodeInfo>(*before);
  after->SetNode(std::move(node));
  ReplaceRow(*before, std::move(after));
}

void ClusterFork::RemovePod(std::string_view node_name, const framework::PodInfo& pod) {
  const NodeInfo* before = Find(node_name);
  CHECK_WHY(before != nullptr, "a fork takes a pod off a node that does not exist");
  auto after = std::make_unique<NodeInfo>(*before);
  after->RemovePod(pod);
  if (after->pods_with_affinity().empty()) std::erase(with_affinity_, before);
  if (after->pods_with_required_anti_affinity().empty()) std::erase(with_anti_affinity_, before);
  ReplaceRow(*before, std::move(after));
}

void ClusterFork::ReplaceRow(const NodeInfo& before, std::unique_ptr<NodeInfo> after) {
  for (std::vector<const NodeInfo*>* list : {&nodes_, &with_affinity_, &with_anti_affinity_}) {
    std::replace(list->begin(), list->end(), &before, static_cast<const NodeInfo*>(after.get()));
  }
  replaced_[after->index()] = std::move(after);
  columns_.reset();
  label_columns_.clear();
}

const NodeInfo* ClusterFork::Find(std::string_view node_name) const {
  const NodeInfo* found = original_.Find(node_name);
  return found ? &row(found->index()) : nullptr;
}

const NodeInfo& ClusterFork::row(NodeIndex index) const {
  const auto found = replaced_.find(index);
  return found == replaced_.end() ? original_.row(index) : *found->second;
}

const NodeColumns& ClusterFork::columns() const {
  if (!columns_) {
    columns_ = original_.columns();
    for (const auto& [index, row] : replaced_) {
      columns_->WriteNode(*row);
      SetTaints(*columns_, *row);
    }
  }
  return *columns_;
}

const LabelColumn& ClusterFork::label_column(const Symbol& key) const {
  if (const auto made = label_columns_.find(key); made != label_columns_.end()) return made->second;
  const LabelColumn& original = original_.label_column(key);
  const bool same = std::all_of(replaced_.begin(), replaced_.end(), [&](const auto& entry) {
    return SaysTheSame(original, entry.first, entry.second->labels().Find(key));
  });
  if (same) return original;
  LabelColumn& column = label_columns_[key];
  column = original;
  column.one_node_each = false;
  for (const auto& [index, row] : replaced_) SetLabel(column, index, row->labels().Find(key));
  return column;
}

}  // namespace berth::explain
