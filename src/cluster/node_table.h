// NodeTable: nodes by dense index, as rows (NodeInfo) and as columns (NodeColumns, label columns), kept equal.
// Indices of removed nodes are reused, the lowest first. Not thread-safe; owned by the scheduling thread.
//
// Invariants: after every public call, columns()[i] equals row(i), for each live i; nodes() is in index order, so that
// the indices alone determine the order.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/image_table.h"
#include "cluster/node_order.h"
#include "framework/node_columns.h"
#include "framework/node_info.h"

namespace berth::cluster {

class NodeTable {
 public:
  // Adds the node, or replaces the Node object of one that exists (its pods stay). True when it was new.
  bool Upsert(std::shared_ptr<const api::Node> node);
  // A new node with the given index, which must be free.
  void Insert(std::shared_ptr<const api::Node> node, framework::NodeIndex index);
  // Returns the row as it was, or null when there is no such node.
  std::unique_ptr<framework::NodeInfo> Remove(std::string_view name);

  const framework::NodeInfo* Find(std::string_view name) const;
  // The index must be that of a live node.
  const framework::NodeInfo& row(framework::NodeIndex index) const { return *slots_[index]; }
  // Likewise: its name.
  const Symbol& name(framework::NodeIndex index) const { return names_[index]; }
  // Likewise.
  void AddPod(framework::NodeIndex index, framework::PodInfoPtr pod);
  void RemovePod(framework::NodeIndex index, const framework::PodInfoPtr& pod);
  // The node must be in the table.
  void SetImages(std::string_view name, ImageTable::NodeImages images);

  std::span<const framework::NodeInfo* const> nodes() const { return live_; }
  // The same, in the order in which a search that ends early goes through them.
  std::span<const framework::NodeInfo* const> nodes_in_order() const { return order_.List(); }
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const;
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const;
  const framework::NodeColumns& columns() const { return columns_; }
  const framework::LabelColumn& label_column(const Symbol& key) const;
  const ChangeLog& changes() const { return changes_; }
  // Live and free ones.
  size_t slot_count() const { return slots_.size(); }
  NodeOrder& order() { return order_; }
  const NodeOrder& order() const { return order_; }

 private:
  // One label's column with what is needed to keep its value ids dense.
  struct IndexedLabelColumn {
    framework::LabelColumn column;
    std::unordered_map<Symbol, int32_t> ids;
    std::vector<uint32_t> uses;  // by value id
    std::vector<int32_t> free_ids;
    size_t shared_values = 0;  // values that several nodes have

    void Set(framework::NodeIndex node, const Symbol* value);
  };

  framework::NodeIndex NewSlot();
  void AddSlot();
  void Fill(framework::NodeIndex index, std::shared_ptr<const api::Node> node);
  framework::NodeInfo& RowOf(std::string_view name);
  // Called after a change to the Node object.
  void SyncNodeColumns(const framework::NodeInfo& row);
  void ClearColumns(framework::NodeIndex index);
  uint32_t InternTaints(std::span<const api::Taint> taints);
  void ReleaseTaints(uint32_t set);

  std::vector<std::unique_ptr<framework::NodeInfo>> slots_;
  std::set<framework::NodeIndex> free_;
  std::vector<Symbol> names_;                                                        // by index; empty where free
  boost::unordered_flat_map<std::string_view, framework::NodeIndex> index_by_name_;  // the text is in names_
  std::vector<const framework::NodeInfo*> live_;                                     // by index
  NodeOrder order_;
  framework::NodeColumns columns_;
  std::vector<uint32_t> taint_set_uses_;
  // Long enough for many signatures to take turns; the log keeps alive every pod in it that has since been replaced.
  ChangeLog changes_{size_t{1} << 10};

  // Built on first use; pods with affinity are rare, so the lists are rebuilt when one appears or goes.
  mutable std::unordered_map<Symbol, std::unique_ptr<IndexedLabelColumn>> label_columns_;
  mutable std::vector<const framework::NodeInfo*> with_affinity_;
  mutable std::vector<const framework::NodeInfo*> with_anti_affinity_;
  mutable bool affinity_lists_stale_ = false;
};

}  // namespace berth::cluster
