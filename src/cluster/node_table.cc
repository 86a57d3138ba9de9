#include "cluster/node_table.h"

#include <algorithm>

#include "base/check.h"

namespace berth::cluster {

using framework::LabelColumn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfoPtr;

namespace {

// Calls visit on every per-node column, whatever its element type.
template <class Visit>
void ForEachColumn(NodeColumns& columns, Visit&& visit) {
  visit(columns.live);
  visit(columns.unschedulable);
  visit(columns.allocatable_milli_cpu);
  visit(columns.allocatable_memory);
  visit(columns.allocatable_ephemeral_storage);
  visit(columns.allowed_pod_number);
  visit(columns.requested_milli_cpu);
  visit(columns.requested_memory);
  visit(columns.requested_ephemeral_storage);
  visit(columns.non_zero_milli_cpu);
  visit(columns.non_zero_memory);
  visit(columns.pod_count);
  visit(columns.taint_set);
  visit(columns.generation);
}

// The time a taint was added does not affect who tolerates it.
bool SameTaints(std::span<const api::Taint> a, std::span<const api::Taint> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const api::Taint& x, const api::Taint& y) {
    return x.key == y.key && x.value == y.value && x.effect == y.effect;
  });
}

constexpr auto kByIndex = [](const NodeInfo* node, NodeIndex index) { return node->index() < index; };

}  // namespace

bool NodeTable::Upsert(std::shared_ptr<const api::Node> node) {
  if (const auto known = index_by_name_.find(node->metadata.name); known != index_by_name_.end()) {
    NodeInfo& row = *slots_[known->second];
    row.SetNode(std::move(node));
    order_.Update(row);
    SyncNodeColumns(row);
    return false;
  }
  Fill(NewSlot(), std::move(node));
  return true;
}

void NodeTable::Insert(std::shared_ptr<const api::Node> node, NodeIndex index) {
  while (slots_.size() <= index) {
    free_.insert(static_cast<NodeIndex>(slots_.size()));
    AddSlot();
  }
  CHECK_WHY(free_.erase(index) == 1, "another node has this index");
  Fill(index, std::move(node));
}

void NodeTable::Fill(NodeIndex index, std::shared_ptr<const api::Node> node) {
  slots_[index] = std::make_unique<NodeInfo>(std::move(node), index);
  NodeInfo& row = *slots_[index];
  names_[index] = Symbol(row.name());
  index_by_name_[names_[index].str()] = index;
  live_.insert(std::lower_bound(live_.begin(), live_.end(), index, kByIndex), &row);
  order_.Add(row);
  columns_.taint_set[index] = InternTaints(row.taints());
  SyncNodeColumns(row);
}

std::unique_ptr<NodeInfo> NodeTable::Remove(std::string_view name) {
  const auto it = index_by_name_.find(name);
  if (it == index_by_name_.end()) return nullptr;
  const NodeIndex index = it->second;
  index_by_name_.erase(it);
  names_[index] = Symbol();

  live_.erase(std::lower_bound(live_.begin(), live_.end(), index, kByIndex));
  order_.Remove(index);

  std::unique_ptr<NodeInfo> row = std::move(slots_[index]);
  if (!row->pods_with_affinity().empty()) affinity_lists_stale_ = true;
  ClearColumns(index);
  free_.insert(index);
  return row;
}

const NodeInfo* NodeTable::Find(std::string_view name) const {
  const auto it = index_by_name_.find(name);
  return it == index_by_name_.end() ? nullptr : slots_[it->second].get();
}

NodeInfo& NodeTable::RowOf(std::string_view name) {
  const auto it = index_by_name_.find(name);
  CHECK_WHY(it != index_by_name_.end(), "change to a node that is not in the table");
  return *slots_[it->second];
}

void NodeTable::AddPod(NodeIndex index, PodInfoPtr pod) {
  NodeInfo& row = *slots_[index];
  if (pod->has_affinity_terms()) affinity_lists_stale_ = true;
  changes_.Append({row.index(), pod, +1});
  row.AddPod(std::move(pod));
  columns_.WritePods(row);
}

void NodeTable::RemovePod(NodeIndex index, const PodInfoPtr& pod) {
  NodeInfo& row = *slots_[index];
  if (!row.RemovePod(*pod)) return;
  if (pod->has_affinity_terms()) affinity_lists_stale_ = true;
  changes_.Append({row.index(), pod, -1});
  columns_.WritePods(row);
}

void NodeTable::SetImages(std::string_view name, ImageTable::NodeImages images) {
  NodeInfo& row = RowOf(name);
  row.SetImages(std::move(images));
  SyncNodeColumns(row);
}

