// The part of an API server that serves nodes, in memory: lists, pages, watches, streaming lists, in JSON and protobuf.
// It behaves correctly unless told otherwise; its nodes are what a reflector must end up with.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/object.h"
#include "http/testing/fake_transport.h"

namespace berth::client::testing {

class FakeNodeServer {
 public:
  // For FakeTransport.
  void Handle(const http::testing::FakeCallPtr& call);

  // Changes the nodes. Each write is a new resourceVersion.
  void Put(const std::string& name);
  void Delete(const std::string& name);
  const std::map<std::string, api::Object>& nodes() const { return nodes_; }
  uint64_t version() const { return version_; }

  // Sends the watches what they have not received yet. `send` may corrupt the frames of one watch; it gets the call and
  // the frames, and must deliver them itself.
  using Sender = std::function<void(const http::testing::FakeCallPtr& call, std::vector<std::string> frames)>;
  void Flush(const Sender& send = SendAll);
  static void SendAll(const http::testing::FakeCallPtr& call, std::vector<std::string> frames);
  // Sends that many more events of each unfinished streaming list (events_at_once), then its end.
  void SendMoreOfLists(size_t events);
  void SendBookmarks();
  // The watch stays open, but nothing arrives any more.
  void Mute(const http::testing::FakeCallPtr& call);
  // The frame of a past event, in the encoding of that watch.
  std::string OldFrame(const http::testing::FakeCallPtr& call, size_t index) const;
  size_t history_size() const { return history_.size(); }

  // Drops the history: watches that are behind get 410.
  void Compact();

  // Answers a call instead of the server if it returns true.
  std::function<bool(const http::testing::FakeCallPtr& call)> interfere;
  bool has_streaming = true;
  std::string streaming_error{};     // streaming lists are accepted, then end with an ERROR event that says this
  size_t events_at_once = SIZE_MAX;  // of a streaming list; the rest waits for SendMoreOfLists
  bool expired_as_event = false;     // an ERROR event instead of the status 410
  bool pages_any_version = false;    // no watch cache: resourceVersion=0 is paged too

 private:
  struct Event {
    uint64_t version;
    std::string type;
    api::Object node;
  };
  struct Watcher {
    http::testing::FakeCallPtr call;
    uint64_t sent;
  };

  struct Streaming {
    http::testing::FakeCallPtr call;
    uint64_t version;
    std::deque<std::string> frames;
  };

  void Stream(Streaming& streaming, size_t events);
  void List(const http::testing::FakeCallPtr& call);
  void Watch(const http::testing::FakeCallPtr& call);
  void Record(const std::string& type, api::Node node);

  uint64_t version_ = 100;
  uint64_t compacted_ = 0;
  uint64_t last_uid_ = 0;
  std::map<std::string, api::Object> nodes_;
  std::vector<Event> history_;
  std::vector<Watcher> watchers_;
  std::vector<Streaming> streaming_;
  std::map<std::string, std::pair<uint64_t, std::vector<api::Object>>> continues_;
};

// What Kubernetes answers when it rejects a request.
std::string StatusJson(int code, std::string_view reason, std::string_view message);
// The value of a parameter in a request's query, decoded; "" if it is absent.
std::string Parameter(const http::Request& request, std::string_view name);
bool WantsProtobuf(const http::Request& request);

}  // namespace berth::client::testing
