// Objects of resources that plugins have asked for by group, version and resource: custom resources, for the most part.
// Their events have an EventResource of their own, given out when a plugin first asks; one resource has one number in
// the whole process, whichever profile asks.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/custom_object.h"
#include "base/result.h"
#include "framework/events.h"
#include "framework/objects.h"

namespace berth::framework {

// Thread-safe. An error when there are too many resources already.
Result<EventResource> EventResourceOf(const api::GroupVersionResource& resource);
// "licencepools.v1.example.com"; "" for a number that was never given out.
std::string_view NameOfCustom(EventResource resource);

// One writer, as Objects; read in place.
class CustomObjects {
 public:
  using Store = ObjectStore<api::CustomObject>;
  struct Watched {
    api::GroupVersionResource resource;
    bool keep_json = false;
    Store store{};
  };

  // Somebody wants to read the resource and hear of its events. Asked for twice: the JSON is kept if either wants it.
  Result<EventResource> Watch(const api::GroupVersionResource& resource, bool keep_json);

  // The objects of a resource that is watched; empty for others.
  const Store& Of(EventResource resource) const;
  Store* FindMutable(EventResource resource);
  // The resources watched and whether their JSON is kept; and back to that, forgetting what came since.
  std::map<EventResource, bool> wants() const;
  void Restore(const std::map<EventResource, bool>& wants);
  // In the order of the numbers.
  const std::map<EventResource, Watched>& watched() const { return watched_; }

 private:
  std::map<EventResource, Watched> watched_;
};

}  // namespace berth::framework
