// For tests: the contents of a Cluster as text, for comparing two moments, and whether its columns agree with its rows.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster.h"

namespace berth::cluster::testing {

inline std::string NamesOf(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

inline std::string NamesOf(const std::vector<framework::PodInfoPtr>& pods) {
  std::vector<std::string> names;
  for (const framework::PodInfoPtr& pod : pods) names.push_back(pod->Key());
  return NamesOf(std::move(names));
}

inline std::string NamesOf(std::span<const framework::NodeInfo* const> nodes) {
  std::vector<std::string> names;
  for (const framework::NodeInfo* node : nodes) names.push_back(node->name());
  return NamesOf(std::move(names));
}

inline std::string PortsOf(const framework::NodeInfo& node) {
  std::vector<std::string> ports;
  for (const framework::HostPort& port : node.used_ports().ports()) {
    ports.push_back(fmt::format("{}:{}/{}", port.ip, port.port, port.protocol));
  }
  return NamesOf(std::move(ports));
}

inline std::string TextOf(const framework::Resource& amounts) {
  std::string text =
      fmt::format("cpu={} memory={} storage={}", amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage);
  for (const auto& [name, amount] : amounts.scalar) text += fmt::format(" {}={}", name.str(), amount);
  return text;
}

// Everything that plugins can see of the pods on nodes. Generations are left out: they grow with every change.
inline std::string Picture(const Cluster& cluster, const std::vector<std::string>& claims = {}) {
  std::vector<std::string> lines;
  for (const framework::NodeInfo* node : cluster.nodes()) {
    lines.push_back(
        fmt::format("{} [{}] requested: {} non-zero: {} {} pods: {}affinity: {}anti-affinity: {}ports: {}\n",
                    node->name(), node->index(), TextOf(node->requested()), node->non_zero_milli_cpu(),
                    node->non_zero_memory(), NamesOf(node->pods()), NamesOf(node->pods_with_affinity()),
                    NamesOf(node->pods_with_required_anti_affinity()), PortsOf(*node)));
  }
  std::string text = NamesOf(std::move(lines));
  text += "nodes with affinity: " + NamesOf(cluster.nodes_with_affinity_pods());
  text += "with anti-affinity: " + NamesOf(cluster.nodes_with_required_anti_affinity_pods());
  for (const std::string& claim : claims)
    text += fmt::format("{} used {} times ", claim, cluster.PodsUsingClaim("default", claim));
  text += fmt::format("{} pods", cluster.pod_count());
  return text;
}

// Empty when the columns agree with the rows everywhere; otherwise the first difference.
inline std::string FirstDisagreement(const framework::ClusterView& cluster,
                                     const std::vector<Symbol>& label_keys = {}) {
  const framework::NodeColumns& columns = cluster.columns();
  std::vector<uint8_t> live(columns.size(), 0);
  for (const framework::NodeInfo* node : cluster.nodes()) {
    const framework::NodeIndex i = node->index();
    if (i >= columns.size()) return fmt::format("{} lies beyond the columns", node->name());
    if (live[i]) return fmt::format("two nodes have index {}", i);
    live[i] = 1;
    if (cluster.Find(node->name()) != node) return fmt::format("{} is not found by its name", node->name());
    const auto differs = [&](const char* what, auto row, auto column) {
      return static_cast<int64_t>(row) == static_cast<int64_t>(column)
                 ? std::string()
                 : fmt::format("{} of {}: row {} column {}", what, node->name(), row, column);
    };
    const std::vector<api::Taint>& taints = columns.taint_sets.at(columns.taint_set[i]);
    const bool same_taints = std::equal(taints.begin(), taints.end(), node->taints().begin(), node->taints().end(),
                                        [](const api::Taint& a, const api::Taint& b) {
                                          return a.key == b.key && a.value == b.value && a.effect == b.effect;
                                        });
    for (const std::string& difference : {
             differs("live", 1, columns.live[i]),
             differs("unschedulable", node->node().spec.unschedulable, columns.unschedulable[i]),
             differs("allocatable cpu", node->allocatable().milli_cpu, columns.allocatable_milli_cpu[i]),
             differs("allocatable memory", node->allocatable().memory, columns.allocatable_memory[i]),
             differs("allocatable storage", node->allocatable().ephemeral_storage,
                     columns.allocatable_ephemeral_storage[i]),
             differs("allowed pods", node->allocatable().allowed_pod_number, columns.allowed_pod_number[i]),
             differs("requested cpu", node->requested().milli_cpu, columns.requested_milli_cpu[i]),
             differs("requested memory", node->requested().memory, columns.requested_memory[i]),
             differs("requested storage", node->requested().ephemeral_storage, columns.requested_ephemeral_storage[i]),
             differs("non-zero cpu", node->non_zero_milli_cpu(), columns.non_zero_milli_cpu[i]),
             differs("non-zero memory", node->non_zero_memory(), columns.non_zero_memory[i]),
             differs("pod count", node->pods().size(), columns.pod_count[i]),
             differs("generation", node->generation(), columns.generation[i]),
             differs("same taints", 1, same_taints),
         }) {
      if (!difference.empty()) return difference;
    }
    for (const Symbol& key : label_keys) {
      const framework::LabelColumn& column = cluster.label_column(key);
      const Symbol* value = node->labels().Find(key);
      const int32_t id = column.value_id.at(i);
      if ((value == nullptr) != (id == framework::LabelColumn::kAbsent))
        return fmt::format("presence of {} on {}", key.str(), node->name());
      if (value && !(column.values.at(id) == *value)) return fmt::format("value of {} on {}", key.str(), node->name());
    }
  }
  for (const Symbol& key : label_keys) {
    const framework::LabelColumn& column = cluster.label_column(key);
    std::set<int32_t> seen;
    bool one_node_each = true;
    for (const int32_t id : column.value_id) {
      if (id != framework::LabelColumn::kAbsent && !seen.insert(id).second) one_node_each = false;
    }
    // one_node_each may be false although no two nodes share a value.
    if (column.one_node_each && !one_node_each) return fmt::format("sharing of values of {}", key.str());
  }
  for (size_t i = 0; i < live.size(); ++i) {
    if (columns.live[i] != live[i]) return fmt::format("liveness of index {}", i);
    if (!live[i] &&
        (columns.requested_milli_cpu[i] != 0 || columns.allocatable_milli_cpu[i] != 0 || columns.pod_count[i] != 0)) {
      return fmt::format("index {} is dead but not zero", i);
    }
  }
  return {};
}

}  // namespace berth::cluster::testing
