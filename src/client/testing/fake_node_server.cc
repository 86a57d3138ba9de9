#include "client/testing/fake_node_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/envelope.h"
#include "base/percent.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"

namespace berth::client::testing {
namespace {

http::Headers TypeOf(const http::testing::FakeCallPtr& call) {
  return {{"content-type",
           WantsProtobuf(call->request()) ? std::string(api::kProtobufType) + ";stream=watch" : "application/json"}};
}

std::string ProtobufFrame(std::string_view type, std::string_view object) {
  std::string event;
  codec::WireWriter writer(event);
  writer.Bytes(1, type);
  const size_t extension = writer.StartMessage(2);
  writer.Bytes(1, object);
  writer.EndMessage(extension);
  std::string frame;
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(event.size() >> shift & 0xff);
  return frame + event;
}

std::string Frame(const http::testing::FakeCallPtr& call, std::string_view type, const api::Object& node) {
  if (WantsProtobuf(call->request())) return ProtobufFrame(type, api::EncodeProtobuf(node));
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, api::EncodeJson(node));
}

std::string Bookmark(const http::testing::FakeCallPtr& call, uint64_t version, bool initial_end) {
  api::ObjectMeta metadata;
  metadata.resource_version = std::to_string(version);
  if (initial_end) metadata.annotations.Set("k8s.io/initial-events-end", "true");
  if (!WantsProtobuf(call->request())) {
    return fmt::format(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{}}}}}\n",
        codec::EncodeJson(metadata));
  }
  std::string raw;
  codec::WireWriter(raw).Bytes(1, codec::EncodeProtobuf(metadata));
  return ProtobufFrame("BOOKMARK", api::SealEnvelope({.api_version = "v1", .kind = "Node", .raw = raw}));
}

std::string ErrorFrame(const http::testing::FakeCallPtr& call, int code, std::string_view reason,
                       std::string_view message) {
  if (!WantsProtobuf(call->request())) {
    return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", StatusJson(code, reason, message));
  }
  std::string raw;
  codec::WireWriter writer(raw);
  writer.Bytes(3, message);
  writer.Bytes(4, reason);
  writer.Integer(6, code);
  return ProtobufFrame("ERROR", api::SealEnvelope({.api_version = "v1", .kind = "Status", .raw = raw}));
}

std::string ListBody(bool protobuf, const std::vector<api::Object>& nodes, uint64_t version, const std::string& next) {
  if (!protobuf) {
    std::string items;
    for (const api::Object& node : nodes) items += (items.empty() ? "" : ",") + api::EncodeJson(node);
    return fmt::format(
        R"({{"kind":"NodeList","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
        version, next, items);
  }
  std::string raw;
  codec::WireWriter writer(raw);
  const size_t metadata = writer.StartMessage(1);
  writer.Bytes(2, std::to_string(version));
  writer.Bytes(3, next);
  writer.EndMessage(metadata);
  for (const api::Object& node : nodes) writer.Bytes(2, codec::EncodeProtobuf(*node.As<api::Node>()));
  return api::SealEnvelope({.api_version = "v1", .kind = "NodeList", .raw = raw});
}

}  // namespace

std::string StatusJson(int code, std::string_view reason, std::string_view message) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","message":"{}","reason":"{}","code":{}}})", message,
      reason, code);
}

std::string Parameter(const http::Request& request, std::string_view name) {
  std::string query = request.path.substr(std::min(request.path.find('?'), request.path.size()));
  for (char& c : query) c = c == '?' ? '&' : c;
  const std::string key = fmt::format("&{}=", name);
  const size_t found = query.find(key);
  if (found == std::string::npos) return {};
  const std::string raw = query.substr(found + key.size(), query.find('&', found + 1) - found - key.size());
  return base::DecodePercent(raw).value_or("");
}

bool WantsProtobuf(const http::Request& request) {
  for (const auto& [key, value] : request.headers) {
    if (key == "Accept") return value.starts_with(api::kProtobufType);
  }
  return false;
}

void FakeNodeServer::Record(const std::string& type, api::Node node) {
  node.metadata.resource_version = std::to_string(++version_);
  api::Object object = api::MakeObject(std::move(node));
  const std::string name = object.metadata().name;
  nodes_.erase(name);
  if (type != "DELETED") nodes_.emplace(name, object);
  history_.push_back({version_, type, std::move(object)});
}

void FakeNodeServer::Put(const std::string& name) {
  const auto known = nodes_.find(name);
  api::Node node;
  node.metadata.name = name;
  node.metadata.uid = known != nodes_.end() ? known->second.metadata().uid : fmt::format("uid-{}", ++last_uid_);
  Record(known != nodes_.end() ? "MODIFIED" : "ADDED", std::move(node));
}

void FakeNodeServer::Delete(const std::string& name) {
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) return;
  api::Node node;
  node.metadata.name = name;
  node.metadata.uid = known->second.metadata().uid;
  Record("DELETED", std::move(node));
}

