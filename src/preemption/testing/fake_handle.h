// FakeHandle: a cluster of a few nodes whose only filter is the sum of cpu requests, for tests of preemption.
#pragma once

#include <deque>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "testing/builders.h"

namespace berth::preemption {

class FakeHandle final : public framework::Handle, private framework::ClusterView, private framework::ApiWriter {
 public:
  FakeHandle() : clock_(testing::At("2030-01-01T00:00:00Z")) {}

  // A node of that many cores with the pods on it.
  void AddNode(std::string_view name, std::string_view cpu, const std::vector<framework::PodInfoPtr>& pods) {
    nodes_.push_back(testing::MakeNode(name).Capacity("cpu", cpu).Info(pods, static_cast<uint32_t>(nodes_.size())));
    pointers_.push_back(&nodes_.back());
  }
  void AddBudget(api::PodDisruptionBudget budget) {
    objects_.pod_disruption_budgets.Upsert(std::make_shared<const api::PodDisruptionBudget>(std::move(budget)));
  }
  framework::Nominator& mutable_nominator() { return nominator_; }
  // Filtering on this node breaks instead of answering.
  void BreakFilterOn(std::string node_name) { broken_.insert(std::move(node_name)); }

  // The verdicts as a scheduling cycle would hand them to PostFilter.
  framework::NodeToStatus FilterAll(const framework::PodInfo& pod) const {
    framework::NodeToStatus statuses;
    for (const framework::NodeInfo* node : pointers_) statuses.Set(node->name(), Filter(pod, *node));
    return statuses;
  }

  const framework::ClusterView& cluster() const override { return *this; }
  const framework::Objects& objects() const override { return objects_; }
  const framework::Nominator& nominator() const override { return nominator_; }
  const config::FeatureGates& gates() const override { return gates_; }
  const base::Clock& clock() const override { return clock_; }
  base::Random& random() override { return random_; }
  framework::ApiWriter& api() override { return *this; }
  framework::WaitingPods& waiting_pods() override { return waiting_pods_; }

  framework::Status RunFilterWithNominatedPods(framework::CycleState&, const framework::PodInfo& pod,
                                               const framework::NodeInfo& node) const override {
    if (broken_.contains(node.name())) return framework::Status::Error("filter broke on " + node.name());
    framework::NodeInfo with_nominated = node;
    for (const framework::PodInfoPtr& other : nominator_.NominatedTo(node.name())) {
      if (other->priority() >= pod.priority() && other->uid() != pod.uid()) with_nominated.AddPod(other);
    }
    return Filter(pod, with_nominated);
  }
  framework::Status RunAddPod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                              const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }
  framework::Status RunRemovePod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                                 const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }

 private:
  static framework::Status Filter(const framework::PodInfo& pod, const framework::NodeInfo& node) {
    if (pod.requests().milli_cpu > node.allocatable().milli_cpu) {
      return framework::Status::UnschedulableAndUnresolvable("Insufficient cpu");
    }
    if (pod.requests().milli_cpu + node.requested().milli_cpu <= node.allocatable().milli_cpu) return {};
    return framework::Status::Unschedulable("Insufficient cpu");
  }

  uint32_t NewStateSlot() override { return slots_++; }

  std::span<const framework::NodeInfo* const> nodes() const override { return pointers_; }
  const framework::NodeInfo* Find(std::string_view node_name) const override {
    for (const framework::NodeInfo* node : pointers_) {
      if (node->name() == node_name) return node;
    }
    return nullptr;
  }
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override { return {}; }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override { return {}; }
  const framework::NodeColumns& columns() const override { return columns_; }
  const framework::LabelColumn& label_column(const Symbol&) const override { return label_column_; }
  int PodsUsingClaim(std::string_view, std::string_view) const override { return 0; }

  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }

  std::deque<framework::NodeInfo> nodes_;  // stays put when it grows
  std::vector<const framework::NodeInfo*> pointers_;
  framework::Objects objects_;
  framework::Nominator nominator_;
  std::set<std::string> broken_;
  config::FeatureGates gates_;
  base::FakeClock clock_;
  base::Random random_{7};
  framework::WaitingPods waiting_pods_;
  framework::NodeColumns columns_;
  framework::LabelColumn label_column_;
  uint32_t slots_ = 0;
};

}  // namespace berth::preemption
