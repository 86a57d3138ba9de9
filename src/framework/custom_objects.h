// Objects of resources that plugins have asked for by group, version and resource: custom resources, for the most part.
// Their events have an EventResource of their own, assigned when a plugin first asks; a resource has the same number in
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

// Thread-safe. An error when too many resources are registered already.
Result<EventResource> EventResourceOf(const api::GroupVersionResource& resource);
// "licencepools.v1.example.com"; "" for a number that was never assigned.
std::string_view NameOfCustom(EventResource resource);

// One writer, as for Objects; read in place.
class CustomObjects {
 public:
  using Store = ObjectStore<api::CustomObject>;
  struct Watched {
    api::GroupVersionResource resource;
    bool keep_json = false;
    Store store{};
  };

  // Registers interest in the resource and its events. When it is asked for twice, the JSON is kept if either call
  // wants it.
  Result<EventResource> Watch(const api::GroupVersionResource& resource, bool keep_json);

  // The objects of a resource that is watched; empty for others.
  const Store& Of(EventResource resource) const;
  Store* FindMutable(EventResource resource);
  // wants(): the resources watched and whether their JSON is kept. Restore() returns to such a set and drops later
  // additions.
  std::map<EventResource, bool> wants() const;
  void Restore(const std::map<EventResource, bool>& wants);
  // In the order of the numbers.
  const std::map<EventResource, Watched>& watched() const { return watched_; }

 private:
  std::map<EventResource, Watched> watched_;
};

}  // namespace berth::framework
