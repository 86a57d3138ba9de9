// FakeHandle: a Handle without a profile, for tests of single plugins and of preemption. The test sets everything that
// a plugin reads through it; what a plugin writes is recorded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "testing/fake_cluster.h"

namespace berth::testing {

// Records every write. A write has no effect: a test that needs the API server's or a controller's reaction adds the
// changed objects itself.
class FakeApi final : public framework::SimpleApiWriter {
 public:
  using Check = std::function<std::optional<framework::Status>()>;

  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override;
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  bool IsEvictingFor(const framework::PodInfo& preemptor) const override {
    return evicting_for.contains(preemptor.uid());
  }
  // Does not wait: keeps the check for the test to call.
  framework::Status Await(const Check& check, base::Duration timeout) override;
  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override;
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override;
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo&, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) override {
    node_allocatable.push_back(statuses);
    return {};
  }
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo&) override {
    node_allocatable.emplace_back();
    return answer;
  }
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;

  // Answered by `on_call`; if unset, as if objects could not be written.
  Result<std::string> Call(const framework::ObjectCall& call) override {
    calls.push_back(call);
    return on_call ? on_call(call) : framework::SimpleApiWriter::Call(call);
  }
  std::vector<framework::ObjectCall> calls;
  std::function<Result<std::string>(const framework::ObjectCall&)> on_call;

  framework::Status answer;            // to every write
  std::set<std::string> evicting_for;  // UIDs of preemptors whose victims are still being deleted

  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs bound;      // pod, node
  Pairs evicted;    // victim, preemptor
  Pairs nominated;  // pod, node
  std::vector<std::shared_ptr<const api::PersistentVolume>> written_volumes;
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> written_claims;
  Check awaited;  // of the last Await
  std::vector<api::ResourceClaim> written_statuses;
  std::vector<std::string> unreserved;                                                 // names of claims
  std::vector<std::vector<api::NodeAllocatableResourceClaimStatus>> node_allocatable;  // as set; empty: cleared
  int conflicts = 0;                                        // that the next writes of a claim's status get
  std::shared_ptr<const api::ResourceClaim> claim_on_read;  // null: there is none
};

class FakeHandle final : public framework::Handle {
 public:
  using Filter = std::function<framework::Status(const framework::PodInfo&, const framework::NodeInfo&)>;

  // Without a filter every node passes.
  explicit FakeHandle(Filter filter = {});
  ~FakeHandle() override;

  // Adds it to the store of its kind, replacing the object of that name.
  template <class T>
  void Add(T object) {
    StoreOf<T>().Upsert(std::make_shared<const T>(std::move(object)));
  }
  // The verdicts as a scheduling cycle would pass them to PostFilter.
  framework::NodeToStatus FilterAll(const framework::PodInfo& pod) const;
  // From now on RunFilterWithNominatedPods fails on this node with an error; FilterAll does not.
  void BreakFilterOn(std::string node_name) { broken_.insert(std::move(node_name)); }

