#include "record/custom_codec.h"

#include <fmt/format.h>

#include <utility>

#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"

namespace berth::record {

namespace {

enum CustomField : uint32_t {
  kResource = 1,
  kApiVersion = 2,
  kCustomKind = 3,
  kMetadata = 4,
  kJson = 5,
  kWithheld = 6,
};

constexpr std::string_view kManagedFields = "managedFields";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Writes an object without the members for which `leave_out` says so; `write` writes the others.
void WriteMembers(codec::JsonWriter& writer, const codec::Value& object, const auto& leave_out, const auto& write) {
  writer.StartObject();
  for (const codec::Member& member : object.members()) {
    if (member.superseded || leave_out(member)) continue;
    writer.Key(member.key);
    write(member);
  }
  writer.EndObject();
}

void WriteMetadata(codec::JsonWriter& writer, const codec::Value& metadata) {
  WriteMembers(
      writer, metadata, [](const codec::Member& member) { return member.key == kManagedFields; },
      [&](const codec::Member& member) {
        if (member.key != "annotations" || !member.value.is_object()) return writer.Write(member.value);
        WriteMembers(
            writer, member.value, [](const codec::Member& annotation) { return annotation.key == kLastApplied; },
            [&](const codec::Member& annotation) { writer.Write(annotation.value); });
      });
}

void WriteObject(codec::JsonWriter& writer, const codec::Value& object) {
  if (!object.is_object()) return writer.Write(object);
  WriteMembers(
      writer, object, [](const codec::Member&) { return false; },
      [&](const codec::Member& member) {
        if (member.key == "metadata" && member.value.is_object()) return WriteMetadata(writer, member.value);
        if (member.key != "items" || !member.value.is_array()) return writer.Write(member.value);
        writer.StartArray();
        for (const codec::Value& item : member.value.items()) WriteObject(writer, item);
        writer.EndArray();
      });
}

bool IsOfSecrets(std::string_view resource) {
  const Result<api::GroupVersionResource> parsed = api::GroupVersionResource::Parse(resource);
  return !parsed || api::IsSecret(*parsed);
}

}  // namespace

std::string WithoutBookkeeping(std::string json) {
  // Few have any, and parsing is dear. An escaped name is one that no server writes.
  if (json.find(kManagedFields) == std::string::npos && json.find(kLastApplied) == std::string::npos &&
      json.find('\\') == std::string::npos) {
    return json;
  }
  const Result<codec::Document> document = codec::ParseJson(std::move(json), "");
  if (!document || !document->root().is_object()) return {};
  std::string out;
  codec::JsonWriter writer(out);
  WriteObject(writer, document->root());
  return out;
}

std::string EncodeCustom(std::string_view resource, const api::CustomObject& object) {
  std::string out;
  codec::WireWriter writer(out);
  writer.Bytes(kResource, resource);
  writer.Bytes(kApiVersion, object.api_version);
  writer.Bytes(kCustomKind, object.kind);
  writer.Bytes(kMetadata, codec::EncodeProtobuf(object.metadata));
  if (object.json.empty()) return out;
  const std::string json = IsOfSecrets(resource) ? std::string() : WithoutBookkeeping(object.json);
  if (json.empty()) {
    writer.Integer(kWithheld, 1);
  } else {
    writer.Bytes(kJson, json);
  }
  return out;
}

Result<RecordedCustom> DecodeCustom(std::string_view message) {
  RecordedCustom read;
  auto object = std::make_shared<api::CustomObject>();
  codec::WireReader reader(message);
  while (reader.Next()) {
    switch (reader.number()) {
      case kResource:
        read.resource = reader.bytes();
        break;
      case kApiVersion:
        object->api_version = reader.bytes();
        break;
      case kCustomKind:
        object->kind = reader.bytes();
        break;
      case kMetadata:
        if (Result<void> decoded = codec::DecodeProtobuf(reader.bytes(), object->metadata); !decoded) {
          return decoded.error();
        }
        break;
      case kJson:
        object->json = reader.bytes();
        break;
      case kWithheld:
        read.withheld = reader.integer() != 0;
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) {
    return Error::InvalidArgument(fmt::format("an object of a custom resource cannot be read: {}", reader.problem()));
  }
  if (Result<api::GroupVersionResource> parsed = api::GroupVersionResource::Parse(read.resource); !parsed) {
    return Error::InvalidArgument("an object of a custom resource cannot be read: " + parsed.error().message);
  }
  read.object = std::move(object);
  return read;
}

}  // namespace berth::record