void FakeNodeServer::Compact() {
  compacted_ = version_;
  continues_.clear();
}

void FakeNodeServer::SendAll(const http::testing::FakeCallPtr& call, std::vector<std::string> frames) {
  for (const std::string& frame : frames) call->Data(frame);
}

void FakeNodeServer::Flush(const Sender& send) {
  std::erase_if(watchers_, [](const Watcher& watcher) { return watcher.call->ended(); });
  // A copy: sending may start new watches.
  std::vector<std::pair<http::testing::FakeCallPtr, std::vector<std::string>>> all;
  for (Watcher& watcher : watchers_) {
    std::vector<std::string> frames;
    for (const Event& event : history_) {
      if (event.version > watcher.sent) frames.push_back(Frame(watcher.call, event.type, event.node));
    }
    watcher.sent = version_;
    if (!frames.empty()) all.emplace_back(watcher.call, std::move(frames));
  }
  for (auto& [call, frames] : all) send(call, std::move(frames));
}

void FakeNodeServer::Stream(Streaming& streaming, size_t events) {
  for (; events > 0 && !streaming.frames.empty(); --events) {
    streaming.call->Data(streaming.frames.front());
    streaming.frames.pop_front();
  }
  if (!streaming.frames.empty() || events == 0) return;
  streaming.call->Data(Bookmark(streaming.call, streaming.version, true));
  watchers_.push_back({streaming.call, streaming.version});
  streaming.call = nullptr;
}

void FakeNodeServer::SendMoreOfLists(size_t events) {
  std::erase_if(streaming_, [](const Streaming& list) { return list.call == nullptr || list.call->ended(); });
  for (Streaming& list : streaming_) Stream(list, events);
}

void FakeNodeServer::SendBookmarks() {
  for (const Watcher& watcher : watchers_) watcher.call->Data(Bookmark(watcher.call, watcher.sent, false));
}

void FakeNodeServer::Mute(const http::testing::FakeCallPtr& call) {
  std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.call == call; });
}

std::string FakeNodeServer::OldFrame(const http::testing::FakeCallPtr& call, size_t index) const {
  const Event& event = history_.at(index);
  return Frame(call, event.type, event.node);
}

void FakeNodeServer::Handle(const http::testing::FakeCallPtr& call) {
  if (interfere && interfere(call)) return;
  Parameter(call->request(), "watch") == "true" ? Watch(call) : List(call);
}

void FakeNodeServer::List(const http::testing::FakeCallPtr& call) {
  const http::Request& request = call->request();
  const std::string token = Parameter(request, "continue");
  std::vector<api::Object> rest;
  uint64_t version = version_;
  if (token.empty()) {
    for (const auto& [name, node] : nodes_) rest.push_back(node);
  } else {
    const auto found = continues_.find(token);
    if (found == continues_.end()) {
      return call->Answer(410, StatusJson(410, "Expired", "The provided continue parameter is too old"));
    }
    std::tie(version, rest) = found->second;
  }
  size_t limit = std::strtoul(Parameter(request, "limit").c_str(), nullptr, 10);
  if (Parameter(request, "resourceVersion") == "0" && !pages_any_version) limit = 0;
  std::string next;
  if (limit > 0 && rest.size() > limit) {
    next = fmt::format("token-{}", continues_.size());
    const auto end = rest.begin() + static_cast<std::ptrdiff_t>(limit);
    continues_[next] = {version, std::vector<api::Object>(end, rest.end())};
    rest.erase(end, rest.end());
  }
  const bool protobuf = WantsProtobuf(request);
  call->Answer(200, ListBody(protobuf, rest, version, next),
               {{"content-type", protobuf ? std::string(api::kProtobufType) : "application/json"}});
}

void FakeNodeServer::Watch(const http::testing::FakeCallPtr& call) {
  const http::Request& request = call->request();
  if (Parameter(request, "sendInitialEvents") == "true") {
    if (!has_streaming) return call->Answer(422, StatusJson(422, "Invalid", "sendInitialEvents: Forbidden"));
    call->Head(200, TypeOf(call));
    if (!streaming_error.empty()) {
      call->Data(ErrorFrame(call, 500, "InternalError", streaming_error));
      return call->End();
    }
    Streaming& streaming = streaming_.emplace_back(Streaming{call, version_, {}});
    for (const auto& [name, node] : nodes_) streaming.frames.push_back(Frame(call, "ADDED", node));
    return Stream(streaming, events_at_once);
  }
  const uint64_t from = std::strtoull(Parameter(request, "resourceVersion").c_str(), nullptr, 10);
  if (from < compacted_ && expired_as_event) {
    call->Head(200, TypeOf(call));
    call->Data(ErrorFrame(call, 410, "Expired", "too old"));
    return call->End();
  }
  if (from < compacted_) return call->Answer(410, StatusJson(410, "Expired", "too old resource version"));
  call->Head(200, TypeOf(call));
  watchers_.push_back({call, from});
  Flush();
}

}  // namespace berth::client::testing
