// TopologyTallies: sums per topology domain, for the few topology keys that affinity terms name. One table per key,
// indexed by the dense domain ids of the cluster's label columns; valid while Node objects do not change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/symbol.h"
#include "framework/cluster_view.h"
#include "framework/node_traits.h"

namespace berth::plugins {

class TopologyTallies {
 public:
  class Table {
   public:
    // The sum of the node's domain; 0 when the node lacks the label.
    int64_t Get(framework::NodeIndex node) const { return sums_[PlaceOf(node)]; }
    bool HasLabel(framework::NodeIndex node) const {
      return column_->value_id[node] != framework::LabelColumn::kAbsent;
    }
    // Every domain's sum is 0.
    bool all_zero() const { return nonzero_ == 0; }

    // For passes over many nodes: the sum of node n is by_place()[domains()[n] + 1]. Place 0 is for nodes without the
    // label and holds 0.
    const int32_t* domains() const { return column_->value_id.data(); }
    const int64_t* by_place() const {
      CHECK_WHY(column_->values.size() < sums_.size(), "nodes changed since pods were tallied");
      return sums_.data();
    }
    // By place, whether the sum is above 0: all that a filter needs, in an eighth of the memory.
    const uint8_t* positive_by_place() const {
      CHECK_WHY(column_->values.size() < sums_.size(), "nodes changed since pods were tallied");
      return positive_.data();
    }

    const framework::LabelColumn& column() const { return *column_; }
    // How nodes differ: by domain or, where each node is alone in its domain, by sum; or only by whether it is above 0.
    framework::NodeTrait SumTrait() const {
      return column_->one_node_each ? framework::NodeTrait::EntryOf(*column_, by_place())
                                    : framework::NodeTrait::DomainOf(*column_);
    }
    framework::NodeTrait SignTrait() const {
      return column_->one_node_each ? framework::NodeTrait::MarkOf(*column_, positive_by_place())
                                    : framework::NodeTrait::DomainOf(*column_);
    }

   private:
    friend class TopologyTallies;
    Table(const Symbol& topology_key, const framework::LabelColumn& column)
        : topology_key_(topology_key),
          column_(&column),
          sums_(column.values.size() + 1, 0),
          positive_(sums_.size(), 0) {}

    size_t PlaceOf(framework::NodeIndex node) const {
      const auto place = static_cast<size_t>(column_->value_id[node] + 1);
      CHECK_WHY(place < sums_.size(), "nodes changed since pods were tallied");
      return place;
    }

    Symbol topology_key_;
    const framework::LabelColumn* column_;
    std::vector<int64_t> sums_;      // by domain + 1
    std::vector<uint8_t> positive_;  // by domain + 1
    int64_t nonzero_ = 0;            // domains whose sum is not 0
  };

  explicit TopologyTallies(const framework::ClusterView& cluster) : cluster_(&cluster) {}

  // The key's table, created on first use.
  Table& TableFor(const Symbol& topology_key) {
    for (Table& table : tables_) {
      if (table.topology_key_ == topology_key) return table;
    }
    tables_.push_back(Table(topology_key, cluster_->label_column(topology_key)));
    return tables_.back();
  }
  std::span<const Table> tables() const { return tables_; }

  // Adds to the node's domain. False, with nothing changed, when the node lacks the label.
  bool Add(const Symbol& topology_key, framework::NodeIndex node, int64_t delta) {
    Table& table = TableFor(topology_key);
    if (!table.HasLabel(node)) return false;
    const size_t place = table.PlaceOf(node);
    int64_t& sum = table.sums_[place];
    const bool was_zero = sum == 0;
    sum += delta;
    table.positive_[place] = sum > 0;
    if (was_zero != (sum == 0)) {
      table.nonzero_ += was_zero ? 1 : -1;
      nonzero_ += was_zero ? 1 : -1;
    }
    return true;
  }

  bool all_zero() const { return nonzero_ == 0; }

 private:
  const framework::ClusterView* cluster_;
  std::vector<Table> tables_;
  int64_t nonzero_ = 0;  // over all tables
};

}  // namespace berth::plugins
