// KnownObjects: what a reflector has told its sink so far about the objects of one kind, and so what a list or an event
// adds to it. Lists and events may repeat what is known, leave out what happened in between, or come late; what comes
// out is the least that leads from what was told to what is.
//
// Of each object only its names, UID and version are kept, about a hundred bytes: what else there is to know of it is
// the sink's business. So the deletion of an object that was missed shows no more than that.
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
// Of resourceVersion `a` as seen from `b`. They are decimal numbers; whatever else it may be, only equality counts.
VersionOrder CompareVersions(std::string_view a, std::string_view b);

// Not thread-safe.
class KnownObjects {
 public:
  enum class Verdict {
    kApplied,
    kStale,    // known already, or overtaken by what is known
    kUnclear,  // an event from before what the stream has already said about everything: only a list can tell
  };

  explicit KnownObjects(api::Kind kind) : kind_(kind) {}

  // An added, modified or deleted object. `stream_version` is the highest version the stream has shown so far.
  Verdict Apply(WatchEvent::Type type, api::Object object, std::string_view stream_version,
                std::vector<ObjectChange>& changes);

  // A list: BeginList, its objects, EndList. One that is given up is begun anew.
  void BeginList();
  // A later version wins. An object that is known in this version is not kept.
  void Collect(WatchEvent::Type type, api::Object object);
  // What is new or changed in what has been collected so far, in the order of keys: before the end of a list, for a
  // sink that decides nothing until then.
  void TellCollected(std::vector<ObjectChange>& changes);
  // The objects are now exactly those that were collected: first what is gone, then what is new or changed, each in the
  // order of keys. An object that was replaced by another of its name, or that is older than what was told, is gone and
  // new.
  void EndList(std::vector<ObjectChange>& changes);

  size_t size() const { return known_.size(); }

 private:
  // In one piece of memory: there are as many of them as objects.
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
  // Whether one that comes after what is known is another object, or the same at an earlier time.
  static bool IsReplaced(const Entry& known, std::string_view uid, std::string_view version);
  ObjectChange Deletion(const Entry& entry) const;

  const api::Kind kind_;
  Entries known_;
  // While a list is read.
  Entries listed_;
  std::set<api::Object, ByKey> untold_;  // what of it differs from known_
};

}  // namespace berth::client
