// What list and watch tell about the objects of a kind.
#pragma once

#include <vector>

#include "api/object.h"

namespace berth::client {

struct ObjectChange {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  api::Object object;  // the last known state of one that was deleted
};

// Called from the threads of the reflectors, one of each kind at a time; must be quick.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  // In the order they happened. The first call for a kind has everything that was there, even if that is nothing.
  virtual void OnChanges(api::Kind kind, std::vector<ObjectChange> changes) = 0;
  // The server does not serve the kind: it counts as having no objects until the next OnChanges. Whatever the sink knew
  // of the kind has been deleted by OnChanges before this call, so there is nothing left to forget here.
  virtual void OnNotServed(api::Kind kind) = 0;
};

}  // namespace berth::client
