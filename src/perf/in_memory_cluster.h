// InMemoryCluster: an in-memory control plane with a scheduler, in real time. Operations create, change and delete
// objects; the scheduler receives them as it would through watches, and binds pods through the same store.
//
// There is no kubelet: a bound pod that is deleted disappears at once if its grace period is 0; otherwise it stays,
// terminating, and keeps its resources, as in upstream's tests. A finalizer keeps any pod. Controllers of
// `controllers` bind volumes, create resource claims from templates and deallocate them.
// Not thread-safe; everything happens on the one thread that calls it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "config/types.h"
#include "controllers/claim_controller.h"
#include "controllers/volume_controller.h"
#include "engine/long_way.h"
#include "framework/handle.h"
#include "framework/registry.h"
#include "perf/run_metrics.h"
#include "scheduler/driver.h"

namespace berth::perf {

enum class PodStage { kAbsent, kUnattempted, kAttempted, kScheduled };

// Called for every pod whose stage or labels change. `before` or `after` is null if the pod does not exist.
class PodObserver {
 public:
  virtual ~PodObserver() = default;
  virtual void OnPod(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after) = 0;
};

// How decisions were made: see scheduler::Way and engine::LongWay.
struct WayCounts {
  uint64_t kept = 0;
  uint64_t all = 0;
  std::array<uint64_t, engine::kLongWayCount> from_scratch{};  // by reason
};

class InMemoryCluster final : public framework::SimpleApiWriter, private scheduler::DriverObserver {
 public:
  struct Options {
    uint64_t seed = 1;
    bool verify_incremental = false;
    bool queueing_hints = true;  // off: every event that a plugin registered for requeues its pods
  };

  // `registry` has the plugins that the configuration may name; it is needed only in this call.
  static Result<std::unique_ptr<InMemoryCluster>> Create(const config::KubeSchedulerConfiguration& configuration,
                                                         const framework::Registry& registry,
                                                         const config::FeatureGates& gates, Options options);
  ~InMemoryCluster() override;

  const base::Clock& clock() const { return clock_; }
  RunMetrics& metrics() { return metrics_; }
  const WayCounts& ways() const { return ways_; }
  const queue::SchedulingQueue& queue() const { return driver().queue(); }
  // Observers must outlive their registration.
  void AddObserver(PodObserver& observer) { observers_.push_back(&observer); }
  void RemoveObserver(PodObserver& observer) { std::erase(observers_, &observer); }

  // Sets what the API server would: a name from generateName, a UID, a creation time, defaults. Fails for what the
  // server would reject; the error contains the field's path.
  Result<api::Object> Admit(const api::Object& object, const std::string& name_space);
  // `object` comes from Admit. Fails if the name is taken.
  Result<void> Create(const api::Object& object);
  // Replaces the object of that kind, namespace and name; a pod keeps its node, and a status that is not given is kept.
  Result<void> Update(const api::Object& object);
  // False if there is no such object. `at_once`: regardless of a pod's grace period.
  bool Delete(api::Kind kind, const std::string& name_space, const std::string& name, bool at_once = false);
  bool HasNamespace(const std::string& name) const { return cluster().objects().namespaces.Find(name) != nullptr; }
  std::vector<std::string> NodeNames() const;
  // Allocates devices to the claims that have none, each on some node, without a pod. "": those of every namespace.
  // Fails if one cannot be allocated.
  Result<void> AllocateClaims(const std::string& name_space);

  struct PodRecord {
    std::shared_ptr<const api::Pod> pod;
    uint64_t sequence = 0;  // order of creation
    bool attempted = false;
    std::string message;  // of the last attempt that failed

    PodStage stage() const;
  };
  // In the order of creation.
  std::vector<const PodRecord*> Pods() const;

  // Schedules one pod. False if none is ready.
  bool Step();
  // When something becomes ready by itself: a backoff or a wait in Permit ends. Unset: never.
  std::optional<base::Time> NextWake();

  // framework::ApiWriter
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override;
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check,
                          base::Duration timeout) override;
  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override;
  ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override;
  Result<void> SetExtendedResourceClaimStatus(const framework::PodInfo& pod,
                                              const api::PodExtendedResourceClaimStatus& status) override;
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) override;
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo& pod) override;
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeallocateResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeleteResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;

 private:
  InMemoryCluster(const config::FeatureGates& gates, Options options);

  Result<void> MakeDriver(const config::KubeSchedulerConfiguration& configuration, const framework::Registry& registry);
  const scheduler::Driver& driver() const { return *driver_; }
  const cluster::Cluster& cluster() const { return driver().cluster(); }

  // scheduler::DriverObserver
  void OnCycleBegin(const framework::PodInfoPtr& pod) override;
  void OnCycleEnd(const scheduler::Attempt& attempt) override;
  void OnBound(const scheduler::Attempt& attempt) override;
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo& newest) override;

  void CreatePod(std::shared_ptr<const api::Pod> pod);
  void ReplacePod(PodRecord& record, std::shared_ptr<const api::Pod> pod);
  void DeletePod(const std::string& uid, bool at_once = false);
  void RemovePod(const std::string& uid);
  void Put(const api::Object& object);
  PodRecord* FindPod(const std::string& name_space, const std::string& name);
  // What binding writes into the pod's status is reported together with its node.
  void ChangeStatus(const framework::PodInfo& pod, const std::function<void(api::PodStatus&)>& change);
  Result<void> AllocateClaim(const api::ResourceClaim& claim, std::vector<const framework::NodeInfo*>& nodes);
  void Notify(const api::Pod* before, PodStage stage_before, const api::Pod* after, PodStage stage_after);

  const config::FeatureGates gates_;
  const Options options_;
  const base::MonotonicClock clock_;
  RunMetrics metrics_;
  WayCounts ways_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::unique_ptr<controllers::VolumeController> volumes_;
  std::unique_ptr<controllers::ClaimController> claims_;
  base::Random random_;                                    // for claims that are allocated without a pod
  std::unordered_map<std::string, PodRecord> pods_;        // by UID
  std::unordered_map<std::string, std::string> pod_uids_;  // by namespace/name
  std::vector<PodObserver*> observers_;
  uint64_t next_number_ = 0;  // of names and UIDs
};

}  // namespace berth::perf
