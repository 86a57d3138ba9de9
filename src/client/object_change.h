// What list and watch report about the objects of a kind.
#pragma once

#include <vector>

#include "api/object.h"

namespace berth::client {

struct ObjectChange {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  // For a deleted one: its names, UID and last known version, and perhaps more.
  api::Object object;
};

// Called on the reflectors' threads, one call per kind at a time; must be quick.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  // A part of the first list of the kind. The list is incomplete until the next OnChanges or OnNotServed, and objects
  // may be deleted again before that.
  virtual void OnListing(api::Kind kind, std::vector<ObjectChange> changes) = 0;
  // In the order of the changes. The first call for a kind completes its first list, even if there is nothing to add.
  virtual void OnChanges(api::Kind kind, std::vector<ObjectChange> changes) = 0;
  // The server does not serve the kind: it has no objects until the next OnChanges. Every object that the sink knew has
  // been reported as deleted by OnChanges before this call, so nothing is left to remove.
  virtual void OnNotServed(api::Kind kind) = 0;
};

}  // namespace berth::client
