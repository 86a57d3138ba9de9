#include "storm/api_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/coordination.h"
#include "api/pod.h"
#include "codec/json.h"
#include "storm/plan.h"
#include "storm/process.h"

namespace berth::storm {
namespace {

constexpr int64_t kDefaultGraceSeconds = 30;

Reply NotFound(const ApiRequest& parsed) {
  return RefusalReply(
      {404, "NotFound", fmt::format("{} \"{}\" not found", api::InfoOf(parsed.kind).resource, parsed.name)});
}
Reply Conflict(const ApiRequest& parsed, std::string_view why) {
  return RefusalReply({409, "Conflict",
                       fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", api::InfoOf(parsed.kind).resource,
                                   parsed.name, why)});
}
Reply Invalid(const Error& error) { return RefusalReply({400, "BadRequest", error.message}); }

WriteClass ClassOf(const http::Request& request, const ApiRequest& parsed) {
  if (parsed.kind == api::Kind::kLease) return WriteClass::kLease;
  if (parsed.kind == api::Kind::kEvent) return WriteClass::kEvent;
  if (parsed.kind == api::Kind::kResourceClaim) return WriteClass::kClaim;
  if (parsed.kind != api::Kind::kPod) return WriteClass::kVolume;
  if (parsed.subresource == "binding") return WriteClass::kBind;
  if (parsed.subresource == "status") return WriteClass::kStatus;
  return request.method == "DELETE" ? WriteClass::kDelete : WriteClass::kOther;
}

void SetText(const codec::Value& object, std::string_view key, std::string& text) {
  if (const codec::Value* value = object.Find(key))
    text = value->is_null() ? std::string() : std::string(value->text());
}

// Strategic merge: conditions merge by type, and only the given fields change.
void MergeCondition(const codec::Value& patch, api::PodStatus& status) {
  std::string type;
  SetText(patch, "type", type);
  auto found = std::find_if(status.conditions.begin(), status.conditions.end(),
                            [&](const api::PodCondition& condition) { return condition.type == type; });
  if (found == status.conditions.end()) {
    status.conditions.push_back({.type = type});
    found = std::prev(status.conditions.end());
  }
  SetText(patch, "status", found->status);
  SetText(patch, "reason", found->reason);
  SetText(patch, "message", found->message);
}

bool SameConditions(const api::PodStatus& a, const api::PodStatus& b) {
  return std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(), b.conditions.end(),
                    [](const api::PodCondition& x, const api::PodCondition& y) {
                      return std::tie(x.type, x.status, x.reason, x.message) ==
                             std::tie(y.type, y.status, y.reason, y.message);
                    });
}

}  // namespace

std::string_view NameOf(WriteClass write_class) {
  constexpr std::string_view kNames[] = {"lease", "bind", "delete", "status", "event", "claim", "volume", "other"};
  return kNames[static_cast<size_t>(write_class)];
}

void ApiWrites::Tell(const Write& write) {
  for (const auto& observer : observers_) observer(write);
}

Reply ApiWrites::Handle(const http::Request& request, const ApiRequest& parsed, Write write) {
  write.write_class = ClassOf(request, parsed);
  write.key = parsed.Key();
  Reply reply = Dispatch(request, parsed, write);
  write.code = reply.code;
  Tell(write);
  return reply;
}

Reply ApiWrites::Dispatch(const http::Request& request, const ApiRequest& parsed, Write& write) {
  switch (write.write_class) {
    case WriteClass::kLease:
      return WriteLease(request, parsed);
    case WriteClass::kBind:
      return Bind(request, parsed, write);
    case WriteClass::kDelete:
      return Delete(request, parsed, write);
    case WriteClass::kStatus:
      return PatchPodStatus(request, parsed, write);
    case WriteClass::kEvent:
      return WriteEvent(request, parsed, write);
    case WriteClass::kClaim:
      return WriteClaim(request, parsed, write);
    case WriteClass::kVolume:
      return WriteVolume(request, parsed, write);
    case WriteClass::kOther:
      break;
  }
  return RefusalReply({405, "MethodNotAllowed", "the model does not do this"});
}

