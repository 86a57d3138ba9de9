#include "client/write_bodies.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/envelope.h"
#include "api/time.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"

namespace berth::client {
namespace {

using codec::JsonWriter;

void Text(JsonWriter& writer, std::string_view key, std::string_view value) {
  writer.Key(key);
  writer.String(value);
}

// A precondition: another object may have the name by now.
void WriteUid(JsonWriter& writer, std::string_view uid) {
  writer.Key("metadata");
  writer.StartObject();
  Text(writer, "uid", uid);
  writer.EndObject();
}

api::ObjectMeta BindingMeta(const api::Pod& pod) {
  api::ObjectMeta metadata;
  metadata.name = pod.metadata.name;
  metadata.namespace_ = pod.metadata.namespace_;
  metadata.uid = pod.metadata.uid;
  return metadata;
}

api::ObjectReference NodeReference(std::string_view node) {
  api::ObjectReference target;
  target.kind = "Node";
  target.name = node;
  return target;
}

const api::PodCondition* Find(const api::PodStatus& status, std::string_view type) {
  const auto found = std::find_if(status.conditions.begin(), status.conditions.end(),
                                  [&](const api::PodCondition& condition) { return condition.type == type; });
  return found != status.conditions.end() ? &*found : nullptr;
}

// A field that may be removed: null deletes it.
void OptionalText(JsonWriter& writer, std::string_view key, std::string_view value) {
  writer.Key(key);
  value.empty() ? writer.Null() : writer.String(value);
}

// One entry of the conditions, with fields in the order of their names as in upstream's encoder. Status, reason and
// message are written together even if `old` has one of them already: `old` may be outdated, and a reason must not end
// up with the message of another.
void WriteCondition(JsonWriter& writer, const api::PodCondition& condition, const api::PodCondition* old,
                    int64_t generation, base::Time now) {
  writer.StartObject();
  if (old == nullptr) {
    writer.Key("lastProbeTime");
    writer.Null();
  }
  if (old == nullptr || old->status != condition.status) Text(writer, "lastTransitionTime", api::FormatTime(now));
  if (!condition.message.empty() || (old != nullptr && !old->message.empty())) {
    OptionalText(writer, "message", condition.message);
  }
  if (generation != 0) {
    writer.Key("observedGeneration");
    writer.Int64(generation);
  }
  if (!condition.reason.empty() || (old != nullptr && !old->reason.empty())) {
    OptionalText(writer, "reason", condition.reason);
  }
  Text(writer, "status", condition.status);
  Text(writer, "type", condition.type);
  writer.EndObject();
}

// Strategic merge keeps the order of a list only if the order is given.
void WriteConditionOrder(JsonWriter& writer, const api::PodStatus& status, std::string_view added) {
  writer.Key("$setElementOrder/conditions");
  writer.StartArray();
  const auto write = [&](std::string_view type) {
    writer.StartObject();
    Text(writer, "type", type);
    writer.EndObject();
  };
  for (const api::PodCondition& condition : status.conditions) write(condition.type);
  if (Find(status, added) == nullptr) write(added);
  writer.EndArray();
}

void WriteMetadata(JsonWriter& writer, std::string_view resource_version, const api::Annotations& annotations) {
  writer.Key("metadata");
  writer.StartObject();
  if (!annotations.empty()) {
    writer.Key("annotations");
    writer.StartObject();
    for (const auto& [key, value] : annotations) OptionalText(writer, key, value);
    writer.EndObject();
  }
  Text(writer, "resourceVersion", resource_version);
  writer.EndObject();
}

}  // namespace

std::string BindingJson(const api::Pod& pod, std::string_view node) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  Text(writer, "kind", "Binding");
  Text(writer, "apiVersion", "v1");
  writer.Key("metadata");
  writer.Object(BindingMeta(pod));
  writer.Key("target");
  writer.Object(NodeReference(node));
  writer.EndObject();
  return body;
}

std::string BindingProtobuf(const api::Pod& pod, std::string_view node) {
  constexpr uint32_t kMetadata = 1;
  constexpr uint32_t kTarget = 2;
  std::string raw;
  codec::WireWriter writer(raw);
  writer.Bytes(kMetadata, codec::EncodeProtobuf(BindingMeta(pod)));
  writer.Bytes(kTarget, codec::EncodeProtobuf(NodeReference(node)));
  return api::SealEnvelope({.api_version = "v1", .kind = "Binding", .raw = raw});
}

