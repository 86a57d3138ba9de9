// ApiWatches: the watches of the model API server, each a position in the history of its kind that is moved on as time
// passes: events of what its selector lets through, bookmarks, and the end that its client asked for.
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
  kRefused,  // 422: the feature is off
  kBroken,   // an ERROR event: an etcd before 3.4.31, or 3.5 before 3.5.13
  kEndless,  // an old server: everything is sent, but never a word that this was all
};

class ApiWatches {
 public:
  ApiWatches(Timeline& timeline, Store& store, Faults& faults, StreamingLists streaming, uint64_t seed);

  // The watch the exchange asks for.
  void Start(const ExchangePtr& exchange, const ApiRequest& request);
  size_t open() const;
  // The kind is served no longer.
  void End(api::Kind kind);
  // The server's caches hear of nothing new until then: whoever asks for any version gets the one of now, and watches
  // are silent. Reads of the latest are as good as ever.
  void Stall(base::Duration until);
  // What a server that may be behind has at hand, not older than `least`.
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
  };
  using WatcherPtr = std::shared_ptr<Watcher>;

  void StartFromList(const WatcherPtr& watcher, const std::string& version);
  void Schedule(const WatcherPtr& watcher, bool begins_behind = false);
  void Pump(const WatcherPtr& watcher);
  std::string Frames(const Watcher& watcher, const Change& change) const;
  void SendBookmark(const WatcherPtr& watcher);
  // Behind the last change up to that revision.
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
