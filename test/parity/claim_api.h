// ClaimApi: an API server for resource claims that records what was written to it, for comparison with what
// kube-scheduler wrote.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "framework/handle.h"

namespace berth::parity {

class ClaimApi final : public framework::SimpleApiWriter {
 public:
  explicit ClaimApi(const base::Clock& clock) : clock_(clock) {}

  // Sets the claims for the next decision and discards the recorded writes.
  void Start(const framework::ObjectStore<api::ResourceClaim>& claims);

  struct Write {
    std::string verb;
    std::string resource;
    std::string subresource;
    std::string object;
    std::string patch;  // JSON
  };
  std::vector<Write> TakeWrites() { return std::exchange(writes_, {}); }
  // As in the recordings: every claim that has changed, as JSON by namespace/name; null if it is gone.
  std::map<std::string, std::string> ChangedClaims() const;

  struct Noted {
    std::string reason, action, note;
  };
  std::vector<Noted> events;
  bool waits = false;  // PreBind waits for devices to become ready
  std::optional<api::PodExtendedResourceClaimStatus> extended_status;
  std::vector<api::NodeAllocatableResourceClaimStatus> node_allocatable;

  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check, base::Duration) override;

  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override;
  ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override;
  Result<void> SetExtendedResourceClaimStatus(const framework::PodInfo& pod,
                                              const api::PodExtendedResourceClaimStatus& status) override;
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) override;
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo& pod) override;
  void Announce(const framework::PodInfo& pod, const std::string& reason, const std::string& action,
                const std::string& note) override;
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeallocateResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeleteResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;

 private:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  void Wrote(std::string verb, const api::ResourceClaim& claim, std::string subresource = {}, std::string patch = {});
  ClaimPtr Put(api::ResourceClaim claim);

  const base::Clock& clock_;
  std::map<std::string, ClaimPtr> before_;
  std::map<std::string, ClaimPtr> claims_;
  std::vector<Write> writes_;
};

// The allocation as in the recordings: "*" for generated values.
std::string AllocationText(const api::AllocationResult& allocation, base::Time now);

}  // namespace berth::parity
