// ApiWatches: the watches of the model API server. Each is a position in the history of its kind that advances with
// time: it sends the events that match its selector, bookmarks, and ends when its client asked it to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "storm/api_wire.h"
#include "storm/faults.h"
#include "storm/field_selector.h"
#include "storm/network.h"
#include "storm/store.h"

namespace berth::storm {

// How the server answers a streaming list (sendInitialEvents).
enum class StreamingLists : uint8_t {
  kWork,
  kRefused,  // 422: the feature is disabled
  kBroken,   // an ERROR event: an etcd before 3.4.31, or 3.5 before 3.5.13
  kEndless,  // an old server: everything is sent, but the end of the initial events is never marked
};

class ApiWatches {
 public:
  ApiWatches(Timeline& timeline, Store& store, Faults& faults, StreamingLists streaming, uint64_t seed);

  // Starts the watch that the exchange requests.
  void Start(const ExchangePtr& exchange, const ApiRequest& request);
  size_t open() const;
  // The kind is no longer served.
  void End(api::Kind kind);
  // The server's caches receive nothing new until then: requests for any version get the current one, and watches are
  // silent. Reads of the latest version are not affected.
  void Stall(base::Duration until);
  // The revision in the cache of a server that may be behind, not older than `least`.
  uint64_t CachedRevision(uint64_t least);

 private:
  struct Watcher {
    ExchangePtr exchange;
    api::Kind kind;
    FieldSelector selector;
    bool protobuf;
    bool bookmarks;
    size_t next = 0;  // in the history of the kind
    bool awaited = false;
    bool is_used = true;  // by the client: what is delivered is known to it
  };
  using WatcherPtr = std::shared_ptr<Watcher>;

  void StartFromList(const WatcherPtr& watcher, const std::string& version);
  void Schedule(const WatcherPtr& watcher, bool begins_behind = false);
  void Pump(const WatcherPtr& watcher);
  std::string Frames(const Watcher& watcher, const Change& change) const;
  static bool IsSelected(const Watcher& watcher, const Change& change);
  // Whether an event that is sent again adds an object that has gone since: only a list can tell whether it exists, and
  // the client ignores the rest of the stream.
  bool BringsBack(const Watcher& watcher, size_t position) const;
  void SendBookmark(const WatcherPtr& watcher);
  // The position after the last change up to that revision.
  size_t PositionAfter(api::Kind kind, uint64_t revision) const;

  Timeline& timeline_;
  Store& store_;
  Faults& faults_;
  const StreamingLists streaming_;
  base::Random random_;
  std::vector<WatcherPtr> watchers_;
  base::Duration stalled_until_{};
  uint64_t stalled_at_ = 0;  // a revision
};

Refusal Expired(std::string_view what);

}  // namespace berth::storm
