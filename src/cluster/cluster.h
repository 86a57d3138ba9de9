// Cluster: the scheduler's view of the cluster. Nodes with the pods on them, assumed pods, and the other objects that
// plugins read.
//
// A pod in here is in one of these states:
//
//              Assume                 UpsertPod (the API confirms)
//   (unknown) --------> assumed ------------------------------------> bound --- RemovePod ---> (unknown)
//       ^                  |                                            ^
//       |   Forget         |                                            |
//       +------------------+          UpsertPod (bound elsewhere)       |
//       +---------------------------------------------------------------+
//
// Bound and assumed pods count against their node alike. A pod bound to a node that is not known (yet) is set aside and
// counts as soon as the node appears.
//
// Not thread-safe: one writer, the scheduling thread. Nothing changes while a cycle's plugins run.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/ticket.h"
#include "cluster/image_table.h"
#include "cluster/node_table.h"
#include "config/feature_gates.h"
#include "framework/cluster_view.h"
#include "framework/custom_objects.h"
#include "framework/nominator.h"
#include "framework/objects.h"
#include "framework/pod_resources.h"
#include "framework/pod_shapes.h"

namespace berth::dra {
class Inventory;
}

namespace berth::cluster {

class Cluster;

// An assumed pod's place on its node. The destructor forgets the pod unless Keep() was called, so that every early
// return undoes the assumption. What a later attempt has assumed for a pod of the same UID is left alone.
class AssumedPod {
 public:
  AssumedPod(AssumedPod&& other) noexcept
      : cluster_(std::exchange(other.cluster_, nullptr)), uid_(std::move(other.uid_)), ticket_(other.ticket_) {}
  AssumedPod& operator=(AssumedPod&&) = delete;
  ~AssumedPod();

  // The pod stays assumed until the API confirms it or Forget is called by name.
  void Keep() { cluster_ = nullptr; }

 private:
  friend class Cluster;
  AssumedPod(Cluster& cluster, std::string uid, base::Ticket ticket)
      : cluster_(&cluster), uid_(std::move(uid)), ticket_(ticket) {}

  Cluster* cluster_;
  std::string uid_;
  base::Ticket ticket_;
};

class Cluster final : public framework::ClusterView {
 public:
  explicit Cluster(const config::FeatureGates& gates);
  ~Cluster() override;

  // Nodes.
  void UpsertNode(std::shared_ptr<const api::Node> node);
  // Adds a node that is not known yet, with the index it had in another Cluster.
  void InsertNode(std::shared_ptr<const api::Node> node, framework::NodeIndex index);
  // Pods on it stay known and count again if the node comes back.
  void RemoveNode(std::string_view name);

  // Pods with spec.nodeName. A terminated pod occupies nothing and is dropped.
  void UpsertPod(std::shared_ptr<const api::Pod> pod);
  void RemovePod(const std::string& uid);
  // Null when unknown.
  framework::PodInfoPtr FindPod(const std::string& uid) const;
  // "" when unknown.
  std::string NodeOf(std::string_view uid) const;
  size_t pod_count() const { return pods_.size(); }
  size_t assumed_count() const { return assumed_count_; }
  // Every pod, also those whose node is not known, in no particular order: visit(const PodInfoPtr&).
  template <class Visit>
  void ForEachPod(Visit&& visit) const {
    for (const PlacedPod& placed : pods_) visit(placed.pod);
  }

  // Counts `pod` against the node from now on. Fails when the node is unknown or the pod is already placed.
  Result<AssumedPod> Assume(framework::PodInfoPtr pod, const std::string& node_name, base::Ticket ticket);
  // For restoring: AssumeAgain takes a pod that another Cluster had assumed, whether or not the node is known. Guard
  // returns the object that forgets it, even if the pod is no longer assumed.
  void AssumeAgain(framework::PodInfoPtr pod, const std::string& node_name, base::Ticket ticket);
  AssumedPod Guard(const std::string& uid, base::Ticket ticket) { return AssumedPod(*this, uid, ticket); }
  // Forgets the pod, whichever attempt assumed it.
  void Forget(const std::string& uid);
  bool IsPlacedByAnother(const std::string& pod_uid, base::Ticket attempt) const override;
  bool IsAssumed(const std::string& uid) const { return AssumedBy(uid) != base::Ticket::kNone; }
  // The attempt that assumed the pod; kNone when it is bound or unknown.
  base::Ticket AssumedBy(const std::string& uid) const;

  framework::PodInfoPtr MakePodInfo(std::shared_ptr<const api::Pod> pod) const;

