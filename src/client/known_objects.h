// KnownObjects: what a reflector has told its sink so far about the objects of one kind, and so what a list or an event
// adds to it. Lists and events may repeat what is known, leave out what happened in between, or come late; what comes
// out is the least that leads from what was told to what is.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
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

  // An added, modified or deleted object. `stream_version` is the highest version the stream has shown so far.
  Verdict Apply(WatchEvent::Type type, api::Object object, std::string_view stream_version,
                std::vector<ObjectChange>& changes);

  // The objects are now exactly these: first what is gone, then what is new or changed, each in the order of keys. An
  // object that was replaced by another of its name is gone and new.
  void Replace(KnownObjects objects, std::vector<ObjectChange>& changes);

  // Without a change to tell: while a picture is collected. A later version wins.
  void Collect(WatchEvent::Type type, api::Object object);

  void Clear() { objects_.clear(); }
  size_t size() const { return objects_.size(); }

 private:
  struct Hash {
    size_t operator()(const api::Object& object) const;
  };
  struct SameKey {
    bool operator()(const api::Object& a, const api::Object& b) const;
  };

  void Put(api::Object object);
  // In the order of keys.
  std::vector<api::Object> Sorted() const;

  boost::unordered_flat_set<api::Object, Hash, SameKey> objects_;
};

}  // namespace berth::client
