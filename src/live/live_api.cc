#include "live/live_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/log.h"
#include "client/api_path.h"
#include "client/pod_status_writer.h"
#include "client/write_bodies.h"
#include "cluster/cluster.h"
#include "codec/json_writer.h"

namespace berth::live {

using framework::PodInfo;
using framework::Status;

namespace {

Status AsStatus(const Result<void>& result) { return result ? Status::Success() : Status::FromError(result.error()); }
Status AsStatus(const Result<api::Object>& result) {
  return result ? Status::Success() : Status::FromError(result.error());
}

client::EventNote NoteAbout(const api::Pod& pod, std::string type, std::string reason, std::string action,
                            std::string note) {
  return {.reporting_controller = pod.spec.scheduler_name,
          .regarding = client::ReferenceTo(api::Kind::kPod, pod.metadata),
          .type = std::move(type),
          .reason = std::move(reason),
          .action = std::move(action),
          .note = std::move(note)};
}

}  // namespace

const Error& LiveApi::Stopping() {
  static const Error error = Error::Unavailable("the scheduler is stopping");
  return error;
}

Status LiveApi::Bind(const PodInfo& pod, const std::string& node_name) {
  LOG_INFO(3, "Attempting to bind pod to node", {"pod", pod.Key()}, {"node", node_name});
  return AsStatus(Call<void>([&](auto done) {
    client_.Bind(pod.pod(), node_name, [done = std::move(done), call = bindings_.Begin()](const Result<void>& bound) {
      call.End(bound.ok());
      done(bound);
    });
  }));
}

Result<void> LiveApi::ConfirmBound(const PodInfo& pod, const std::string& node_name, const Error& refusal) {
  return Call<void>([&](auto done) { client_.ConfirmBound(pod.pod(), node_name, refusal, std::move(done)); });
}

Status LiveApi::UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) {
  if (!volume->spec.claim_ref) return Status::Error("a volume is written only to bind it to a claim");
  return AsStatus(Call<api::Object>([&](auto done) {
    client_.PatchClaimRef(*volume, *volume->spec.claim_ref, volume->metadata.annotations, std::move(done));
  }));
}

Status LiveApi::UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  return AsStatus(Call<api::Object>(
      [&](auto done) { client_.PatchAnnotations(api::Object(claim), claim->metadata.annotations, std::move(done)); }));
}

Status LiveApi::Await(const std::function<std::optional<Status>()>& check, base::Duration timeout) {
  const auto answer = std::make_shared<Status>();
  const bool answered = runner_.WaitFor(BindingRunner::Length::kLong, [&](const BindingRunner::Resume& resume) {
    mailbox_.Post([this, check, timeout, answer, resume] {
      waits_.push_back({check, clock_.Now() + timeout, [answer, resume](Status status) {
                          *answer = std::move(status);
                          resume();
                        }});
      CheckWaits();
    });
  });
  return answered ? *answer : Status::FromError(Stopping());
}

namespace {

framework::ApiWriter::ClaimResult AsClaim(const Result<api::Object>& result) {
  if (!result) return result.error();
  std::shared_ptr<const api::ResourceClaim> claim = result->Share<api::ResourceClaim>();
  if (!claim) return Error::Internal("the API server answered with something that is no ResourceClaim");
  return claim;
}

}  // namespace

framework::ApiWriter::ClaimResult LiveApi::GetResourceClaim(const std::string& name_space, const std::string& name) {
  return AsClaim(
      Call<api::Object>([&](auto done) { client_.Get(api::Kind::kResourceClaim, name_space, name, std::move(done)); }));
}

framework::ApiWriter::ClaimResult LiveApi::CreateResourceClaim(const api::ResourceClaim& claim) {
  ClaimResult created =
      AsClaim(Call<api::Object>([&](auto done) { client_.CreateResourceClaim(claim, std::move(done)); }));
  claims_created_.With(created ? "success" : "failure").Add();
  return created;
}

framework::ApiWriter::ClaimResult LiveApi::UpdateResourceClaim(const api::ResourceClaim& claim) {
  return AsClaim(Call<api::Object>([&](auto done) {
    client_.PatchResourceClaim(claim, client::ApiClient::ClaimWrite::kFinalizers, std::move(done));
  }));
}

framework::ApiWriter::ClaimResult LiveApi::UpdateResourceClaimStatus(const api::ResourceClaim& claim) {
  return AsClaim(Call<api::Object>(
      [&](auto done) { client_.PatchResourceClaim(claim, client::ApiClient::ClaimWrite::kStatus, std::move(done)); }));
}

Result<void> LiveApi::SetExtendedResourceClaimStatus(const PodInfo& pod,
                                                     const api::PodExtendedResourceClaimStatus& status) {
  return Call<void>([&](auto done) {
    client_.PatchPodClaims(pod.pod(), client::ExtendedResourceClaimPatch(pod.uid(), status), std::move(done));
  });
}