  framework::Objects& objects() { return objects_; }
  const framework::Objects& objects() const { return objects_; }
  // Objects of the resources that plugins watch.
  framework::CustomObjects& custom_objects() { return custom_objects_; }
  const framework::CustomObjects& custom_objects() const { return custom_objects_; }
  dra::Inventory& inventory() { return *inventory_; }
  // Whether devices have been freed since the last call, including those that only this scheduler knew to be allocated.
  bool TakeFreedDevices();
  // Binding cycles run on other threads: what they report about claims takes effect in CatchUpWithClaims and nowhere
  // else.
  void TakeClaimsBetweenInputs();
  void CatchUpWithClaims();
  // Called before each such report takes effect, with the claim as it was written, if it was, and the flight that
  // ended.
  using ClaimLanded =
      std::function<void(const std::shared_ptr<const api::ResourceClaim>& written, const std::string& ended_flight)>;
  void set_on_claim_landed(ClaimLanded on_landed);
  // For a replay, which knows the recorded reports and their order: reports of binding cycles are dropped from now on.
  void IgnoreBindingOfClaims();
  void LandClaim(const std::shared_ptr<const api::ResourceClaim>& written, const std::string& ended_flight);
  // Whether all that is known about claims comes from the API server.
  bool ClaimsAreAtRest() const;
  // Whether claims are assumed, or devices in flight.
  bool HasAssumedClaims() const;
  framework::Nominator& nominator() { return nominator_; }
  const framework::Nominator& nominator() const { return nominator_; }
  const NodeTable& table() const { return table_; }
  NodeOrder& node_order() { return table_.order(); }
  // Pods whose node is not known, by its name.
  const std::unordered_map<std::string, std::vector<framework::PodInfoPtr>>& pods_without_node() const {
    return waiting_for_node_;
  }

  // framework::ClusterView
  std::span<const framework::NodeInfo* const> nodes() const override { return table_.nodes(); }
  const framework::NodeInfo* Find(std::string_view node_name) const override { return table_.Find(node_name); }
  const framework::NodeInfo& row(framework::NodeIndex index) const override { return table_.row(index); }
  std::span<const framework::NodeInfo* const> nodes_with_affinity_pods() const override {
    return table_.nodes_with_affinity_pods();
  }
  std::span<const framework::NodeInfo* const> nodes_with_required_anti_affinity_pods() const override {
    return table_.nodes_with_required_anti_affinity_pods();
  }
  const framework::NodeColumns& columns() const override { return table_.columns(); }
  const framework::LabelColumn& label_column(const Symbol& key) const override { return table_.label_column(key); }
  bool HasImage(std::string_view normalized_name) const override { return images_.Has(normalized_name); }
  int PodsUsingClaim(std::string_view name_space, std::string_view claim) const override;
  const framework::RecentChanges<framework::VolumePodChange>* volume_pods() const override { return &volume_pods_; }
  uint64_t change_count() const override { return table_.changes().end(); }
  bool ListChangedNodes(uint64_t since, std::vector<framework::NodeIndex>& nodes) const override;

 private:
  struct PlacedPod {
    framework::PodInfoPtr pod;
    Symbol node_name;
    base::Ticket assumed_by = base::Ticket::kNone;
    // Hash of the UID: the table grows without reading the pods, which are scattered in memory.
    size_t uid_hash = 0;
  };
  // A UID with its hash, for looking a pod up more than once.
  struct HashedUid {
    explicit HashedUid(std::string_view text) : uid(text), hash(std::hash<std::string_view>()(text)) {}
    std::string_view uid;
    size_t hash;
  };
  struct UidHash {
    using is_transparent = void;
    size_t operator()(std::string_view uid) const { return std::hash<std::string_view>()(uid); }
    size_t operator()(const HashedUid& uid) const { return uid.hash; }
    size_t operator()(const PlacedPod& placed) const { return placed.uid_hash; }
  };
  struct SameUid {
    using is_transparent = void;
    static std::string_view UidOf(std::string_view uid) { return uid; }
    static std::string_view UidOf(const HashedUid& uid) { return uid.uid; }
    static std::string_view UidOf(const PlacedPod& placed) { return placed.pod->uid(); }
    bool operator()(const auto& a, const auto& b) const { return UidOf(a) == UidOf(b); }
  };

  void WelcomePods(const std::string& node_name);
  void PlacePod(framework::PodInfoPtr pod, size_t uid_hash, std::string_view node_name, base::Ticket assumed_by);
  void DisplacePod(const HashedUid& uid);
  void CountClaims(const framework::PodInfoPtr& pod, const Symbol& node_name, int sign);

  const framework::PodRequestOptions request_options_;
  NodeTable table_;
  ImageTable images_;
  boost::unordered_flat_set<PlacedPod, UidHash, SameUid> pods_;
  size_t assumed_count_ = 0;                                                              // among pods_
  framework::PodShapes shapes_;                                                           // those of bound pods
  std::unordered_map<std::string, std::vector<framework::PodInfoPtr>> waiting_for_node_;  // by the unknown node's name
  std::unordered_map<std::string, int> claim_uses_;                                       // by namespace/name
  framework::RecentChanges<framework::VolumePodChange> volume_pods_{1024};
  std::unique_ptr<dra::Inventory> inventory_;  // follows objects_
  framework::Objects objects_;
  framework::CustomObjects custom_objects_;
  framework::Nominator nominator_;
};

}  // namespace berth::cluster
