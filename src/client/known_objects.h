// KnownObjects: what a reflector has reported to its sink so far about the objects of one kind, and so what a list or
// an event adds to it. Lists and events may repeat what is known, skip what happened in between, or arrive late; the
// result is the smallest set of changes from what was reported to what exists.
//
// Only the names, UID and version of each object are kept, about a hundred bytes; the sink keeps the rest. So a
// deletion that was missed is reported with no more than these.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "client/object_change.h"
#include "client/watch_stream.h"

namespace berth::client {

enum class VersionOrder { kOlder, kSame, kNewer, kUnknown };
// resourceVersion `a` compared with `b`. They are decimal numbers; anything else can only be compared for equality.
VersionOrder CompareVersions(std::string_view a, std::string_view b);

// Not thread-safe.
class KnownObjects {
 public:
  enum class Verdict {
    kApplied,
    kStale,    // already known, or older than what is known
    kUnclear,  // an event older than the stream's position: only a list can tell what exists
  };

  explicit KnownObjects(api::Kind kind) : kind_(kind) {}

  // An added, modified or deleted object. `stream_version` is the highest version seen in the stream so far.
  Verdict Apply(WatchEvent::Type type, api::Object object, std::string_view stream_version,
                std::vector<ObjectChange>& changes);

  // A list: BeginList, its objects, EndList. BeginList also discards a list that was abandoned.
  void BeginList();
  // A later version wins. An object that is already known in this version is not kept.
  void Collect(WatchEvent::Type type, api::Object object);
  // Reports what is new or changed among the objects collected so far, in the order of keys: before the end of a list,
  // for a sink that takes no decisions until then.
  void TellCollected(std::vector<ObjectChange>& changes);
  // The objects are now exactly those that were collected: reports deletions first, then additions and changes, each in
  // the order of keys. An object that was replaced by another of its name, or that is older than what was reported, is
  // reported as deleted and added.
  void EndList(std::vector<ObjectChange>& changes);

  size_t size() const { return known_.size(); }

 private:
  // In a single allocation, because there is one per object.
  class Entry {
   public:
    explicit Entry(const api::ObjectMeta& metadata);

    const Symbol& name_space() const { return namespace_; }
    std::string_view name() const { return std::string_view(text_).substr(0, name_size_); }
    std::string_view uid() const { return std::string_view(text_).substr(name_size_, uid_size_); }
    std::string_view version() const { return std::string_view(text_).substr(name_size_ + uid_size_); }

   private:
    Symbol namespace_;
    std::string text_;  // name, UID, version
    uint32_t name_size_, uid_size_;
  };
  struct Key {
    const Symbol& name_space;
    std::string_view name;
  };
  static Key KeyOf(const api::Object& object) { return {object.metadata().namespace_, object.metadata().name}; }
  static Key KeyOf(const Entry& entry) { return {entry.name_space(), entry.name()}; }
  static Key KeyOf(const Key& key) { return key; }

  struct Hash {
    using is_transparent = void;
    size_t operator()(const Key& key) const;
    size_t operator()(const Entry& entry) const { return (*this)(KeyOf(entry)); }
  };
  struct SameKey {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a).name_space == KeyOf(b).name_space && KeyOf(a).name == KeyOf(b).name;
    }
  };
  struct ByKey {
    bool operator()(const api::Object& a, const api::Object& b) const;
  };
  using Entries = boost::unordered_flat_set<Entry, Hash, SameKey>;

  static void Put(Entries& entries, const api::ObjectMeta& metadata);
  // Whether an object that follows what is known is a different object, or an earlier version of the same one.
  static bool IsReplaced(const Entry& known, std::string_view uid, std::string_view version);
  ObjectChange Deletion(const Entry& entry) const;

  const api::Kind kind_;
  Entries known_;
  // While a list is read.
  Entries listed_;
  std::set<api::Object, ByKey> untold_;  // the objects in it that differ from known_
};

}  // namespace berth::client
