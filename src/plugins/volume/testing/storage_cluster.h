// StorageCluster: for tests of the volume plugins. A handle over a few nodes and storage objects that counts the claims
// in use, keeps what plugins write, and lets a test play the volume controller.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/handle.h"
#include "testing/builders.h"

namespace berth::plugins {

class StorageCluster final : public framework::Handle, private framework::ClusterView, private framework::ApiWriter {
 public:
  framework::NodeInfo& AddNode(const testing::NodeBuilder& node) {
    nodes_.push_back(node.Info());
    pointers_.push_back(&nodes_.back());
    return nodes_.back();
  }
  void Add(api::PersistentVolume object) { Put(stored.persistent_volumes, std::move(object)); }
  void Add(api::PersistentVolumeClaim object) { Put(stored.persistent_volume_claims, std::move(object)); }
  void Add(api::StorageClass object) { Put(stored.storage_classes, std::move(object)); }
  void Add(api::CSINode object) { Put(stored.csi_nodes, std::move(object)); }
  void Add(api::CSIDriver object) { Put(stored.csi_drivers, std::move(object)); }
  void Add(api::CSIStorageCapacity object) { Put(stored.csi_storage_capacities, std::move(object)); }
  void Add(api::VolumeAttachment object) { Put(stored.volume_attachments, std::move(object)); }

  framework::Objects stored;
  config::FeatureGates feature_gates;
  std::vector<std::shared_ptr<const api::PersistentVolume>> written_volumes;
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> written_claims;
  framework::Status write_answer;                             // to every write
  std::function<std::optional<framework::Status>()> awaited;  // what the last Await was to wait for

  const framework::ClusterView& cluster() const override { return *this; }
  const framework::Objects& objects() const override { return stored; }
  const framework::Nominator& nominator() const override { return nominator_; }
  const config::FeatureGates& gates() const override { return feature_gates; }
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
  template <class T>
  static void Put(framework::ObjectStore<T>& store, T object) {
    store.Upsert(std::make_shared<const T>(std::move(object)));
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
  int PodsUsingClaim(std::string_view name_space, std::string_view claim) const override {
    int uses = 0;
    for (const framework::NodeInfo* node : pointers_) {
      for (const framework::PodInfoPtr& pod : node->pods()) {
        const std::vector<api::Volume>& volumes = pod->pod().spec.volumes;
        uses += pod->namespace_() == name_space && std::any_of(volumes.begin(), volumes.end(), [&](const auto& volume) {
                  const auto& used = volume.from().persistent_volume_claim;
                  return used && used->claim_name == claim;
                });
      }
    }
    return uses;
  }

  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override {
    written_volumes.push_back(std::move(volume));
    return write_answer;
  }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override {
    written_claims.push_back(std::move(claim));
    return write_answer;
  }
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check, base::Duration) override {
    awaited = check;
    return {};
  }

  std::deque<framework::NodeInfo> nodes_;  // stays put when it grows
  std::vector<const framework::NodeInfo*> pointers_;
  framework::NodeColumns columns_;
  framework::LabelColumn label_column_;
  framework::Nominator nominator_;
  base::FakeClock clock_;
  base::Random random_{1};
  framework::WaitingPods waiting_pods_;
  uint32_t slots_ = 0;
};

// The verdict of PreFilter, or of Filter on `node` after it.
template <class P>
framework::Status Judge(const P& plugin, const framework::PodInfo& pod, const framework::NodeInfo& node) {
  framework::CycleState state;
  const framework::PreFilterResult result = plugin.PreFilter(state, pod);
  return result.status.ok() ? plugin.Filter(state, pod, node) : result.status;
}

}  // namespace berth::plugins
