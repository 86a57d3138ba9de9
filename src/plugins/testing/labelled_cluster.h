// LabelledCluster: a handle over a handful of nodes with label columns, for tests of plugins that look at other pods.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/handle.h"
#include "testing/builders.h"

namespace berth::plugins {

class LabelledCluster final : public framework::Handle, private framework::ClusterView, private framework::ApiWriter {
 public:
  // Add all nodes before the first question: columns are made once.
  void AddNode(const testing::NodeBuilder& node) {
    nodes_.push_back(node.Info({}, static_cast<framework::NodeIndex>(nodes_.size())));
    pointers_.push_back(&nodes_.back());
    columns_.live.push_back(1);
  }
  // On the node that the pod names.
  void AddPod(const testing::PodBuilder& builder) {
    const framework::PodInfoPtr pod = builder.Info(gates_);
    for (framework::NodeInfo& node : nodes_) {
      if (node.name() == pod->pod().spec.node_name) node.AddPod(pod);
    }
  }
  framework::Objects& mutable_objects() { return objects_; }

  const framework::NodeInfo& Node(std::string_view name) const {
    const framework::NodeInfo* found = Find(name);
    CHECK(found != nullptr);
    return *found;
  }

  const framework::ClusterView& cluster() const override { return *this; }
  const framework::Objects& objects() const override { return objects_; }
  const framework::Nominator& nominator() const override { return nominator_; }
  const config::FeatureGates& gates() const override { return gates_; }
  const base::Clock& clock() const override { return clock_; }
  base::Random& random() override { return random_; }
  framework::ApiWriter& api() override { return *this; }
  framework::WaitingPods& waiting_pods() override { return waiting_pods_; }
  framework::Status RunFilterWithNominatedPods(framework::CycleState&, const framework::PodInfo&,
                                               const framework::NodeInfo&) const override {
    return {};
  }
  framework::Status RunAddPod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                              const framework::NodeInfo&) const override {
    return {};
  }
  framework::Status RunRemovePod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                                 const framework::NodeInfo&) const override {
    return {};
  }

 private:
  uint32_t NewStateSlot() override { return slots_++; }

  std::span<const framework::NodeInfo* const> nodes() const override { return pointers_; }
  const framework::NodeInfo* Find(std::string_view node_name) const override {
    for (const framework::NodeInfo* node : pointers_) {
      if (node->name() == node_name) return node;
    }
    return nullptr;
  }
  // A superset of those with such pods; the plugin must not mind.
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override { return pointers_; }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override {
    return pointers_;
  }
  const framework::NodeColumns& columns() const override { return columns_; }
  const framework::LabelColumn& label_column(const Symbol& key) const override {
    const auto [it, added] = label_columns_.try_emplace(key);
    framework::LabelColumn& column = it->second;
    if (!added) return column;
    std::map<Symbol, int32_t> ids;
    for (const framework::NodeInfo* node : pointers_) {
      const Symbol* value = node->labels().Find(key);
      if (value == nullptr) {
        column.value_id.push_back(framework::LabelColumn::kAbsent);
        continue;
      }
      const auto [id, is_new] = ids.try_emplace(*value, static_cast<int32_t>(column.values.size()));
      if (is_new) column.values.push_back(*value);
      column.value_id.push_back(id->second);
    }
    return column;
  }
  int PodsUsingClaim(std::string_view, std::string_view) const override { return 0; }

  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }

  config::FeatureGates gates_;
  std::deque<framework::NodeInfo> nodes_;  // stays put when it grows
  std::vector<const framework::NodeInfo*> pointers_;
  framework::NodeColumns columns_;
  mutable std::map<Symbol, framework::LabelColumn> label_columns_;
  framework::Objects objects_;
  framework::Nominator nominator_;
  base::FakeClock clock_{testing::At("2030-01-01T00:00:00Z")};
  base::Random random_{7};
  framework::WaitingPods waiting_pods_;
  uint32_t slots_ = 0;
};

}  // namespace berth::plugins
