#include "storm/api_watches.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "api/pod.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kShortestPause = 500us;
constexpr uint64_t kPauseSpread = 10'000'000;  // nanoseconds
constexpr base::Duration kLatestEvents = 8s;
constexpr base::Duration kOldestAnswer = 20s;
constexpr base::Duration kBookmarkPeriod = 50s;
constexpr uint64_t kBookmarkSpread = 10'000'000'000;  // nanoseconds

std::string_view TypeName(Change::Type type) {
  switch (type) {
    case Change::Type::kAdded:
      return "ADDED";
    case Change::Type::kModified:
      return "MODIFIED";
    case Change::Type::kDeleted:
      return "DELETED";
  }
  return {};
}

uint64_t NumberIn(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

// As it was, but with the version of the change that removed it from the selection.
api::Object Leaving(const api::Object& before, uint64_t revision) {
  // Only pods have selectors that an object can stop matching.
  const api::Pod* pod = before.As<api::Pod>();
  if (pod == nullptr) return before;
  api::Pod last = *pod;
  last.metadata.resource_version = std::to_string(revision);
  return api::MakeObject(std::move(last));
}

}  // namespace

Refusal Expired(std::string_view what) { return {410, "Expired", std::string(what)}; }

ApiWatches::ApiWatches(Timeline& timeline, Store& store, Faults& faults, StreamingLists streaming, uint64_t seed)
    : timeline_(timeline), store_(store), faults_(faults), streaming_(streaming), random_(seed) {
  store_.Observe([this](const Change& change) {
    std::erase_if(watchers_, [](const WatcherPtr& watcher) { return !watcher->exchange->open(); });
    for (const WatcherPtr& watcher : watchers_) {
      if (watcher->kind == change.object.kind()) Schedule(watcher);
    }
  });
}

void ApiWatches::Stall(base::Duration until) {
  stalled_until_ = until;
  stalled_at_ = store_.revision();
}

uint64_t ApiWatches::CachedRevision(uint64_t least) {
  if (timeline_.Now() < stalled_until_) return std::min(std::max(least, stalled_at_), store_.revision());
  if (!faults_.Strikes(Fault::kStaleList)) return store_.revision();
  const base::Duration then = timeline_.Now() - faults_.UpTo(Fault::kStaleList, kOldestAnswer);
  return std::min(std::max(least, store_.RevisionAt(then)), store_.revision());
}

size_t ApiWatches::open() const {
  return static_cast<size_t>(std::count_if(watchers_.begin(), watchers_.end(),
                                           [](const WatcherPtr& watcher) { return watcher->exchange->open(); }));
}

size_t ApiWatches::PositionAfter(api::Kind kind, uint64_t revision) const {
  const std::vector<Change>& history = store_.history(kind);
  const auto found = std::upper_bound(history.begin(), history.end(), revision,
                                      [](uint64_t value, const Change& change) { return value < change.revision; });
  return static_cast<size_t>(found - history.begin());
}

void ApiWatches::End(api::Kind kind) {
  for (const WatcherPtr& watcher : watchers_) {
    if (watcher->kind == kind && watcher->exchange->open()) watcher->exchange->End();
  }
}

