#include "api/pod_packing.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/check.h"
#include "codec/protobuf.h"
#include "codec/schema.h"

namespace berth::api {
namespace {

// The table of T without the rows that PodIdentity holds, so that a field added to a pod is packed without more ado.
template <class T>
codec::Message Without(std::initializer_list<std::string_view> names) {
  const codec::Message& whole = codec::DescriptionOf<T>();
  std::vector<codec::FieldSpec> kept = whole.fields();
  const size_t removed = std::erase_if(kept, [&](const codec::FieldSpec& field) {
    return std::find(names.begin(), names.end(), field.json_name) != names.end();
  });
  CHECK_WHY(removed == names.size(), "a field of PodIdentity has another name");
  return codec::Message(whole.name(), std::move(kept));
}

struct TemplateParts {
  codec::Message metadata = Without<ObjectMeta>({"name", "uid", "resourceVersion", "creationTimestamp"});
  codec::Message spec = Without<PodSpec>({"nodeName"});
  codec::Message status = Without<PodStatus>({"startTime"});
};

const TemplateParts& PartsOfTemplates() {
  static const TemplateParts parts;
  return parts;
}

void AppendPart(codec::WireWriter& writer, uint32_t number, const codec::Message& message, const void* part) {
  const size_t start = writer.StartMessage(number);
  codec::AppendProtobuf(message, part, writer.out());
  writer.EndMessage(start);
}

}  // namespace

PodIdentity PodIdentity::Of(const Pod& pod) {
  return {
      pod.metadata.name,     pod.metadata.uid,          pod.metadata.resource_version, pod.metadata.creation_timestamp,
      pod.status.start_time, Symbol(pod.spec.node_name)};
}

void AppendPodTemplate(const Pod& pod, std::string& out) {
  const TemplateParts& parts = PartsOfTemplates();
  codec::WireWriter writer(out);
  AppendPart(writer, 1, parts.metadata, &pod.metadata);
  AppendPart(writer, 2, parts.spec, &pod.spec);
  AppendPart(writer, 3, parts.status, &pod.status);
}

// The status first: it differs between pods of one template more often than the rest.
bool HaveSameTemplate(const Pod& a, const Pod& b) {
  const TemplateParts& parts = PartsOfTemplates();
  return codec::IsSame(parts.status, &a.status, &b.status) && codec::IsSame(parts.metadata, &a.metadata, &b.metadata) &&
         codec::IsSame(parts.spec, &a.spec, &b.spec);
}

Pod UnpackPod(std::string_view pod_template, const PodIdentity& identity) {
  Pod pod;
  const Result<void> decoded = codec::DecodeProtobuf(pod_template, pod);
  CHECK_WHY(decoded.ok(), decoded.error().message.c_str());
  pod.metadata.name = identity.name;
  pod.metadata.uid = identity.uid;
  pod.metadata.resource_version = identity.resource_version;
  pod.metadata.creation_timestamp = identity.creation_timestamp;
  pod.status.start_time = identity.start_time;
  pod.spec.node_name = identity.node_name.str();
  return pod;
}

}  // namespace berth::api
