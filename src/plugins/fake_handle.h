// For tests of single plugins: a Handle over a handful of nodes, without a profile around it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace berth::plugins {

class FakeClusterView final : public framework::ClusterView {
 public:
  // Indices are given in order of appearance.
  void Add(framework::NodeInfo node) {
    node.set_index(static_cast<framework::NodeIndex>(rows_.size()));
    rows_.push_back(std::make_unique<framework::NodeInfo>(std::move(node)));
    nodes_.push_back(rows_.back().get());
    AppendColumns(*rows_.back());
  }

  std::span<const framework::NodeInfo* const> nodes() const override { return nodes_; }
  const framework::NodeInfo* Find(std::string_view node_name) const override {
    for (const framework::NodeInfo* node : nodes_) {
      if (node->name() == node_name) return node;
    }
    return nullptr;
  }
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override { return {}; }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override { return {}; }
  const framework::NodeColumns& columns() const override { return columns_; }
  const framework::LabelColumn& label_column(const Symbol&) const override { return label_column_; }
  int PodsUsingClaim(std::string_view, std::string_view) const override { return 0; }

 private:
  void AppendColumns(const framework::NodeInfo& node) {
    columns_.live.push_back(1);
    columns_.unschedulable.push_back(node.node().spec.unschedulable ? 1 : 0);
    columns_.allocatable_milli_cpu.push_back(node.allocatable().milli_cpu);
    columns_.allocatable_memory.push_back(node.allocatable().memory);
    columns_.allocatable_ephemeral_storage.push_back(node.allocatable().ephemeral_storage);
    columns_.allowed_pod_number.push_back(node.allocatable().allowed_pod_number);
    columns_.requested_milli_cpu.push_back(node.requested().milli_cpu);
    columns_.requested_memory.push_back(node.requested().memory);
    columns_.requested_ephemeral_storage.push_back(node.requested().ephemeral_storage);
    columns_.non_zero_milli_cpu.push_back(node.non_zero_milli_cpu());
    columns_.non_zero_memory.push_back(node.non_zero_memory());
    columns_.pod_count.push_back(static_cast<int64_t>(node.pods().size()));
    columns_.taint_set.push_back(static_cast<uint32_t>(columns_.taint_sets.size()));
    columns_.taint_sets.emplace_back(node.taints().begin(), node.taints().end());
    columns_.generation.push_back(node.generation());
  }

  std::vector<std::unique_ptr<framework::NodeInfo>> rows_;
  std::vector<const framework::NodeInfo*> nodes_;
  framework::NodeColumns columns_;
  framework::LabelColumn label_column_;
};

// Notes the binding and succeeds; every other write is a mistake.
class FakeApiWriter final : public framework::ApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override {
    bound.emplace_back(pod.Key(), node_name);
    return bind_answer;
  }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return Unexpected(); }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return Unexpected(); }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override {
    return Unexpected();
  }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return Unexpected();
  }

  std::vector<std::pair<std::string, std::string>> bound;  // pod, node
  framework::Status bind_answer;

 private:
  static framework::Status Unexpected() { return framework::Status::Error("unexpected write"); }
};

class FakeHandle final : public framework::Handle {
 public:
  const framework::ClusterView& cluster() const override { return view; }
  const framework::Objects& objects() const override { return stored; }
  const framework::Nominator& nominator() const override { return nominations; }
  const config::FeatureGates& gates() const override { return feature_gates; }
  const base::Clock& clock() const override { return fake_clock; }
  base::Random& random() override { return random_; }
  framework::ApiWriter& api() override { return writer; }
  framework::WaitingPods& waiting_pods() override { return waiting_; }
  framework::Status RunFilterWithNominatedPods(framework::CycleState&, const framework::PodInfo&,
                                               const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }
  framework::Status RunAddPod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                              const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }
  framework::Status RunRemovePod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                                 const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }

  FakeClusterView view;
  framework::Objects stored;
  framework::Nominator nominations;
  config::FeatureGates feature_gates;
  base::FakeClock fake_clock;
  FakeApiWriter writer;

 protected:
  uint32_t NewStateSlot() override { return slots_++; }

 private:
  base::Random random_{1};
  framework::WaitingPods waiting_;
  uint32_t slots_ = 0;
};

// The plugin of type P; arguments it refuses fail a CHECK.
template <class P>
std::unique_ptr<P> MakePlugin(framework::Handle& handle, const config::PluginArgs& args = {}) {
  Result<std::unique_ptr<framework::Plugin>> made = P::Create(args, handle);
  CHECK_WHY(made.ok(), "the plugin refused its arguments");
  return std::unique_ptr<P>(static_cast<P*>(made->release()));
}

// The hint registered for exactly this event; kQueue where none is given.
inline framework::QueueingHint AskHint(const framework::EnqueueExtensions& plugin, framework::EventResource resource,
                                       const framework::PodInfo& pod, const framework::EventObject& before,
                                       const framework::EventObject& after) {
  for (const framework::ClusterEventWithHint& entry : plugin.EventsToRegister()) {
    if (entry.event.resource == resource) {
      return entry.hint ? entry.hint(pod, before, after) : framework::QueueingHint::kQueue;
    }
  }
  CHECK_WHY(false, "no event of this kind is registered");
  return framework::QueueingHint::kSkip;
}

}  // namespace berth::plugins
