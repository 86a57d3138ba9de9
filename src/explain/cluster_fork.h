// ClusterFork: a view of the cluster in which some nodes are different. It copies the rows that differ, and columns
// only on demand; everything else is the original's. The original is never written to; it must outlive the fork and not
// change meanwhile.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "framework/cluster_view.h"

namespace berth::explain {

class ClusterFork final : public framework::ClusterView {
 public:
  explicit ClusterFork(const framework::ClusterView& original);

  // Replaces the node of that name, which must exist. Its pods and images stay. Invalidates what was read before.
  void ReplaceNode(std::shared_ptr<const api::Node> node);
  // Removes a pod from the node of that name, which must exist. Invalidates what was read before.
  void RemovePod(std::string_view node_name, const framework::PodInfo& pod);

  std::span<const framework::NodeInfo* const> nodes() const override { return nodes_; }
  const framework::NodeInfo* Find(std::string_view node_name) const override;
  const framework::NodeInfo& row(framework::NodeIndex index) const override;
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override { return with_affinity_; }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override {
    return with_anti_affinity_;
  }
  const framework::NodeColumns& columns() const override;
  const framework::LabelColumn& label_column(const Symbol& key) const override;
  bool HasImage(std::string_view normalized_name) const override { return original_.HasImage(normalized_name); }
  bool IsPlacedByAnother(const std::string& pod_uid, base::Ticket attempt) const override {
    return original_.IsPlacedByAnother(pod_uid, attempt);
  }
  int PodsUsingClaim(std::string_view name_space, std::string_view claim) const override {
    return original_.PodsUsingClaim(name_space, claim);
  }

 private:
  void ReplaceRow(const framework::NodeInfo& before, std::unique_ptr<framework::NodeInfo> after);

  const framework::ClusterView& original_;
  std::map<framework::NodeIndex, std::unique_ptr<framework::NodeInfo>> replaced_;
  // The original's lists, with the replaced rows.
  std::vector<const framework::NodeInfo*> nodes_;
  std::vector<const framework::NodeInfo*> with_affinity_;
  std::vector<const framework::NodeInfo*> with_anti_affinity_;
  // Made on first use.
  mutable std::optional<framework::NodeColumns> columns_;
  mutable std::map<Symbol, framework::LabelColumn> label_columns_;  // those that differ from the original's
};

}  // namespace berth::explain
