// TappedApi: an ApiWriter that stores the responses that can affect what the driver does: for the binding cycle that
// made the call (running_answers), and for the tap.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/custom_objects.h"
#include "framework/handle.h"
#include "scheduler/api_answers.h"
#include "scheduler/tap.h"

namespace berth::scheduler {

class TappedApi final : public framework::ApiWriter {
 public:
  // Both must outlive it.
  TappedApi(framework::ApiWriter& api, Tap& tap) : api_(api), tap_(tap) {}

  // Stores the results of plugins' own API calls (Call) for resources that they watch, whose objects are inputs anyway.
  // For other resources, for Secrets and for subresources other than status, only the call itself is stored. Call this
  // before the first binding cycle.
  void KeepBodiesOf(const framework::CustomObjects& watched);

  // Another input begins.
  void BeginInput() { evicting_asked_.clear(); }

  // In a binding cycle.
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
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
  Result<std::string> Call(const framework::ObjectCall& call) override;
  void Record(const std::string& reporter, const framework::EventReport& event) override {
    api_.Record(reporter, event);
  }
  void Announce(const framework::PodInfo& pod, const std::string& reason, const std::string& action,
                const std::string& note) override {
    api_.Announce(pod, reason, action, note);
  }
  void NoteDeviceWait(const framework::PodInfo& pod, const api::ResourceClaim& claim, std::string_view outcome,
                      base::Duration took) override {
    api_.NoteDeviceWait(pod, claim, outcome, took);
  }

  // On the scheduling thread. No decision depends on their results.
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override {
    return api_.Evict(victim, preemptor);
  }
  void EvictAll(std::span<const framework::PodInfoPtr> victims, const framework::PodInfo& preemptor) override {
    api_.EvictAll(victims, preemptor);
  }
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override {
    return api_.SetNominatedNode(pod, node_name);
  }
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override {
    return api_.UnreserveResourceClaim(claim, pod);
  }
  framework::Status DeallocateResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override {
    return api_.DeallocateResourceClaim(claim, pod);
  }
  framework::Status DeleteResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override {
    return api_.DeleteResourceClaim(claim, pod);
  }
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo& pod) override {
    return api_.ClearNodeAllocatableResourceClaimStatuses(pod);
  }
  bool IsEvictingFor(const framework::PodInfo& preemptor) const override;

 private:
  bool KeepsBodyOf(const framework::ObjectCall& call) const;

  framework::ApiWriter& api_;
  Tap& tap_;
  std::set<api::GroupVersionResource> kept_;
  mutable std::map<std::string, size_t> evicting_asked_;  // in this input, by UID
};

// An extender whose responses are stored in the same way.
class TappedExtender final : public engine::Extender {
 public:
  TappedExtender(engine::Extender& extender, Tap& tap) : extender_(extender), tap_(tap) {}

  std::string_view name() const override { return extender_.name(); }
  bool IsInterested(const framework::PodInfo& pod) const override { return extender_.IsInterested(pod); }
  bool IsIgnorable() const override { return extender_.IsIgnorable(); }
  bool SupportsPreemption() const override { return extender_.SupportsPreemption(); }
  bool IsFilter() const override { return extender_.IsFilter(); }
  bool IsPrioritizer() const override { return extender_.IsPrioritizer(); }
  bool IsBinder() const override { return extender_.IsBinder(); }
  int64_t weight() const override { return extender_.weight(); }

  Result<engine::ExtenderVerdicts> Filter(const framework::PodInfo& pod, engine::Nodes nodes) override;
  std::future<Result<std::vector<engine::HostPriority>>> Prioritize(const framework::PodInfo& pod,
                                                                    engine::Nodes nodes) override;
  Result<std::vector<framework::PreemptionCandidate>> ProcessPreemption(
      const framework::PodInfo& pod, std::span<const framework::PreemptionCandidate> candidates,
      const framework::ClusterView& cluster) override;
  Result<void> SendBind(const framework::PodInfo& pod, const std::string& node_name) override;

 private:
  engine::Extender& extender_;
  Tap& tap_;
};

}  // namespace berth::scheduler