Reply ApiWrites::Bind(const http::Request& request, const ApiRequest& parsed, Write& write) {
  const Result<BindingBody> body = ReadBinding(request);
  if (!body) return Invalid(body.error());
  write.uid = body->uid;
  write.node = body->node;
  const api::Pod* found = store_.Find<api::Pod>(parsed.Key());
  if (found == nullptr) return NotFound(parsed);
  if (!body->uid.empty() && body->uid != found->metadata.uid) {
    return Conflict(parsed, fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                        body->uid, found->metadata.uid));
  }
  if (found->metadata.deletion_timestamp) return Conflict(parsed, "pod is being deleted, cannot be assigned to a host");
  if (!found->spec.node_name.empty()) {
    return Conflict(parsed, fmt::format("pod is already assigned to node \"{}\"", found->spec.node_name));
  }
  if (!found->spec.scheduling_gates.empty()) return Conflict(parsed, "pod has non-empty .spec.schedulingGates");
  const bool refused = found->metadata.labels.Contains(Symbol(kRefused));
  if (refused || faults_.Strikes(Fault::kAdmission))
    return RefusalReply({kRefusedByAdmission, "Invalid", "the binding is refused by admission"});
  Tell(write);
  api::Pod pod = *found;
  pod.spec.node_name = body->node;
  std::erase_if(pod.status.conditions, [](const api::PodCondition& c) { return c.type == "PodScheduled"; });
  pod.status.conditions.push_back({.type = "PodScheduled", .status = "True"});
  store_.Put(std::move(pod));
  return SuccessReply(201);
}

Reply ApiWrites::PatchPodStatus(const http::Request& request, const ApiRequest& parsed, Write& write) {
  const Result<codec::Document> document = codec::ParseJson(request.body, "patch");
  if (!document) return Invalid(document.error());
  const api::Pod* found = store_.Find<api::Pod>(parsed.Key());
  if (found == nullptr) return NotFound(parsed);
  write.uid = found->metadata.uid;
  const codec::Value* metadata = document->root().Find("metadata");
  const codec::Value* uid = metadata != nullptr ? metadata->Find("uid") : nullptr;
  if (uid != nullptr && uid->text() != found->metadata.uid) {
    return RefusalReply(
        {422, "Invalid", fmt::format("metadata.uid: Invalid value: \"{}\": field is immutable", uid->text())});
  }
  const codec::Value* version = metadata != nullptr ? metadata->Find("resourceVersion") : nullptr;
  if (version != nullptr && version->text() != found->metadata.resource_version) {
    return Conflict(parsed, "the object has been modified; please apply your changes to the latest version");
  }
  api::Pod pod = *found;
  bool has_new_time = false;
  const codec::Value* status = document->root().Find("status");
  const codec::Value* node = status != nullptr ? status->Find("nominatedNodeName") : nullptr;
  const bool only_sets_node = node != nullptr && !node->is_null() && status->Find("conditions") == nullptr;
  if (only_sets_node && faults_.Strikes(Fault::kRefusedNode)) {
    return RefusalReply({403, "Forbidden", "admission webhook \"example.com\" denied the request"});
  }
  if (status != nullptr) {
    if (const codec::Value* conditions = status->Find("conditions")) {
      for (const codec::Value& condition : conditions->items()) {
        MergeCondition(condition, pod.status);
        const codec::Value* time = condition.Find("lastTransitionTime");
        has_new_time |= time != nullptr && std::exchange(transitions_[write.uid], time->text()) != time->text();
      }
    }
    SetText(*status, "nominatedNodeName", pod.status.nominated_node_name);
  }
  // A patch that changes nothing is not written.
  if (has_new_time || !SameConditions(pod.status, found->status) ||
      pod.status.nominated_node_name != found->status.nominated_node_name) {
    Tell(write);
    store_.Put(std::move(pod));
  }
  return ObjectReply(200, parsed.protobuf, *store_.FindObject(api::Kind::kPod, parsed.Key()));
}

