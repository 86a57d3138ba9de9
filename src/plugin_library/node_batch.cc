#include "plugin_library/node_batch.h"

#include <algorithm>
#include <unordered_map>

namespace berth::plugin_library {

using framework::LabelColumn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;

namespace {

bool IsLive(const NodeColumns& columns, NodeIndex node) { return node < columns.size() && columns.live[node]; }

}  // namespace

NodeBatch::NodeBatch(const framework::ClusterView& cluster, const NodeColumns& columns, NodeIndex begin, size_t count)
    : cluster_(cluster), begin_(begin) {
  view_.count = static_cast<uint32_t>(count);
  PointIntoColumns(columns, begin);
}

NodeBatch::NodeBatch(const framework::ClusterView& cluster, const NodeColumns& columns,
                     std::span<const NodeIndex> nodes)
    : cluster_(cluster) {
  view_.count = static_cast<uint32_t>(nodes.size());
  if (nodes.size() == 1) {
    begin_ = nodes.front();
    PointIntoColumns(columns, begin_);
    return;
  }
  list_ = nodes;
  PointIntoCopies(nodes.size());
  int64_t* copy = copies_;
  for (const std::vector<int64_t>* column :
       {&columns.allocatable_milli_cpu, &columns.allocatable_memory, &columns.allocatable_ephemeral_storage,
        &columns.allowed_pod_number, &columns.requested_milli_cpu, &columns.requested_memory,
        &columns.requested_ephemeral_storage, &columns.non_zero_milli_cpu, &columns.non_zero_memory,
        &columns.pod_count}) {
    for (const NodeIndex node : list_) *copy++ = (*column)[node];
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    flag_copies_[i] = columns.live[nodes[i]];
    flag_copies_[nodes.size() + i] = columns.unschedulable[nodes[i]];
  }
}

NodeBatch::NodeBatch(const framework::ClusterView& cluster, std::span<const NodeInfo* const> rows) : cluster_(cluster) {
  view_.count = static_cast<uint32_t>(rows.size());
  // The cluster's own row of a node is already in the columns; only a what-if copy has to be copied.
  if (rows.size() == 1) {
    const NodeIndex index = rows.front()->index();
    if (IsLive(cluster.columns(), index) && &cluster.row(index) == rows.front()) {
      begin_ = index;
      PointIntoColumns(cluster.columns(), index);
      return;
    }
  }
  rows_ = rows;
  PointIntoCopies(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::array<int64_t, kNumbers> numbers;
    CopyRow(*rows[i], numbers);
    for (size_t k = 0; k < kNumbers; ++k) copies_[k * rows.size() + i] = numbers[k];
    flag_copies_[i] = 1;
    flag_copies_[rows.size() + i] = rows[i]->node().spec.unschedulable;
  }
}

void NodeBatch::CopyRow(const NodeInfo& row, std::span<int64_t, kNumbers> numbers) {
  const framework::Resource& has = row.allocatable();
  const framework::Resource& used = row.requested();
  const std::array<int64_t, kNumbers> values = {
      has.milli_cpu,          has.memory,
      has.ephemeral_storage,  has.allowed_pod_number,
      used.milli_cpu,         used.memory,
      used.ephemeral_storage, row.non_zero_milli_cpu(),
      row.non_zero_memory(),  static_cast<int64_t>(row.pods().size()),
  };
  std::copy(values.begin(), values.end(), numbers.begin());
}

void NodeBatch::PointIntoColumns(const NodeColumns& columns, NodeIndex begin) {
  const uint32_t count = view_.count;
  view_ = {sizeof(berth_nodes),
           count,
           columns.live.data() + begin,
           columns.unschedulable.data() + begin,
           columns.allocatable_milli_cpu.data() + begin,
           columns.allocatable_memory.data() + begin,
           columns.allocatable_ephemeral_storage.data() + begin,
           columns.allowed_pod_number.data() + begin,
           columns.requested_milli_cpu.data() + begin,
           columns.requested_memory.data() + begin,
           columns.requested_ephemeral_storage.data() + begin,
           columns.non_zero_milli_cpu.data() + begin,
           columns.non_zero_memory.data() + begin,
           columns.pod_count.data() + begin,
           this};
}

void NodeBatch::PointIntoCopies(size_t count) {
  if (count == 1) {
    copies_ = one_.data();
    flag_copies_ = one_flags_.data();
  } else {
    numbers_.resize(kNumbers * count);
    flags_.resize(2 * count);
    copies_ = numbers_.data();
    flag_copies_ = flags_.data();
  }
  const auto column = [&](size_t k) { return copies_ + k * count; };
  view_ = {sizeof(berth_nodes),
           static_cast<uint32_t>(count),
           flag_copies_,
           flag_copies_ + count,
           column(0),
           column(1),
           column(2),
           column(3),
           column(4),
           column(5),
           column(6),
           column(7),
           column(8),
           column(9),
           this};
}

const NodeInfo* NodeBatch::row(uint32_t i) const {
  if (i >= view_.count || !view_.live[i]) return nullptr;
  if (!rows_.empty()) return rows_[i];
  return &cluster_.row(list_.empty() ? begin_ + i : list_[i]);
}

const berth_string* NodeBatch::names() {
  if (names_.empty()) {
    names_.resize(view_.count);
    for (uint32_t i = 0; i < view_.count; ++i) {
      const NodeInfo* node = row(i);
      names_[i] = node ? ToC(node->name()) : ToC({});
    }
  }
  return names_.data();
}

void NodeBatch::FillLabels(const Symbol& key, berth_label_column& column) {
  if (!rows_.empty()) {
    OwnLabels& own = labels_.emplace_back();
    own.ids.reserve(rows_.size());
    std::unordered_map<Symbol, int32_t> id_of;
    for (const NodeInfo* node : rows_) {
      const Symbol* value = node->labels().Find(key);
      if (value == nullptr) {
        own.ids.push_back(LabelColumn::kAbsent);
        continue;
      }
      const auto [known, added] = id_of.try_emplace(*value, static_cast<int32_t>(own.values.size()));
      if (added) own.values.push_back(*value);
      own.ids.push_back(known->second);
    }
    column.ids = own.ids.data();
    column.value_count = static_cast<uint32_t>(own.values.size());
    column.host = &own.values;
    return;
  }
  const LabelColumn& all = cluster_.label_column(key);
  column.value_count = static_cast<uint32_t>(all.values.size());
  column.host = &all.values;
  if (list_.empty()) {
    column.ids = all.value_id.data() + begin_;
    return;
  }
  OwnLabels& own = labels_.emplace_back();
  own.ids.reserve(list_.size());
  for (const NodeIndex node : list_) own.ids.push_back(all.value_id[node]);
  column.ids = own.ids.data();
}

}  // namespace berth::plugin_library
