// What list and watch tell about the objects of a kind.
#pragma once

#include <vector>

#include "api/object.h"

namespace berth::client {

struct ObjectChange {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  // Of one that was deleted, its names, UID and last known version, and perhaps more.
  api::Object object;
};

// Called from the threads of the reflectors, one of each kind at a time; must be quick.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  // A part of what was there when the kind was listed for the first time. What has been told is not everything until
  // the next OnChanges or OnNotServed, and may be taken back before.
  virtual void OnListing(api::Kind kind, std::vector<ObjectChange> changes) = 0;
  // In the order they happened. The first call for a kind completes what was there, even if there is nothing to add.
  virtual void OnChanges(api::Kind kind, std::vector<ObjectChange> changes) = 0;
  // The server does not serve the kind: it counts as having no objects until the next OnChanges. Whatever the sink knew
  // of the kind has been deleted by OnChanges before this call, so there is nothing left to forget here.
  virtual void OnNotServed(api::Kind kind) = 0;
};

}  // namespace berth::client