  const FakeCluster& cluster() const override { return cluster_; }
  const framework::Objects& objects() const override { return objects_; }
  const framework::Nominator& nominator() const override { return nominator_; }
  // Made on first use with the gates at that time, and with the objects that exist then or are added later.
  dra::Inventory& inventory() const override;
  const config::FeatureGates& gates() const override { return gates_; }
  const base::FakeClock& clock() const override { return clock_; }
  base::Random& random() override { return random_; }
  FakeApi& api() override { return api_; }
  // At once: a test has one thread.
  void Post(std::function<void()> work) override { work(); }
  using framework::Handle::Allow;
  using framework::Handle::Reject;
  void Allow(const std::string& uid, const std::string& plugin, base::Ticket attempt) override {
    if (waiting_pods_.Waits(uid, attempt)) waiting_pods_.Allow(uid, plugin);
  }
  void Reject(const std::string& uid, const std::string& plugin, const std::string& message,
              base::Ticket attempt) override {
    if (waiting_pods_.Waits(uid, attempt)) waiting_pods_.Reject(uid, plugin, message);
  }
  void Activate(const std::vector<std::string>& uids) override {
    activated.insert(activated.end(), uids.begin(), uids.end());
  }
  std::vector<std::string> activated;  // UIDs, in the order requested
  Result<framework::EventResource> WatchResource(const api::GroupVersionResource& resource, bool keep_json) override {
    return custom_objects_.Watch(resource, keep_json);
  }
  const framework::CustomObjects& custom_objects() const override { return custom_objects_; }
  // Adds it to the store of a resource that the plugin watches.
  void AddCustom(framework::EventResource resource, api::CustomObject object) {
    custom_objects_.FindMutable(resource)->Upsert(std::make_shared<const api::CustomObject>(std::move(object)));
  }
  void RecordEvent(const framework::EventReport& event) override { events.push_back(event); }
  std::vector<framework::EventReport> events;
  framework::WaitingPods& waiting_pods() override { return waiting_pods_; }
  // The filter counts pods nominated to the node unless they have a lower priority, in one pass.
  framework::Status RunFilterWithNominatedPods(framework::CycleState& state, const framework::PodInfo& pod,
                                               const framework::NodeInfo& node) const override;
  // The filter sees the change in the node it is given.
  framework::Status RunAddPod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                              const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }
  framework::Status RunRemovePod(framework::CycleState&, const framework::PodInfo&, const framework::PodInfo&,
                                 const framework::NodeInfo&) const override {
    return framework::Status::Success();
  }
  // The filter is a function of the pod and the node. Pods have no signature until the test defines one.
  bool FiltersJudgeNodesAlone(const framework::CycleState&) const override { return true; }
  std::optional<std::string> Sign(const framework::PodInfo& pod) const override {
    return signer_ ? std::optional<std::string>(signer_(pod)) : std::nullopt;
  }
  using Signer = std::function<std::string(const framework::PodInfo&)>;
  void SignWith(Signer signer) { signer_ = std::move(signer); }

  // For the test to change.
  FakeCluster& cluster() { return cluster_; }
  framework::Objects& objects() { return objects_; }
  framework::Nominator& nominator() { return nominator_; }
  config::FeatureGates& gates() { return gates_; }
  base::FakeClock& clock() { return clock_; }

 protected:
  uint32_t NewStateSlot() override { return slots_++; }

 private:
  template <class T>
  framework::ObjectStore<T>& StoreOf() {
    framework::Objects& o = objects_;
    return std::get<framework::ObjectStore<T>&>(
        std::tie(o.namespaces, o.persistent_volumes, o.persistent_volume_claims, o.storage_classes, o.csi_nodes,
                 o.csi_drivers, o.csi_storage_capacities, o.volume_attachments, o.services, o.replication_controllers,
                 o.replica_sets, o.stateful_sets, o.pod_disruption_budgets, o.priority_classes, o.resource_claims,
                 o.resource_slices, o.device_classes, o.device_taint_rules));
  }

  const Filter filter_;
  Signer signer_;
  std::set<std::string> broken_;
  FakeCluster cluster_;
  mutable framework::Objects objects_;
  mutable std::unique_ptr<dra::Inventory> inventory_;
  framework::CustomObjects custom_objects_;
  framework::Nominator nominator_;
  config::FeatureGates gates_;
  base::FakeClock clock_{At("2030-01-01T00:00:00Z")};
  base::Random random_{7};
  FakeApi api_;
  framework::WaitingPods waiting_pods_;
  uint32_t slots_ = 0;
};

// A filter that checks only cpu: "Insufficient cpu", unresolvable if the node is too small even when empty.
framework::Status FitsCpu(const framework::PodInfo& pod, const framework::NodeInfo& node);

}  // namespace berth::testing
