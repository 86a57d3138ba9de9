#include "storm/api_wire.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "api/envelope.h"
#include "api/storage.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"

namespace berth::storm {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kProtobufWatch = "application/vnd.kubernetes.protobuf;stream=watch";
constexpr std::string_view kJson = "application/json";

std::string Decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

const api::KindInfo* FindResource(std::string_view api_version, std::string_view resource) {
  for (const api::KindInfo& info : api::AllKinds()) {
    if (info.resource == resource && info.api_version() == api_version) return &info;
  }
  return nullptr;
}

std::string Framed(std::string_view type, std::string_view object) {
  std::string event(4, '\0');
  codec::WireWriter writer(event);
  writer.Bytes(1, type);
  const size_t extension = writer.StartMessage(2);
  writer.Bytes(1, object);
  writer.EndMessage(extension);
  const size_t size = event.size() - 4;
  for (int i = 0; i < 4; ++i) event[static_cast<size_t>(i)] = static_cast<char>(size >> (24 - 8 * i) & 0xff);
  return event;
}

std::string StatusJson(const Refusal& refusal) {
  std::string body;
  codec::JsonWriter writer(body);
  writer.StartObject();
  const auto text = [&](std::string_view key, std::string_view value) {
    writer.Key(key);
    writer.String(value);
  };
  text("kind", "Status");
  text("apiVersion", "v1");
  text("status", "Failure");
  text("message", refusal.message);
  text("reason", refusal.reason);
  writer.Key("code");
  writer.Int64(refusal.code);
  if (!refusal.cause.empty()) {
    writer.Key("details");
    writer.StartObject();
    writer.Key("causes");
    writer.StartArray();
    writer.StartObject();
    text("reason", refusal.cause);
    writer.EndObject();
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndObject();
  return body;
}

}  // namespace

const std::string& ApiRequest::Parameter(const std::string& key) const {
  static const std::string none;
  const auto found = query.find(key);
  return found != query.end() ? found->second : none;
}

std::string_view FindHeader(const http::Request& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

// /api/v1/namespaces/NS/pods/NAME/SUB, /apis/GROUP/VERSION/RESOURCE/NAME, …
Result<ApiRequest> ReadRequest(const http::Request& request) {
  const size_t mark = std::min(request.path.find('?'), request.path.size());
  std::vector<std::string_view> parts = Split(std::string_view(request.path).substr(0, mark), '/');
  const auto unknown = [&] { return Error::NotFound("no such path: " + request.path); };
  if (parts.size() < 3) return unknown();
  const bool core = parts[0] == "api";
  if (!core && parts.size() < 4) return unknown();
  const std::string version = core ? std::string(parts[1]) : fmt::format("{}/{}", parts[1], parts[2]);
  parts.erase(parts.begin(), parts.begin() + (core ? 2 : 3));
  ApiRequest read{.kind = api::Kind::kNamespace};
  if (parts.size() >= 3 && parts[0] == "namespaces") {
    read.name_space = Decoded(parts[1]);
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  const api::KindInfo* info = FindResource(version, parts[0]);
  if (info == nullptr) return unknown();
  read.kind = info->kind;
  if (parts.size() > 1) read.name = Decoded(parts[1]);
  if (parts.size() > 2) read.subresource = parts[2];
  for (const std::string_view pair : Split(std::string_view(request.path).substr(mark), '&')) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const size_t begin = pair.starts_with('?') ? 1 : 0;
    read.query[std::string(pair.substr(begin, equals - begin))] =
        Decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  read.protobuf = FindHeader(request, "Accept").starts_with(kProtobuf);
  return read;
}

Reply RefusalReply(const Refusal& refusal) {
  Reply reply{refusal.code, StatusJson(refusal), {{"content-type", std::string(kJson)}}};
  if (refusal.retry_after > 0) reply.headers.emplace_back("retry-after", std::to_string(refusal.retry_after));
  return reply;
}

Reply SuccessReply(int code) {
  return {code, R"({"kind":"Status","apiVersion":"v1","status":"Success"})", {{"content-type", std::string(kJson)}}};
}

Reply ObjectReply(int code, bool protobuf, const api::Object& object) {
  if (protobuf) return {code, api::EncodeProtobuf(object), {{"content-type", std::string(kProtobuf)}}};
  return {code, api::EncodeJson(object), {{"content-type", std::string(kJson)}}};
}

Reply ListReply(bool protobuf, api::Kind kind, const std::vector<api::Object>& objects, uint64_t revision,
                const std::string& continue_token) {
  const api::KindInfo& info = api::InfoOf(kind);
  const std::string name = fmt::format("{}List", info.name);
  if (!protobuf) {
    std::string items;
    for (const api::Object& object : objects) items += (items.empty() ? "" : ",") + api::EncodeJson(object);
    return {200,
            fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}","continue":"{}"}},)"
                        R"("items":[{}]}})",
                        name, info.api_version(), revision, continue_token, items),
            {{"content-type", std::string(kJson)}}};
  }
  std::string raw;
  codec::WireWriter writer(raw);
  const size_t metadata = writer.StartMessage(1);
  writer.Bytes(2, std::to_string(revision));
  writer.Bytes(3, continue_token);
  writer.EndMessage(metadata);
  for (const api::Object& object : objects) {
    const size_t item = writer.StartMessage(2);
    codec::AppendProtobuf(info.message(), object.data(), raw);
    writer.EndMessage(item);
  }
  return {200,
          api::SealEnvelope({.api_version = info.api_version(), .kind = name, .raw = raw}),
          {{"content-type", std::string(kProtobuf)}}};
}

http::Headers WatchHeaders(bool protobuf) { return {{"content-type", std::string(protobuf ? kProtobufWatch : kJson)}}; }

std::string ObjectFrame(bool protobuf, std::string_view type, const api::Object& object) {
  if (protobuf) return Framed(type, api::EncodeProtobuf(object));
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, api::EncodeJson(object));
}