Reply ApiWrites::Delete(const http::Request& request, const ApiRequest& parsed, Write& write) {
  const api::Pod* found = store_.Find<api::Pod>(parsed.Key());
  if (found == nullptr) return NotFound(parsed);
  write.uid = found->metadata.uid;
  if (!request.body.empty()) {
    const Result<codec::Document> document = codec::ParseJson(request.body, "options");
    if (!document) return Invalid(document.error());
    const codec::Value* preconditions = document->root().Find("preconditions");
    const codec::Value* uid = preconditions != nullptr ? preconditions->Find("uid") : nullptr;
    if (uid != nullptr && uid->text() != found->metadata.uid)
      return Conflict(parsed, "the UID in the precondition differs");
  }
  Tell(write);
  DeletePod(parsed.Key(), kDefaultGraceSeconds);
  return SuccessReply(200);
}

void ApiWrites::DeletePod(const std::string& key, int64_t default_grace_seconds) {
  const api::Pod* found = store_.Find<api::Pod>(key);
  if (found == nullptr || found->metadata.deletion_timestamp) return;
  const int64_t grace = found->spec.termination_grace_period_seconds.value_or(default_grace_seconds);
  // There is no kubelet to end it gracefully.
  if (found->spec.node_name.empty() || grace == 0 || api::IsTerminated(*found)) return store_.Delete<api::Pod>(key);
  api::Pod pod = *found;
  pod.metadata.deletion_timestamp = base::Time(kEpoch + timeline_.Now() + std::chrono::seconds(grace));
  pod.metadata.deletion_grace_period_seconds = grace;
  store_.Put(std::move(pod));
}

Reply ApiWrites::WriteLease(const http::Request& request, const ApiRequest& parsed) {
  const Result<api::Object> body = ReadObject(request);
  if (!body) return Invalid(body.error());
  const api::Lease* sent = body->As<api::Lease>();
  if (sent == nullptr) return Invalid(Error::InvalidArgument("expected a Lease"));
  const std::string key = api::KeyOf(sent->metadata);
  const api::Lease* found = store_.Find<api::Lease>(key);
  if (request.method == "POST") {
    if (found != nullptr) {
      return RefusalReply({409, "AlreadyExists", fmt::format("leases \"{}\" already exists", sent->metadata.name)});
    }
  } else {
    if (found == nullptr) return NotFound(parsed);
    if (found->metadata.resource_version != sent->metadata.resource_version) {
      return Conflict(parsed, "the object has been modified; please apply your changes to the latest version");
    }
  }
  api::Lease lease = *sent;
  lease.metadata.uid = found != nullptr ? found->metadata.uid : std::string();
  return ObjectReply(found != nullptr ? 200 : 201, parsed.protobuf, store_.Put(std::move(lease)));
}

Reply ApiWrites::WriteEvent(const http::Request& request, const ApiRequest& parsed, Write& write) {
  if (request.method == "PATCH") {
    const auto found = events_.find(parsed.Key());
    if (found == events_.end()) return NotFound(parsed);
    Tell(write);
    ++found->second;
    store_.Skip();
    api::Event event;
    event.metadata.name = parsed.name;
    event.metadata.namespace_ = Symbol(parsed.name_space);
    return ObjectReply(200, parsed.protobuf, api::MakeObject(std::move(event)));
  }
  const Result<api::Object> body = ReadObject(request);
  if (!body) return Invalid(body.error());
  write.key = api::KeyOf(body->metadata());
  if (events_.contains(write.key)) {
    return RefusalReply({409, "AlreadyExists", fmt::format("events \"{}\" already exists", body->metadata().name)});
  }
  Tell(write);
  events_.emplace(write.key, 1);
  store_.Skip();
  return ObjectReply(201, parsed.protobuf, *body);
}

}  // namespace berth::storm
