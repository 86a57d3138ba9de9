#include "record/object_codec.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "api/pod_packing.h"
#include "codec/protobuf.h"
#include "codec/protobuf_field_buffer.h"

namespace berth::record {

namespace {

enum ObjectField : uint32_t {
  kWhole = 1,  // in Kubernetes' envelope; or, of a pod:
  kTemplate = 2,
  kName = 3,
  kUid = 4,
  kResourceVersion = 5,
  kCreated = 6,  // nanoseconds since 1970
  kStarted = 7,
  kNodeName = 8,
};

void AppendTime(codec::FieldBuffer& writer, uint32_t number, const std::optional<api::Time>& time) {
  if (time) writer.Integer(number, static_cast<uint64_t>(time->time_since_epoch().count()));
}

api::Time TimeOf(uint64_t count) { return api::Time(api::Time::duration(static_cast<int64_t>(count))); }

// Whose pod it is, and how far it has come.
size_t LikenessOf(const api::Pod& pod) {
  const api::ObjectMeta& metadata = pod.metadata;
  const std::string_view owner = metadata.owner_references.empty() ? std::string_view(metadata.generate_name)
                                                                   : metadata.owner_references.front().uid;
  return std::hash<std::string_view>()(owner) * 31 + std::hash<std::string_view>()(pod.status.phase) * 7 +
         pod.status.conditions.size() * 3 + metadata.labels.size();
}

}  // namespace

void ObjectWriter::Reset() {
  known_.clear();
  known_bytes_ = 0;
  examples_.clear();
}

ObjectWriter::Template ObjectWriter::TemplateOf(const api::Object& object) {
  const api::Pod* const pod = object.As<api::Pod>();
  if (pod == nullptr) return {};
  const size_t likeness = LikenessOf(*pod);
  const auto example = examples_.find(likeness);
  if (example != examples_.end() && api::HaveSameTemplate(*example->second.pod, *pod)) {
    return {.number = example->second.number};
  }
  scratch_.clear();
  api::AppendPodTemplate(*pod, scratch_);
  auto found = known_.find(scratch_);
  const bool is_new = found == known_.end();
  if (is_new) {
    if (known_bytes_ + scratch_.size() > kMaxKnown) return {};
    known_bytes_ += scratch_.size();
    found = known_.emplace(scratch_, known_.size()).first;
  }
  if (examples_.size() >= kMaxExamples) examples_.clear();
  examples_.insert_or_assign(likeness, Example{object.Share<api::Pod>(), found->second});
  return {.number = found->second, .unwritten = is_new ? scratch_ : std::string_view()};
}

void ObjectWriter::Append(const api::Object& object, const Template& common, std::string& out) {
  if (!common.number) return codec::WireWriter(out).Bytes(kWhole, api::EncodeProtobuf(object));
  // What api::PodIdentity has.
  const api::Pod& pod = *object.As<api::Pod>();
  codec::FieldBuffer writer(out);
  writer.Integer(kTemplate, *common.number);
  writer.Bytes(kName, pod.metadata.name);
  writer.Bytes(kUid, pod.metadata.uid);
  writer.Bytes(kResourceVersion, pod.metadata.resource_version);
  AppendTime(writer, kCreated, pod.metadata.creation_timestamp);
  AppendTime(writer, kStarted, pod.status.start_time);
  if (!pod.spec.node_name.empty()) writer.Bytes(kNodeName, pod.spec.node_name);
}

Result<void> ObjectReader::AddTemplate(std::string_view bytes) {
  api::Pod pod;
  if (Result<void> decoded = codec::DecodeProtobuf(bytes, pod); !decoded) return decoded;
  templates_.emplace_back(bytes);
  return {};
}

Result<api::Object> ObjectReader::Decode(std::string_view message) const {
  std::string_view whole;
  std::optional<uint64_t> number;
  api::PodIdentity identity;
  codec::WireReader reader(message);
  while (reader.Next()) {
    switch (reader.number()) {
      case kWhole:
        whole = reader.bytes();
        break;
      case kTemplate:
        number = reader.integer();
        break;
      case kName:
        identity.name = reader.bytes();
        break;
      case kUid:
        identity.uid = reader.bytes();
        break;
      case kResourceVersion:
        identity.resource_version = reader.bytes();
        break;
      case kCreated:
        identity.creation_timestamp = TimeOf(reader.integer());
        break;
      case kStarted:
        identity.start_time = TimeOf(reader.integer());
        break;
      case kNodeName:
        identity.node_name = Symbol(reader.bytes());
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("an object cannot be read: {}", reader.problem()));
  if (number) {
    if (*number >= templates_.size()) return Error::InvalidArgument("a pod refers to a template that is not there");
    return api::MakeObject(api::UnpackPod(templates_[*number], identity));
  }
  Result<api::DecodedObjects> decoded = api::DecodeProtobufObjects(whole);
  if (!decoded) return decoded.error();
  if (decoded->objects.size() != 1)
    return Error::InvalidArgument("an object is of a kind that this berth does not know");
  return decoded->objects.front().object;
}

}  // namespace berth::record
