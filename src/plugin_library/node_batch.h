// NodeBatch: nodes as a library's plugin sees them. Made for one call, from whatever the caller has: a range of the
// cluster's columns (nothing is copied), a list of nodes, or rows that may be what-if copies.
#pragma once

#include <berth_plugin.h>

#include <array>
#include <list>
#include <span>
#include <string_view>
#include <vector>

#include "framework/cluster_view.h"

// The ABI's name for a label key.
struct berth_label_key {
  berth::Symbol symbol;
};

namespace berth::plugin_library {

// A null address means "none", so "" must have another.
inline berth_string ToC(std::string_view text) { return {text.data() ? text.data() : "", text.size()}; }
inline std::string_view ToView(berth_string text) { return {text.data ? text.data : "", text.size}; }

class NodeBatch {
 public:
  // All arguments must outlive the batch.
  NodeBatch(const framework::ClusterView& cluster, const framework::NodeColumns& columns, framework::NodeIndex begin,
            size_t count);
  NodeBatch(const framework::ClusterView& cluster, const framework::NodeColumns& columns,
            std::span<const framework::NodeIndex> nodes);
  NodeBatch(const framework::ClusterView& cluster, std::span<const framework::NodeInfo* const> rows);
  NodeBatch(const NodeBatch&) = delete;
  NodeBatch& operator=(const NodeBatch&) = delete;

  const berth_nodes* view() const { return &view_; }
  static NodeBatch& Of(const berth_nodes* nodes) {
    return *const_cast<NodeBatch*>(static_cast<const NodeBatch*>(nodes->host));
  }

  // Null if there is no node.
  const framework::NodeInfo* row(uint32_t i) const;
  const berth_string* names();
  void FillLabels(const Symbol& key, berth_label_column& column);

 private:
  static constexpr size_t kNumbers = 10;  // columns of int64_t
  struct OwnLabels {
    std::vector<int32_t> ids;
    std::vector<Symbol> values;
  };

  void PointIntoColumns(const framework::NodeColumns& columns, framework::NodeIndex begin);
  // Points the columns at copies of `count` nodes, column after column.
  void PointIntoCopies(size_t count);
  // In the order of view_'s columns.
  static void CopyRow(const framework::NodeInfo& row, std::span<int64_t, kNumbers> numbers);

  const framework::ClusterView& cluster_;
  berth_nodes view_{};
  // Which nodes: one of these.
  framework::NodeIndex begin_ = 0;
  std::span<const framework::NodeIndex> list_;
  std::span<const framework::NodeInfo* const> rows_;

  std::array<int64_t, kNumbers> one_;  // a single node needs no allocation
  std::array<uint8_t, 2> one_flags_;
  std::vector<int64_t> numbers_;
  std::vector<uint8_t> flags_;
  int64_t* copies_ = nullptr;
  uint8_t* flag_copies_ = nullptr;
  std::vector<berth_string> names_;
  std::list<OwnLabels> labels_;  // with stable addresses; unlike a deque, an empty list allocates nothing
};

}  // namespace berth::plugin_library