Result<void> LiveApi::SetNodeAllocatableResourceClaimStatuses(
    const PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) {
  return Call<void>([&](auto done) {
    client_.PatchPodClaims(pod.pod(), client::NodeAllocatableResourceClaimsPatch(pod.uid(), statuses), std::move(done));
  });
}

void LiveApi::Announce(const PodInfo& pod, const std::string& reason, const std::string& action,
                       const std::string& note) {
  mailbox_.Post([this, about = NoteAbout(pod.pod(), "Normal", reason, action, note)] { events_.Record(about); });
}

void LiveApi::NoteDeviceWait(const PodInfo& pod, const api::ResourceClaim& claim, std::string_view outcome,
                             base::Duration took) {
  if (!claim.status.allocation) return;
  const std::string& profile = pod.pod().spec.scheduler_name;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->devices.results) {
    device_waits_.With(profile, result.driver, outcome).Observe(std::chrono::duration<double>(took).count());
    if (!result.binding_conditions.empty()) device_allocations_.With(profile, result.driver, outcome).Add();
  }
}

Status LiveApi::UnreserveResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  client_.UnreserveResourceClaim(claim, pod.uid(), [key = api::KeyOf(claim.metadata)](const Result<void>& done) {
    if (!done) LOG_ERROR("unreserve", {"err", done.error()}, {"resourceclaim", key});
  });
  return Status::Success();
}

// The pod is asleep by now and waits for the claim to change, which it will not. A claim that does not exist any more
// is reported by its watch.
std::function<void(const Error&)> LiveApi::WhenLost(std::string what, const api::ResourceClaim& claim,
                                                    const PodInfo& pod) {
  return [this, what = std::move(what), key = api::KeyOf(claim.metadata), uid = pod.uid()](const Error& error) {
    if (error.code == ErrorCode::kNotFound) return;
    LOG_ERROR(what, {"err", error}, {"resourceclaim", key});
    mailbox_.Post([this, uid] { on_lost_write_(uid); });
  };
}

Status LiveApi::DeallocateResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  client_.PatchResourceClaim(claim, client::ApiClient::ClaimWrite::kDeallocation,
                             [lost = WhenLost("deallocate", claim, pod)](const Result<api::Object>& done) {
                               if (!done) lost(done.error());
                             });
  return Status::Success();
}

Status LiveApi::ClearNodeAllocatableResourceClaimStatuses(const PodInfo& pod) {
  client_.PatchPodClaims(pod.pod(), client::NodeAllocatableResourceClaimsPatch(pod.uid(), {}),
                         [key = pod.Key()](const Result<void>& done) {
                           if (done || done.error().code == ErrorCode::kNotFound) return;
                           LOG_ERROR("clear nodeAllocatableResourceClaimStatuses", {"err", done.error()}, {"pod", key});
                         });
  return Status::Success();
}

Status LiveApi::DeleteResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) {
  api::ResourceClaim released = claim;
  std::erase(released.metadata.finalizers, "resource.kubernetes.io/delete-protection");
  client_.PatchResourceClaim(
      released, client::ApiClient::ClaimWrite::kFinalizers,
      [this, released, lost = WhenLost("delete", claim, pod)](const Result<api::Object>& patched) {
        if (!patched) return lost(patched.error());
        client_.DeleteResourceClaim(released, [lost](const Result<void>& done) {
          if (!done) lost(done.error());
        });
      });
  return Status::Success();
}

void LiveApi::CheckWaits() {
  if (waits_.empty()) return;
  const base::Time now = clock_.Now();
  for (auto it = waits_.begin(); it != waits_.end();) {
    std::optional<Status> answer = it->check();
    if (!answer && now >= it->deadline) answer = Status::Error("binding volumes: context deadline exceeded");
    if (!answer) {
      ++it;
      continue;
    }
    it->done(*std::move(answer));
    it = waits_.erase(it);
  }
}

void LiveApi::AbandonWaits() {
  for (Wait& wait : waits_) wait.done(Status::Error("binding volumes: the scheduler is stopping"));
  waits_.clear();
}

std::optional<base::Time> LiveApi::NextTimeout() const {
  std::optional<base::Time> next;
  for (const Wait& wait : waits_) next = next ? std::min(*next, wait.deadline) : wait.deadline;
  return next;
}

Status LiveApi::SetNominatedNode(const PodInfo& pod, const std::string& node_name) {
  nominations_[pod.uid()] = {pod.shared_pod(), node_name};
  return Status::Success();
}

void LiveApi::FlushNominations() {
  for (auto& [uid, nomination] : nominations_) {
    if (!nomination.node_name.empty() && cluster_->IsAssumed(uid)) {
      AnnounceNode(nomination);
      continue;
    }
    PatchStatus(std::move(nomination.pod), {.nominated_node_name = nomination.node_name});
  }
  nominations_.clear();
}