std::string DeleteJson(std::string_view uid) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  Text(writer, "kind", "DeleteOptions");
  Text(writer, "apiVersion", "v1");
  writer.Key("preconditions");
  writer.StartObject();
  Text(writer, "uid", uid);
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string PodStatusPatch(const api::Pod& pod, const PodStatusChange& change, base::Time now) {
  const api::PodStatus& status = pod.status;
  const api::PodCondition* old = change.condition ? Find(status, change.condition->type) : nullptr;
  const bool condition_changes =
      change.condition && (old == nullptr || old->status != change.condition->status ||
                           old->reason != change.condition->reason || old->message != change.condition->message);
  const bool nomination_changes =
      change.nominated_node_name && *change.nominated_node_name != status.nominated_node_name;
  if (!condition_changes && !nomination_changes) return {};
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  if (!pod.metadata.uid.empty()) {
    // Another pod that has the name by now is not patched: the server rejects the change of UID.
    writer.Key("metadata");
    writer.StartObject();
    const std::string& version = pod.metadata.resource_version;
    if (!version.empty()) Text(writer, "resourceVersion", version);
    Text(writer, "uid", pod.metadata.uid);
    writer.EndObject();
  }
  writer.Key("status");
  writer.StartObject();
  if (condition_changes) {
    WriteConditionOrder(writer, status, change.condition->type);
    writer.Key("conditions");
    writer.StartArray();
    WriteCondition(writer, *change.condition, old, pod.metadata.generation, now);
    writer.EndArray();
  }
  if (nomination_changes) OptionalText(writer, "nominatedNodeName", *change.nominated_node_name);
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string ClaimRefPatch(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                          const api::Annotations& annotations) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  WriteMetadata(writer, volume.metadata.resource_version, annotations);
  writer.Key("spec");
  writer.StartObject();
  writer.Key("claimRef");
  writer.Object(claim);
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string AnnotationsPatch(std::string_view resource_version, const api::Annotations& annotations) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  WriteMetadata(writer, resource_version, annotations);
  writer.EndObject();
  return body;
}

namespace {

void WriteClaimPrecondition(JsonWriter& writer, const api::ResourceClaim& claim) {
  Text(writer, "uid", claim.metadata.uid);
  Text(writer, "resourceVersion", claim.metadata.resource_version);
}

// {"metadata": {precondition}, "status": {…}}.
template <class Write>
std::string StatusPatchOf(const api::ResourceClaim& claim, const Write& write) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  writer.Key("metadata");
  writer.StartObject();
  WriteClaimPrecondition(writer, claim);
  writer.EndObject();
  writer.Key("status");
  writer.StartObject();
  write(writer);
  writer.EndObject();
  writer.EndObject();
  return body;
}

template <class T>
void WriteList(JsonWriter& writer, std::string_view key, const std::vector<T>& list) {
  writer.Key(key);
  writer.StartArray();
  for (const T& item : list) writer.Object(item);
  writer.EndArray();
}

}  // namespace

std::string ClaimFinalizersPatch(const api::ResourceClaim& claim) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  writer.Key("metadata");
  writer.StartObject();
  WriteClaimPrecondition(writer, claim);
  writer.Key("finalizers");
  writer.StartArray();
  for (const std::string& finalizer : claim.metadata.finalizers) writer.String(finalizer);
  writer.EndArray();
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string ClaimStatusPatch(const api::ResourceClaim& claim) {
  return StatusPatchOf(claim, [&](JsonWriter& writer) {
    if (claim.status.allocation) {
      writer.Key("allocation");
      writer.Object(*claim.status.allocation);
    }
    WriteList(writer, "reservedFor", claim.status.reserved_for);
  });
}

std::string ClaimDeallocationPatch(const api::ResourceClaim& claim) {
  return StatusPatchOf(claim, [](JsonWriter& writer) {
    for (const std::string_view field : {"allocation", "reservedFor", "devices"}) {
      writer.Key(field);
      writer.Null();
    }
  });
}

std::string ClaimUnreservePatch(const api::ResourceClaim& claim, std::string_view pod_uid) {
  return StatusPatchOf(claim, [&](JsonWriter& writer) {
    writer.Key("reservedFor");
    writer.StartArray();
    writer.StartObject();
    Text(writer, "$patch", "delete");
    Text(writer, "uid", pod_uid);
    writer.EndObject();
    writer.EndArray();
  });
}

std::string ExtendedResourceClaimPatch(std::string_view pod_uid, const api::PodExtendedResourceClaimStatus& status) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  WriteUid(writer, pod_uid);
  writer.Key("status");
  writer.StartObject();
  writer.Key("extendedResourceClaimStatus");
  writer.Object(status);
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string NodeAllocatableResourceClaimsPatch(std::string_view pod_uid,
                                               const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  WriteUid(writer, pod_uid);
  writer.Key("status");
  writer.StartObject();
  if (statuses.empty()) {
    writer.Key("nodeAllocatableResourceClaimStatuses");
    writer.Null();
  } else {
    WriteList(writer, "nodeAllocatableResourceClaimStatuses", statuses);
  }
  writer.EndObject();
  writer.EndObject();
  return body;
}

std::string SeriesPatch(const api::EventSeries& series) {
  std::string body;
  JsonWriter writer(body);
  writer.StartObject();
  writer.Key("series");
  writer.Object(series);
  writer.EndObject();
  return body;
}

}  // namespace berth::client
