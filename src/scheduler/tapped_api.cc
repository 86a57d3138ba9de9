#include "scheduler/tapped_api.h"

#include <utility>

namespace berth::scheduler {

using framework::PodInfo;
using framework::Status;

namespace {

std::optional<Error> ErrorOf(const auto& result) {
  return result ? std::nullopt : std::optional<Error>(result.error());
}

ApiAnswer AnswerOf(ApiAnswer::Call call, const Status& status) { return {.call = call, .status = status}; }
ApiAnswer AnswerOf(ApiAnswer::Call call, const Result<void>& result) {
  return {.call = call, .error = ErrorOf(result)};
}
ApiAnswer AnswerOf(ApiAnswer::Call call, const framework::ApiWriter::ClaimResult& result) {
  return {.call = call, .error = ErrorOf(result), .claim = result ? *result : nullptr};
}

ApiAnswer AnswerOf(ApiAnswer::Call call, const Result<std::string>& result) {
  return {.call = call, .error = ErrorOf(result), .body = result ? *result : std::string()};
}

// While `ask` waits for its answer, the thread may turn to other binding cycles.
template <class Ask>
auto Kept(ApiAnswer::Call call, Ask&& ask) {
  ApiAnswers* const answers = running_answers;
  auto answer = ask();
  running_answers = answers;
  if (answers) answers->push_back(AnswerOf(call, answer));
  return answer;
}

}  // namespace

Status TappedApi::Bind(const PodInfo& pod, const std::string& node_name) {
  return Kept(ApiAnswer::Call::kBind, [&] { return api_.Bind(pod, node_name); });
}

Status TappedApi::UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) {
  return Kept(ApiAnswer::Call::kUpdateVolume, [&] { return api_.UpdatePersistentVolume(std::move(volume)); });
}

Status TappedApi::UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  return Kept(ApiAnswer::Call::kUpdateVolumeClaim, [&] { return api_.UpdatePersistentVolumeClaim(std::move(claim)); });
}

Status TappedApi::Await(const std::function<std::optional<Status>()>& check, base::Duration timeout) {
  return Kept(ApiAnswer::Call::kAwait, [&] { return api_.Await(check, timeout); });
}

framework::ApiWriter::ClaimResult TappedApi::GetResourceClaim(const std::string& name_space, const std::string& name) {
  return Kept(ApiAnswer::Call::kGetClaim, [&] { return api_.GetResourceClaim(name_space, name); });
}

framework::ApiWriter::ClaimResult TappedApi::CreateResourceClaim(const api::ResourceClaim& claim) {
  return Kept(ApiAnswer::Call::kCreateClaim, [&] { return api_.CreateResourceClaim(claim); });
}

framework::ApiWriter::ClaimResult TappedApi::UpdateResourceClaim(const api::ResourceClaim& claim) {
  return Kept(ApiAnswer::Call::kUpdateClaim, [&] { return api_.UpdateResourceClaim(claim); });
}

framework::ApiWriter::ClaimResult TappedApi::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  return Kept(ApiAnswer::Call::kUpdateClaimStatus, [&] { return api_.UpdateResourceClaimStatus(claim); });
}

Result<void> TappedApi::SetExtendedResourceClaimStatus(const PodInfo& pod,
                                                       const api::PodExtendedResourceClaimStatus& status) {
  return Kept(ApiAnswer::Call::kSetExtendedResourceClaim,
              [&] { return api_.SetExtendedResourceClaimStatus(pod, status); });
}

Result<void> TappedApi::SetNodeAllocatableResourceClaimStatuses(
    const PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) {
  return Kept(ApiAnswer::Call::kSetNodeAllocatableClaims,
              [&] { return api_.SetNodeAllocatableResourceClaimStatuses(pod, statuses); });
}

Result<std::string> TappedApi::Call(const framework::ObjectCall& call) {
  Result<std::string> answer = Kept(ApiAnswer::Call::kObject, [&] { return api_.Call(call); });
  if (running_answers && !KeepsBodyOf(call)) {
    running_answers->back() = {.call = ApiAnswer::Call::kObject, .withheld = true};
  }
  return answer;
}

void TappedApi::KeepBodiesOf(const framework::CustomObjects& watched) {
  for (const auto& [number, one] : watched.watched()) kept_.insert(one.resource);
}

bool TappedApi::KeepsBodyOf(const framework::ObjectCall& call) const {
  // A subresource may give something else than the object: a token of a service account, for instance.
  if (!call.subresource.empty() && call.subresource != "status") return false;
  return kept_.contains(call.resource) && !api::IsSecret(call.resource);
}

bool TappedApi::IsEvictingFor(const PodInfo& preemptor) const {
  const size_t nth = evicting_asked_[preemptor.uid()]++;
  const bool evicting = api_.IsEvictingFor(preemptor);
  if (evicting) tap_.OnEvicting(preemptor.uid(), nth);
  return evicting;
}

Result<engine::ExtenderVerdicts> TappedExtender::Filter(const PodInfo& pod, engine::Nodes nodes) {
  Result<engine::ExtenderVerdicts> verdicts = extender_.Filter(pod, nodes);
  tap_.OnExtender({.extender = name(), .verdicts = &verdicts});
  return verdicts;
}

// Told when somebody looks at the answer, which is on the scheduling thread.
std::future<Result<std::vector<engine::HostPriority>>> TappedExtender::Prioritize(const PodInfo& pod,
                                                                                  engine::Nodes nodes) {
  return std::async(std::launch::deferred, [this, asked = extender_.Prioritize(pod, nodes)]() mutable {
    Result<std::vector<engine::HostPriority>> priorities = asked.get();
    tap_.OnExtender({.extender = name(), .priorities = &priorities});
    return priorities;
  });
}

Result<std::vector<framework::PreemptionCandidate>> TappedExtender::ProcessPreemption(
    const PodInfo& pod, std::span<const framework::PreemptionCandidate> candidates,
    const framework::ClusterView& cluster) {
  Result<std::vector<framework::PreemptionCandidate>> left = extender_.ProcessPreemption(pod, candidates, cluster);
  tap_.OnExtender({.extender = name(), .candidates = &left});
  return left;
}

Result<void> TappedExtender::SendBind(const PodInfo& pod, const std::string& node_name) {
  return Kept(ApiAnswer::Call::kExtenderBind, [&] { return extender_.Bind(pod, node_name); });
}

}  // namespace berth::scheduler
