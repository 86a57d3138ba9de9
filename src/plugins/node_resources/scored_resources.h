// ScoredResources: the resources a scoring rule weighs, and how to read them from a pod and a node, by row or column.
// Immutable; shared by the plugins that score resources, which differ in rule and basis.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "config/feature_gates.h"
#include "config/plugin_args.h"
#include "framework/node_columns.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "framework/pod_resources.h"

namespace berth::dra {
class Inventory;
}

namespace berth::plugins {

// One resource on one node, as a rule sees it.
struct ResourceUse {
  int64_t capacity = 0;  // 0: the resource does not count on this node
  int64_t used = 0;      // by the pods already there
  int64_t with_pod = 0;  // the same with the incoming pod
  int64_t weight = 0;
};

class ScoredResources {
 public:
  enum class Basis : uint8_t {
    // What pods request, the incoming one like the others.
    kRequested,
    // cpu and memory with a default for containers without requests. For the incoming pod this is the sum over its
    // containers whatever spec.resources says, while other pods count with their pod-level requests, as upstream.
    kNonZeroRequested,
  };

  // With an inventory, resources that device classes provide count by their devices where a node has none of its own.
  ScoredResources(std::span<const config::ResourceSpec> resources, Basis basis, const config::FeatureGates& gates,
                  dra::Inventory* inventory = nullptr);

  bool empty() const { return resources_.empty(); }
  // What the incoming pod adds to each resource, in the same order.
  std::vector<int64_t> Demand(const framework::PodInfo& pod) const;

  // Whether a score for this demand counts devices, which change independently of the node.
  bool CountsDevices(std::span<const int64_t> demand) const;

  // rule(uses) for one node.
  template <class Rule>
  int64_t Score(const Rule& rule, std::span<const int64_t> demand, const framework::NodeInfo& node) const;

  // The same for a range of nodes, or a list. False when the columns do not hold what the pod requests.
  template <class Rule>
  bool ScoreColumns(const Rule& rule, std::span<const int64_t> demand, const framework::NodeColumns& columns,
                    framework::NodeIndex begin, std::span<int64_t> scores) const {
    return ScoreAt(
        rule, demand, columns, [begin](size_t i) { return begin + i; }, scores);
  }
  template <class Rule>
  bool ScoreColumns(const Rule& rule, std::span<const int64_t> demand, const framework::NodeColumns& columns,
                    std::span<const framework::NodeIndex> nodes, std::span<int64_t> scores) const {
    return ScoreAt(
        rule, demand, columns, [nodes](size_t i) { return nodes[i]; }, scores);
  }

 private:
  enum class Kind : uint8_t {
    kCpu,
    kMemory,
    kEphemeralStorage,
    kScalar,
    kOther,  // counted on no node
  };
  struct Entry {
    Symbol name;
    int64_t weight;
    Kind kind;
  };
  struct Column {
    const int64_t* capacity;
    const int64_t* used;
    int64_t demand;
    int64_t weight;
  };
  // More resources than this are scored from rows, with an allocation.
  static constexpr size_t kFew = 8;
  struct Columns {
    std::array<Column, kFew> entries;
    size_t size = 0;
  };

  static Kind KindOf(const Symbol& name);
  bool DemandIsInPodInfo(const framework::PodInfo& pod) const;
  ResourceUse Read(const Entry& entry, int64_t demand, const framework::NodeInfo& node) const;
  bool Select(std::span<const int64_t> demand, const framework::NodeColumns& columns, Columns& selected) const;
  template <class Rule, class At>
  bool ScoreAt(const Rule& rule, std::span<const int64_t> demand, const framework::NodeColumns& columns, const At& at,
               std::span<int64_t> scores) const;

  std::vector<Entry> resources_;
  Basis basis_;
  framework::PodRequestOptions options_;
  dra::Inventory* inventory_ = nullptr;
  bool has_other_ = false;
};

template <class Rule>
int64_t ScoredResources::Score(const Rule& rule, std::span<const int64_t> demand,
                               const framework::NodeInfo& node) const {
  std::array<ResourceUse, kFew> few;
  std::vector<ResourceUse> many;
  if (resources_.size() > kFew) many.resize(resources_.size());
  const std::span<ResourceUse> uses =
      many.empty() ? std::span<ResourceUse>(few).first(resources_.size()) : std::span<ResourceUse>(many);
  for (size_t i = 0; i < resources_.size(); ++i) uses[i] = Read(resources_[i], demand[i], node);
  return rule(std::span<const ResourceUse>(uses));
}

template <class Rule, class At>
bool ScoredResources::ScoreAt(const Rule& rule, std::span<const int64_t> demand, const framework::NodeColumns& columns,
                              const At& at, std::span<int64_t> scores) const {
  Columns selected;
  if (!Select(demand, columns, selected)) return false;
  std::array<ResourceUse, kFew> uses;
  const std::span<const ResourceUse> all = std::span<const ResourceUse>(uses).first(selected.size);
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t r = 0; r < selected.size; ++r) {
      const Column& column = selected.entries[r];
      const size_t node = at(i);
      const int64_t used = column.used[node];
      uses[r] = {column.capacity[node], used, framework::WrappingAdd(used, column.demand), column.weight};
    }
    scores[i] = rule(all);
  }
  return true;
}

}  // namespace berth::plugins
