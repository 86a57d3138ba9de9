// SpreadCosts: what the soft constraints of one pod hold against each node, kept current while pods come and go.
//
// Pods are counted per node and, from that, per domain, whether or not a feasible node stands there. So only the choice
// of domains depends on which nodes are feasible, and changing it costs no counting. Nodes are known by their
// generation: one that changed since it was counted is counted again, whether or not Change() was told.
//
// Good while Node objects stay as they are. Copyable; reading is safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/cluster_view.h"
#include "framework/plugin.h"
#include "plugins/pod_topology_spread/spread_constraint.h"

namespace berth::plugins {

class SpreadCosts {
 public:
  // Counts every pod. With `requires_every_key`, nodes that lack a topology key take no part.
  SpreadCosts(std::shared_ptr<const SpreadPlan> plan, const framework::ClusterView& cluster, bool requires_every_key);

  // Prices the domains of the nodes marked, by node index; others cost nothing. To be called before any score is asked
  // for.
  void ChooseAmong(std::span<const uint8_t> feasible);
  // Counts again where pods have changed.
  void Refresh(const framework::ClusterView& cluster);
  void Change(const framework::PodChange& change);

  int64_t ScoreOf(framework::NodeIndex node) const;
  // ScoreOf the nodes [begin, begin + scores.size()).
  void ScoreRange(framework::NodeIndex begin, std::span<int64_t> scores) const;

  // Nodes that take no part.
  bool Ignores(framework::NodeIndex node) const { return ignored_[node] != 0; }
  bool ignores_any() const { return ignores_any_; }
  size_t nodes() const { return rows_.size(); }

 private:
  // One constraint. A place is where pods of one domain are counted: position 0 is shared by nodes whose label is
  // missing or empty, the others are domain + 1. Where every host is its own domain, whatever its label says, a place
  // is a node index.
  struct Table {
    size_t selector = 0;  // in selected_
    bool per_host = false;
    int32_t max_skew = 1;
    double weight = 0;
    double highest = 0;              // no cost so far was higher
    std::vector<int32_t> place;      // by node; empty when per host
    std::vector<uint8_t> counts;     // by node: its pods add to its place, feasible or not; empty when per host
    std::vector<int64_t> pods;       // by place; empty when per host
    std::vector<uint8_t> candidate;  // by place: a feasible node is there
    // By node index when per host, otherwise by domain + 1; 0 where the node lacks the label.
    std::vector<double> costs;

    double CostOf(int64_t matching);
  };

  void AddTable(size_t i, const framework::ClusterView& cluster);
  size_t SelectorFor(const api::Selector& selector);
  void Count(const framework::NodeInfo& node);
  void Shift(size_t selector, framework::NodeIndex node, int32_t delta);
  // Works out the cost of a place anew. One where no feasible node stands has none.
  void Price(size_t i, size_t place);

  std::shared_ptr<const SpreadPlan> plan_;
  std::vector<const framework::NodeInfo*> rows_;  // by node index; null where there is none
  std::vector<uint64_t> generations_;             // by node index, when it was counted
  std::vector<uint8_t> ignored_;                  // by node index
  bool ignores_any_ = false;
  std::vector<const api::Selector*> selectors_;  // distinct ones, in *plan_
  std::vector<std::vector<int32_t>> selected_;   // by selector, then by node index: matching pods on the node
  std::vector<Table> tables_;                    // by constraint
};

}  // namespace berth::plugins