void ApiWatches::Start(const ExchangePtr& exchange, const ApiRequest& request) {
  Result<FieldSelector> selector = FieldSelector::Parse(request.Parameter("fieldSelector"));
  CHECK(selector.ok());
  const auto watcher =
      std::make_shared<Watcher>(Watcher{.exchange = exchange,
                                        .kind = request.kind,
                                        .selector = std::move(*selector),
                                        .protobuf = request.protobuf,
                                        .bookmarks = request.Parameter("allowWatchBookmarks") == "true"});
  const std::string& version = request.Parameter("resourceVersion");
  const bool initial = request.Parameter("sendInitialEvents") == "true";
  if (initial && streaming_ == StreamingLists::kRefused) {
    const Reply reply = RefusalReply({422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden"});
    return exchange->Answer(reply.code, reply.body, reply.headers);
  }
  const bool expired = !initial && (NumberIn(version) < store_.compacted() || faults_.Strikes(Fault::kExpired));
  if (expired && random_.Below(2) == 0) {
    const Reply reply = RefusalReply(Expired("too old resource version: " + version));
    return exchange->Answer(reply.code, reply.body, reply.headers);
  }
  exchange->Head(200, WatchHeaders(request.protobuf));
  if (expired) {
    exchange->Data(ErrorFrame(request.protobuf, Expired("too old resource version: " + version)));
    return exchange->End();
  }
  if (initial && streaming_ == StreamingLists::kBroken) {
    exchange->Data(ErrorFrame(request.protobuf,
                              {500, "InternalError",
                               "Internal error occurred: a watch stream was requested by the client but the required "
                               "storage feature RequestWatchProgress is disabled"}));
    return exchange->End();
  }
  if (initial) {
    StartFromList(watcher, version);
  } else {
    watcher->next = PositionAfter(request.kind, NumberIn(version));
  }
  watchers_.push_back(watcher);
  Schedule(watcher, watcher->next < store_.history(watcher->kind).size());
  if (watcher->bookmarks) SendBookmark(watcher);
  if (const uint64_t seconds = NumberIn(request.Parameter("timeoutSeconds")); seconds > 0) {
    timeline_.After(std::chrono::seconds(seconds), [watcher] { watcher->exchange->End(); });
  }
}

void ApiWatches::StartFromList(const WatcherPtr& watcher, const std::string& version) {
  // Without a version it is a consistent read.
  const uint64_t revision = version.empty() ? store_.revision() : CachedRevision(NumberIn(version));
  store_.ForEachAt(watcher->kind, revision, [&](const api::Object& object) {
    if (watcher->selector.Matches(object)) watcher->exchange->Data(ObjectFrame(watcher->protobuf, "ADDED", object));
  });
  watcher->next = PositionAfter(watcher->kind, revision);
  if (streaming_ == StreamingLists::kEndless) {
    watcher->is_used = false;
    return;
  }
  watcher->exchange->Data(BookmarkFrame(watcher->protobuf, watcher->kind, revision, true),
                          Delivery{watcher->kind, revision});
}

void ApiWatches::Schedule(const WatcherPtr& watcher, bool begins_behind) {
  if (std::exchange(watcher->awaited, true)) return;
  base::Duration pause = kShortestPause + base::Duration(random_.Below(kPauseSpread));
  if (faults_.Strikes(Fault::kLateEvents)) pause += faults_.UpTo(Fault::kLateEvents, kLatestEvents);
  // A cache that was behind for a list is also behind for the events since.
  if (begins_behind && faults_.Strikes(Fault::kStaleList)) pause += faults_.UpTo(Fault::kStaleList, kLatestEvents);
  timeline_.After(pause, [this, watcher] { Pump(watcher); });
}

bool ApiWatches::IsSelected(const Watcher& watcher, const Change& change) {
  return change.type != Change::Type::kDeleted && watcher.selector.Matches(change.object);
}

bool ApiWatches::BringsBack(const Watcher& watcher, size_t position) const {
  const std::vector<Change>& history = store_.history(watcher.kind);
  if (!IsSelected(watcher, history[position])) return false;
  const std::string key = api::KeyOf(history[position].object.metadata());
  size_t last = watcher.next;
  while (api::KeyOf(history[last].object.metadata()) != key) --last;
  return !IsSelected(watcher, history[last]);
}

std::string ApiWatches::Frames(const Watcher& watcher, const Change& change) const {
  const bool was_in = change.before && watcher.selector.Matches(*change.before);
  const bool is_in = IsSelected(watcher, change);
  if (!was_in && !is_in) return {};
  if (is_in) {
    return ObjectFrame(watcher.protobuf, TypeName(was_in ? Change::Type::kModified : Change::Type::kAdded),
                       change.object);
  }
  const bool is_gone = change.type == Change::Type::kDeleted;
  return ObjectFrame(watcher.protobuf, TypeName(Change::Type::kDeleted),
                     is_gone ? change.object : Leaving(*change.before, change.revision));
}

void ApiWatches::Pump(const WatcherPtr& moved) {
  if (timeline_.Now() < stalled_until_) return timeline_.At(stalled_until_, [this, moved] { Pump(moved); });
  Watcher& watcher = *moved;
  watcher.awaited = false;
  const std::vector<Change>& history = store_.history(watcher.kind);
  while (watcher.next < history.size() && watcher.exchange->open()) {
    const uint64_t revision = history[watcher.next].revision;
    watcher.exchange->Data(Frames(watcher, history[watcher.next]),
                           watcher.is_used ? std::optional(Delivery{watcher.kind, revision}) : std::nullopt);
    if (faults_.Strikes(Fault::kDuplicateEvent)) {
      const size_t back = faults_.Below(Fault::kDuplicateEvent, std::min<size_t>(watcher.next + 1, 4));
      watcher.exchange->Data(Frames(watcher, history[watcher.next - back]));
      if (BringsBack(watcher, watcher.next - back)) watcher.is_used = false;
    }
    ++watcher.next;
  }
}

void ApiWatches::SendBookmark(const WatcherPtr& watcher) {
  timeline_.After(kBookmarkPeriod + base::Duration(random_.Below(kBookmarkSpread)), [this, watcher] {
    if (!watcher->exchange->open()) return;
    if (!watcher->awaited) {
      watcher->exchange->Data(BookmarkFrame(watcher->protobuf, watcher->kind, store_.revision(), false));
    }
    SendBookmark(watcher);
  });
}

}  // namespace berth::storm