std::string BookmarkFrame(bool protobuf, api::Kind kind, uint64_t revision, bool initial_events_end) {
  const api::KindInfo& info = api::InfoOf(kind);
  api::ObjectMeta metadata;
  metadata.resource_version = std::to_string(revision);
  if (initial_events_end) metadata.annotations.Set("k8s.io/initial-events-end", "true");
  if (!protobuf) {
    return fmt::format(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{}}}}}\n", info.name,
        info.api_version(), codec::EncodeJson(metadata));
  }
  std::string raw;
  codec::WireWriter(raw).Bytes(1, codec::EncodeProtobuf(metadata));
  return Framed("BOOKMARK", api::SealEnvelope({.api_version = info.api_version(), .kind = info.name, .raw = raw}));
}

std::string ErrorFrame(bool protobuf, const Refusal& refusal) {
  if (!protobuf) return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", StatusJson(refusal));
  std::string raw;
  codec::WireWriter writer(raw);
  writer.Bytes(2, "Failure");
  writer.Bytes(3, refusal.message);
  writer.Bytes(4, refusal.reason);
  if (!refusal.cause.empty()) {
    const size_t details = writer.StartMessage(5);
    const size_t cause = writer.StartMessage(4);
    writer.Bytes(1, refusal.cause);
    writer.EndMessage(cause);
    writer.EndMessage(details);
  }
  writer.Integer(6, static_cast<uint64_t>(refusal.code));
  return Framed("ERROR", api::SealEnvelope({.api_version = "v1", .kind = "Status", .raw = raw}));
}

Result<api::Object> ReadObject(const http::Request& request) {
  Result<api::DecodedObjects> decoded = Error::Internal("");
  if (FindHeader(request, "Content-Type").starts_with(kProtobuf)) {
    decoded = api::DecodeProtobufObjects(request.body);
  } else {
    const Result<codec::Document> document = codec::ParseJson(request.body, "body");
    if (!document) return document.error();
    decoded = api::DecodeObjects(*document, {});
  }
  if (!decoded) return decoded.error();
  if (decoded->objects.size() != 1) return Error::InvalidArgument("expected one object in the body");
  return std::move(decoded->objects.front().object);
}

Result<BindingBody> ReadBinding(const http::Request& request) {
  api::ObjectMeta metadata;
  api::ObjectReference target;
  if (FindHeader(request, "Content-Type").starts_with(kProtobuf)) {
    const Result<api::Envelope> envelope = api::OpenEnvelope(request.body);
    if (!envelope) return envelope.error();
    codec::WireReader reader(envelope->raw);
    while (reader.Next()) {
      Result<void> read;
      if (reader.number() == 1) read = codec::DecodeProtobuf(reader.bytes(), metadata);
      if (reader.number() == 2) read = codec::DecodeProtobuf(reader.bytes(), target);
      if (!read) return read.error();
    }
    if (!reader.ok()) return Error::InvalidArgument(reader.problem());
  } else {
    const Result<codec::Document> document = codec::ParseJson(request.body, "binding");
    if (!document) return document.error();
    std::vector<codec::Diagnostic> problems;
    const codec::Value* meta = document->root().Find("metadata");
    const codec::Value* to = document->root().Find("target");
    if (meta == nullptr || to == nullptr) return Error::InvalidArgument("expected metadata and target");
    codec::Decode(*meta, metadata, {}, problems);
    codec::Decode(*to, target, {}, problems);
    if (!problems.empty()) return Error::InvalidArgument(problems.front().ToString());
  }
  return BindingBody{metadata.uid, target.name};
}

}  // namespace berth::storm
