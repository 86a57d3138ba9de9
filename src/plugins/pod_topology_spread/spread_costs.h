// SpreadCosts: the cost of each node under the soft constraints of one pod, kept current as pods are added and removed.
//
// Pods are counted per node and, from that, per domain, whether or not the domain has a feasible node. The weight of a
// pod depends on how many domains have a feasible node; only that changes when other nodes are feasible.
//
// Valid while Node objects do not change. Copyable; reading is safe from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "framework/cluster_view.h"
#include "framework/node_traits.h"
#include "framework/plugin.h"
#include "plugins/pod_topology_spread/spread_constraint.h"

namespace berth::plugins {

class SpreadCosts {
 public:
  // Counts every pod. With `requires_every_key`, nodes that lack a topology key are ignored.
  SpreadCosts(std::shared_ptr<const SpreadPlan> plan, const framework::ClusterView& cluster, bool requires_every_key);

  // Marks the feasible nodes, by node index. Must be called before any score is read; the scores of other nodes are
  // meaningless.
  void ChooseAmong(std::span<const uint8_t> feasible);
  // The same for nodes that represent their class.
  void ChooseAmongClasses(std::span<const framework::NodeClass> feasible);
  void Change(const framework::PodChange& change);

  int64_t ScoreOf(framework::NodeIndex node) const;
  // ScoreOf the nodes [begin, begin + scores.size()).
  void ScoreRange(framework::NodeIndex begin, std::span<int64_t> scores) const;
  // How nodes differ for ScoreOf.
  void ListTraits(std::vector<framework::NodeTrait>& traits) const;

  // Whether the node is ignored.
  bool Ignores(framework::NodeIndex node) const { return ignores_any_ && ignored_[node] != 0; }
  bool ignores_any() const { return ignores_any_; }

 private:
  // One constraint. A place is where the pods of one domain are counted: place 0 is shared by nodes whose label is
  // missing or empty, the others are domain + 1. Where every host is its own domain, whatever its label, there are no
  // places.
  struct Table {
    size_t selector = 0;  // in selected_
    bool per_host = false;
    int32_t max_skew = 1;
    size_t domains = std::numeric_limits<size_t>::max();  // with a feasible node; unknown at first
    double weight = 0;
    std::vector<uint8_t> leaves_out;  // by node: its pods do not count; empty when there is no such node
    std::vector<uint32_t> place;      // by domain + 1
    std::vector<int64_t> pods;        // by place

    void SetDomains(size_t count);
    // The weight keeps keys with few domains, and so with many pods in each, from dominating the others; maxSkew
    // reduces small differences.
    double CostOf(int64_t matching) const {
      return static_cast<double>(matching) * weight + static_cast<double>(max_skew - 1);
    }
  };
  struct Selected {
    const api::Selector* selector;  // in *plan_
    std::vector<int32_t> pods;      // by node index: matching pods on the node
    int32_t most = 0;               // upper bound over all nodes
  };

  void AddTable(size_t i, const framework::ClusterView& cluster);
  size_t SelectorFor(const api::Selector& selector, size_t slots);
  void Shift(size_t selector, framework::NodeIndex node, int32_t delta);
  size_t PlaceOf(size_t i, framework::NodeIndex node) const {
    return tables_[i].place[static_cast<size_t>(plan_->DomainOf(i, node) + 1)];
  }
  double CostOf(size_t i, framework::NodeIndex node) const;
  // CostOf by domain + 1; raises `highest` to the highest of them.
  std::vector<double> CostsByDomain(size_t i, double& highest) const;

  std::shared_ptr<const SpreadPlan> plan_;
  bool ignores_any_ = false;
  std::vector<uint8_t> ignored_;    // by node index; empty when there is none
  std::vector<Selected> selected_;  // by distinct selector
  std::vector<Table> tables_;       // by constraint
};

}  // namespace berth::plugins
