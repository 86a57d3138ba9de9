// NodeColumns: the hot numbers of all nodes as arrays, so that a filter or score over thousands of nodes is a pass over
// memory. Position i of every column belongs to the node with index i; positions whose node is gone have live[i] == 0
// and hold zeros. Written by the cluster layer only, from NodeInfo rows; plugins read.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "api/taint.h"
#include "base/symbol.h"
#include "framework/node_info.h"

namespace berth::framework {

// The values of one label key over all nodes, as small dense ids: equal ids mean equal values, kAbsent means no such
// label.
struct LabelColumn {
  static constexpr int32_t kAbsent = -1;
  std::vector<int32_t> value_id;  // by node index
  std::vector<Symbol> values;     // by value id
  // No two nodes have the same value. False when that is not known.
  bool one_node_each = false;
};

struct NodeColumns {
  std::vector<uint8_t> live;
  std::vector<uint8_t> unschedulable;  // spec.unschedulable
  std::vector<int64_t> allocatable_milli_cpu;
  std::vector<int64_t> allocatable_memory;
  std::vector<int64_t> allocatable_ephemeral_storage;
  std::vector<int64_t> allowed_pod_number;
  std::vector<int64_t> requested_milli_cpu;
  std::vector<int64_t> requested_memory;
  std::vector<int64_t> requested_ephemeral_storage;
  std::vector<int64_t> non_zero_milli_cpu;
  std::vector<int64_t> non_zero_memory;
  std::vector<int64_t> pod_count;
  std::vector<uint32_t> taint_set;  // id into taint_sets; nodes share a handful
  std::vector<std::vector<api::Taint>> taint_sets;
  std::vector<uint64_t> generation;

  size_t size() const { return live.size(); }

  // Writes the row at its index, except its taints: the owner of the columns maintains the taint sets.
  void WriteNode(const NodeInfo& row);
  // Writes only what changes with the pods on the node.
  void WritePods(const NodeInfo& row);
};

inline void NodeColumns::WriteNode(const NodeInfo& row) {
  const NodeIndex i = row.index();
  live[i] = 1;
  unschedulable[i] = row.node().spec.unschedulable;
  allocatable_milli_cpu[i] = row.allocatable().milli_cpu;
  allocatable_memory[i] = row.allocatable().memory;
  allocatable_ephemeral_storage[i] = row.allocatable().ephemeral_storage;
  allowed_pod_number[i] = row.allocatable().allowed_pod_number;
  WritePods(row);
}

inline void NodeColumns::WritePods(const NodeInfo& row) {
  const NodeIndex i = row.index();
  requested_milli_cpu[i] = row.requested().milli_cpu;
  requested_memory[i] = row.requested().memory;
  requested_ephemeral_storage[i] = row.requested().ephemeral_storage;
  non_zero_milli_cpu[i] = row.non_zero_milli_cpu();
  non_zero_memory[i] = row.non_zero_memory();
  pod_count[i] = static_cast<int64_t>(row.pods().size());
  generation[i] = row.generation();
}

}  // namespace berth::framework