std::span<const NodeInfo* const> NodeTable::nodes_with_affinity_pods() const {
  if (affinity_lists_stale_) {
    with_affinity_.clear();
    with_anti_affinity_.clear();
    for (const NodeInfo* row : live_) {
      if (!row->pods_with_affinity().empty()) with_affinity_.push_back(row);
      if (!row->pods_with_required_anti_affinity().empty()) with_anti_affinity_.push_back(row);
    }
    affinity_lists_stale_ = false;
  }
  return with_affinity_;
}

std::span<const NodeInfo* const> NodeTable::nodes_with_required_anti_affinity_pods() const {
  nodes_with_affinity_pods();
  return with_anti_affinity_;
}

const LabelColumn& NodeTable::label_column(const Symbol& key) const {
  std::unique_ptr<IndexedLabelColumn>& indexed = label_columns_[key];
  if (!indexed) {
    indexed = std::make_unique<IndexedLabelColumn>();
    indexed->column.value_id.assign(slots_.size(), LabelColumn::kAbsent);
    for (const NodeInfo* row : live_) indexed->Set(row->index(), row->labels().Find(key));
  }
  return indexed->column;
}

void NodeTable::IndexedLabelColumn::Set(NodeIndex node, const Symbol* value) {
  const int32_t old_id = column.value_id[node];
  if (value != nullptr && old_id != LabelColumn::kAbsent && column.values[old_id] == *value) return;
  if (old_id != LabelColumn::kAbsent) {
    if (--uses[old_id] == 0) {
      ids.erase(column.values[old_id]);
      column.values[old_id] = Symbol();
      free_ids.push_back(old_id);
    } else if (uses[old_id] == 1) {
      --shared_values;
    }
    column.one_node_each = shared_values == 0;
  }
  if (value == nullptr) {
    column.value_id[node] = LabelColumn::kAbsent;
    return;
  }
  auto [it, added] = ids.try_emplace(*value, 0);
  if (added) {
    if (free_ids.empty()) {
      it->second = static_cast<int32_t>(column.values.size());
      column.values.emplace_back();
      uses.push_back(0);
    } else {
      it->second = free_ids.back();
      free_ids.pop_back();
    }
    column.values[it->second] = *value;
  }
  if (++uses[it->second] == 2) ++shared_values;
  column.one_node_each = shared_values == 0;
  column.value_id[node] = it->second;
}

NodeIndex NodeTable::NewSlot() {
  if (!free_.empty()) return free_.extract(free_.begin()).value();
  AddSlot();
  return static_cast<NodeIndex>(slots_.size() - 1);
}

void NodeTable::AddSlot() {
  slots_.emplace_back();
  names_.emplace_back();
  ForEachColumn(columns_, [](auto& column) { column.emplace_back(); });
  for (auto& [key, indexed] : label_columns_) indexed->column.value_id.push_back(LabelColumn::kAbsent);
}

void NodeTable::SyncNodeColumns(const NodeInfo& row) {
  const NodeIndex i = row.index();
  columns_.WriteNode(row);
  if (!SameTaints(columns_.taint_sets[columns_.taint_set[i]], row.taints())) {
    ReleaseTaints(columns_.taint_set[i]);
    columns_.taint_set[i] = InternTaints(row.taints());
  }
  for (auto& [key, indexed] : label_columns_) indexed->Set(i, row.labels().Find(key));
  changes_.Append({i, nullptr, 0});
}

void NodeTable::ClearColumns(NodeIndex index) {
  ReleaseTaints(columns_.taint_set[index]);
  ForEachColumn(columns_, [index](auto& column) { column[index] = {}; });
  for (auto& [key, indexed] : label_columns_) indexed->Set(index, nullptr);
  changes_.Append({index, nullptr, 0});
}

uint32_t NodeTable::InternTaints(std::span<const api::Taint> taints) {
  uint32_t unused = static_cast<uint32_t>(columns_.taint_sets.size());
  for (uint32_t set = 0; set < columns_.taint_sets.size(); ++set) {
    if (taint_set_uses_[set] == 0) {
      unused = set;
    } else if (SameTaints(columns_.taint_sets[set], taints)) {
      ++taint_set_uses_[set];
      return set;
    }
  }
  if (unused == columns_.taint_sets.size()) {
    columns_.taint_sets.emplace_back();
    taint_set_uses_.push_back(0);
  }
  columns_.taint_sets[unused].assign(taints.begin(), taints.end());
  taint_set_uses_[unused] = 1;
  return unused;
}

void NodeTable::ReleaseTaints(uint32_t set) {
  CHECK(taint_set_uses_[set] > 0);
  --taint_set_uses_[set];
}

}  // namespace berth::cluster
