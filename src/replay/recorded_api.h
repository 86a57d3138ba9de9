// An API and extenders that return the recorded responses.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/symbol.h"
#include "framework/handle.h"
#include "record/format.h"
#include "replay/records.h"

namespace berth::replay {

class RecordedApi final : public framework::ApiWriter {
 public:
  // Another input begins; its responses are used from now on. Both must outlive this.
  void Begin(const Input& input) {
    input_ = &input;
    next_answer_ = 0;
    next_extender_answer_ = 0;
    evicting_asked_.clear();
    problem_.clear();
  }
  // The call for which the recording has no response; empty if there was none.
  const std::string& problem() const { return problem_; }
  // The next response of this extender; null if there is none.
  const ExtenderRecord* NextOf(std::string_view extender, ExtenderRecord::Kind kind);

  framework::Status Bind(const framework::PodInfo&, const std::string&) override {
    return StatusOf(scheduler::ApiAnswer::Call::kBind);
  }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override {
    return StatusOf(scheduler::ApiAnswer::Call::kUpdateVolume);
  }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return StatusOf(scheduler::ApiAnswer::Call::kUpdateVolumeClaim);
  }
  // `check` is called, since it may store what it sees.
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check, base::Duration) override {
    (void)check();
    return StatusOf(scheduler::ApiAnswer::Call::kAwait);
  }
  ClaimResult GetResourceClaim(const std::string&, const std::string&) override {
    return ClaimOf(scheduler::ApiAnswer::Call::kGetClaim);
  }
  ClaimResult CreateResourceClaim(const api::ResourceClaim&) override {
    return ClaimOf(scheduler::ApiAnswer::Call::kCreateClaim);
  }
  ClaimResult UpdateResourceClaim(const api::ResourceClaim&) override {
    return ClaimOf(scheduler::ApiAnswer::Call::kUpdateClaim);
  }
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim&) override {
    return ClaimOf(scheduler::ApiAnswer::Call::kUpdateClaimStatus);
  }
  Result<void> SetExtendedResourceClaimStatus(const framework::PodInfo&,
                                              const api::PodExtendedResourceClaimStatus&) override {
    return DoneOf(scheduler::ApiAnswer::Call::kSetExtendedResourceClaim);
  }
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo&, const std::vector<api::NodeAllocatableResourceClaimStatus>&) override {
    return DoneOf(scheduler::ApiAnswer::Call::kSetNodeAllocatableClaims);
  }
  Result<std::string> Call(const framework::ObjectCall& call) override;
  Result<void> BindByExtender() { return DoneOf(scheduler::ApiAnswer::Call::kExtenderBind); }

  // Evicts and writes nothing: the consequences are in the recording.
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  void EvictAll(std::span<const framework::PodInfoPtr>, const framework::PodInfo&) override {}
  framework::Status UnreserveResourceClaim(const api::ResourceClaim&, const framework::PodInfo&) override { return {}; }
  framework::Status DeallocateResourceClaim(const api::ResourceClaim&, const framework::PodInfo&) override {
    return {};
  }
  framework::Status DeleteResourceClaim(const api::ResourceClaim&, const framework::PodInfo&) override { return {}; }
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo&) override { return {}; }
  void Record(const std::string&, const framework::EventReport&) override {}
  void Announce(const framework::PodInfo&, const std::string&, const std::string&, const std::string&) override {}
  void NoteDeviceWait(const framework::PodInfo&, const api::ResourceClaim&, std::string_view, base::Duration) override {
  }
  bool IsEvictingFor(const framework::PodInfo& preemptor) const override;

 private:
  // Null, with a problem noted, if the recording has another call here.
  const scheduler::ApiAnswer* Take(scheduler::ApiAnswer::Call call);
  framework::Status StatusOf(scheduler::ApiAnswer::Call call);
  Result<void> DoneOf(scheduler::ApiAnswer::Call call);
  ClaimResult ClaimOf(scheduler::ApiAnswer::Call call);

  const Input* input_ = nullptr;
  size_t next_answer_ = 0;
  size_t next_extender_answer_ = 0;
  mutable std::map<std::string, size_t> evicting_asked_;
  std::string problem_;
};

class RecordedExtender final : public engine::Extender {
 public:
  RecordedExtender(record::ExtenderNote note, RecordedApi& api);

  std::string_view name() const override { return note_.name; }
  bool IsInterested(const framework::PodInfo& pod) const override;
  bool IsIgnorable() const override { return note_.is_ignorable; }
  bool SupportsPreemption() const override { return note_.preempts; }
  bool IsFilter() const override { return note_.filters; }
  bool IsPrioritizer() const override { return note_.prioritizes; }
  bool IsBinder() const override { return note_.binds; }
  int64_t weight() const override { return note_.weight; }

  Result<engine::ExtenderVerdicts> Filter(const framework::PodInfo& pod, engine::Nodes nodes) override;
  std::future<Result<std::vector<engine::HostPriority>>> Prioritize(const framework::PodInfo& pod,
                                                                    engine::Nodes nodes) override;
  Result<std::vector<framework::PreemptionCandidate>> ProcessPreemption(
      const framework::PodInfo& pod, std::span<const framework::PreemptionCandidate> candidates,
      const framework::ClusterView& cluster) override;
  Result<void> SendBind(const framework::PodInfo&, const std::string&) override { return api_.BindByExtender(); }

 private:
  const record::ExtenderNote note_;
  RecordedApi& api_;
};

}  // namespace berth::replay