// In the queue of its binding, ahead of it: written later, it would stay on the bound pod for good. The binding does
// not depend on it.
void LiveApi::AnnounceNode(const Nomination& nomination) {
  if (!client_.CanAccept(client::WriteClass::kBind)) return;
  client_.PatchPodStatus(
      *nomination.pod, {.nominated_node_name = nomination.node_name},
      [pod = nomination.pod, call = status_patches_.Begin()](const Result<void>& patched) {
        call.End(patched.ok());
        if (patched) return;
        LOG_ERROR("Failed to update the nominated node name in the binding cycle", {"err", patched.error()},
                  {"pod", api::KeyOf(pod->metadata)});
      },
      client::WriteClass::kBind);
}

// A full queue must not lose a report: nothing would say why that pod is pending until it is tried again. There is at
// most one per pod.
void LiveApi::PatchStatus(std::shared_ptr<const api::Pod> pod, const client::PodStatusChange& change) {
  if (unsent_.empty() && client_.CanAccept(client::WriteClass::kStatus)) return SendStatus(pod, change);
  Report& report = unsent_[pod->metadata.uid];
  report.pod = std::move(pod);
  client::Merge(change, report.change);
}

void LiveApi::SendUnsent() {
  while (!unsent_.empty() && client_.CanAccept(client::WriteClass::kStatus)) {
    const auto report = unsent_.extract(unsent_.begin());
    // The pod has found a node since: the report would be wrong, and the binding reports the node.
    if (cluster_->FindPod(report.key()) != nullptr) continue;
    SendStatus(report.mapped().pod, report.mapped().change);
  }
}

void LiveApi::SendStatus(const std::shared_ptr<const api::Pod>& pod, const client::PodStatusChange& change) {
  client_.PatchPodStatus(*pod, change, [pod, call = status_patches_.Begin()](const Result<void>& patched) {
    call.End(patched.ok());
    if (!patched) LOG_ERROR("Error updating pod", {"err", patched.error()}, {"pod", api::KeyOf(pod->metadata)});
  });
}

void LiveApi::ReportScheduled(const PodInfo& pod, const std::string& node_name) {
  events_.Record(NoteAbout(pod.pod(), "Normal", "Scheduled", "Binding",
                           fmt::format("Successfully assigned {} to {}", pod.Key(), node_name)));
}

// Through pods/status, for which the scheduler has permission in every cluster. The UID is a precondition.
void LiveApi::Annotate(const PodInfo& pod, const std::vector<std::pair<std::string, std::string>>& annotations) {
  if (!client_.CanAccept(client::WriteClass::kEvents)) return;
  http::Request request{.method = "PATCH",
                        .path = client::ObjectPath(api::Kind::kPod, pod.namespace_().str(), pod.name()) + "/status"};
  request.headers = client_.AcceptObjects();
  request.headers.emplace_back("Content-Type", "application/merge-patch+json");
  codec::JsonWriter json(request.body);
  json.StartObject();
  json.Key("metadata");
  json.StartObject();
  json.Key("uid");
  json.String(pod.uid());
  json.Key("annotations");
  json.StartObject();
  for (const auto& [name, text] : annotations) {
    json.Key(name);
    json.String(text);
  }
  json.EndObject();
  json.EndObject();
  json.EndObject();
  client_.Write(client::WriteClass::kEvents, "", std::move(request),
                [key = pod.Key()](const client::ApiAnswer& answer) {
                  if (!answer.ok())
                    LOG_INFO(2, "Results were not written on the pod", {"pod", key}, {"err", answer.ToError()});
                });
}

void LiveApi::ReportFailure(const PodInfo& pod, const scheduler::Attempt& attempt) {
  events_.Record(NoteAbout(pod.pod(), "Warning", "FailedScheduling", "Scheduling", attempt.message));
  const bool unschedulable = attempt.outcome == scheduler::Outcome::kUnschedulable;
  client::PodStatusChange change;
  change.condition = api::PodCondition{.type = "PodScheduled",
                                       .status = "False",
                                       .reason = unschedulable ? "Unschedulable" : "SchedulerError",
                                       .message = attempt.message};
  if (auto nomination = nominations_.extract(pod.uid()); !nomination.empty()) {
    change.nominated_node_name = std::move(nomination.mapped().node_name);
  }
  PatchStatus(pod.shared_pod(), std::move(change));
}

void LiveApi::ReportDeleting(const PodInfo& pod) {
  events_.Record(
      NoteAbout(pod.pod(), "Warning", "FailedScheduling", "Scheduling", "skip schedule deleting pod: " + pod.Key()));
}

}  // namespace berth::live
