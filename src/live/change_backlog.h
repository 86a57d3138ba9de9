// ChangeBacklog: changes that watches have reported and the scheduling thread has not read yet. Bounded by the number
// of objects, not of changes: once a kind has many unread changes, those that a later one makes obsolete are dropped,
// as if the watch had missed them. What remains of an object is its newest state, preceded by its deletion if there was
// one, so that an object that was deleted and created again is seen as such by the reader too. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "client/object_change.h"

namespace berth::live {

class ChangeBacklog {
 public:
  // With fewer unread changes of a kind than this, dropping is not worthwhile.
  static constexpr size_t kFew = 4096;

  explicit ChangeBacklog(size_t few = kFew) : few_(few) {}

  struct Unread {
    std::vector<client::ObjectChange> changes{};  // in the order they happened
    // The first list of the kind is complete; false if these changes are only a part of it.
    bool is_whole = false;
  };

  // Returns true if nothing of the kind was waiting, so that the reader has to be told to Take it.
  bool Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole = true);
  Unread Take(api::Kind kind);

 private:
  struct Line {
    Unread unread;
    bool is_waiting = false;  // even if it is empty: that a kind has no objects must be reported, too
    size_t compact_at = 0;
  };

  const size_t few_;
  std::mutex mutex_;
  std::map<api::Kind, Line> lines_;  // guarded by mutex_
};

}  // namespace berth::live
