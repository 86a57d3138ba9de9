// TopologyTallies: sums per topology domain, for the handful of topology keys that affinity terms name. One table per
// key, indexed by the dense domain ids of the cluster's label columns; good for the cycle it was made in.
#pragma once

#include <cstdint>
#include <vector>

#include "base/symbol.h"
#include "framework/cluster_view.h"

namespace berth::plugins {

class TopologyTallies {
 public:
  explicit TopologyTallies(const framework::ClusterView& cluster) : cluster_(&cluster) {}

  // Position of the key's table, made when there is none yet.
  size_t TableFor(const Symbol& topology_key) {
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (tables_[i].topology_key == topology_key) return i;
    }
    const framework::LabelColumn& column = cluster_->label_column(topology_key);
    tables_.push_back({topology_key, &column, std::vector<int64_t>(column.values.size(), 0)});
    return tables_.size() - 1;
  }

  // Adds to the node's domain. False, with nothing changed, when the node lacks the label.
  bool Add(const Symbol& topology_key, framework::NodeIndex node, int64_t delta) {
    Table& table = tables_[TableFor(topology_key)];
    const int32_t domain = table.column->value_id[node];
    if (domain == framework::LabelColumn::kAbsent) return false;
    const auto i = static_cast<size_t>(domain);
    if (i >= table.sums.size()) table.sums.resize(i + 1, 0);
    const bool was_zero = table.sums[i] == 0;
    table.sums[i] += delta;
    if (was_zero != (table.sums[i] == 0)) nonzero_ += was_zero ? 1 : -1;
    return true;
  }

  bool HasLabel(size_t table, framework::NodeIndex node) const {
    return tables_[table].column->value_id[node] != framework::LabelColumn::kAbsent;
  }
  // The sum of the node's domain; 0 when the node lacks the label.
  int64_t Get(size_t table, framework::NodeIndex node) const {
    const Table& asked = tables_[table];
    const auto domain = static_cast<size_t>(asked.column->value_id[node]);  // absent is beyond any table
    return domain < asked.sums.size() ? asked.sums[domain] : 0;
  }
  // Over all keys.
  int64_t SumOver(framework::NodeIndex node) const {
    int64_t sum = 0;
    for (size_t table = 0; table < tables_.size(); ++table) sum += Get(table, node);
    return sum;
  }
  bool AnyPositive(framework::NodeIndex node) const {
    if (nonzero_ == 0) return false;
    for (size_t table = 0; table < tables_.size(); ++table) {
      if (Get(table, node) > 0) return true;
    }
    return false;
  }
  // No domain has a sum other than 0.
  bool all_zero() const { return nonzero_ == 0; }

 private:
  struct Table {
    Symbol topology_key;
    const framework::LabelColumn* column;
    std::vector<int64_t> sums;  // by domain
  };

  const framework::ClusterView* cluster_;
  std::vector<Table> tables_;
  int64_t nonzero_ = 0;  // domains, over all tables
};

}  // namespace berth::plugins
