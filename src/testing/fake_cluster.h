// FakeCluster: a cluster for tests of code that reads one. A handful of nodes and the pods on them, added one by one;
// columns, lists and counts are kept up to date, as ClusterView's contract requires.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cluster_view.h"
#include "testing/node_builder.h"
#include "testing/pod_builder.h"

namespace berth::testing {

class FakeCluster final : public framework::ClusterView {
 public:
  FakeCluster() = default;
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  // Indices are assigned in the order of addition.
  const framework::NodeInfo& AddNode(const NodeBuilder& node, const std::vector<framework::PodInfoPtr>& pods = {});
  // Adds it to the node that it names, which must exist.
  void AddPod(const PodBuilder& pod);
  // Removes it by UID from the node that it names; both must exist.
  void RemovePod(const framework::PodInfo& pod);

  // The node must exist; use Find for one that may be missing.
  const framework::NodeInfo& Node(std::string_view name) const;

  std::span<const framework::NodeInfo* const> nodes() const override { return pointers_; }
  const framework::NodeInfo* Find(std::string_view node_name) const override;
  const framework::NodeInfo& row(framework::NodeIndex index) const override { return rows_[index]; }
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override { return with_affinity_; }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override {
    return with_required_anti_affinity_;
  }
  const framework::NodeColumns& columns() const override { return columns_; }
  const framework::LabelColumn& label_column(const Symbol& key) const override;
  bool HasImage(std::string_view normalized_name) const override;
  // Nothing is assumed here.
  bool IsPlacedByAnother(const std::string& pod_uid, base::Ticket) const override;
  int PodsUsingClaim(std::string_view name_space, std::string_view claim) const override;
  uint64_t change_count() const override { return changes_.size(); }
  bool ListChangedNodes(uint64_t since, std::vector<framework::NodeIndex>& nodes) const override {
    nodes.insert(nodes.end(), changes_.begin() + static_cast<std::ptrdiff_t>(since), changes_.end());
    return true;
  }

 private:
  void Put(framework::NodeInfo& node, framework::PodInfoPtr pod);
  // Adds the node's row to the columns.
  void AppendColumns(const framework::NodeInfo& node);

  std::deque<framework::NodeInfo> rows_;  // with stable addresses; by index
  std::vector<const framework::NodeInfo*> pointers_;
  std::vector<const framework::NodeInfo*> with_affinity_;
  std::vector<const framework::NodeInfo*> with_required_anti_affinity_;
  framework::NodeColumns columns_;
  std::vector<framework::NodeIndex> changes_;
  mutable std::map<Symbol, framework::LabelColumn> label_columns_;  // those requested so far
};

}  // namespace berth::testing
