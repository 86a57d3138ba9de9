// ChangeBacklog: what watches have told and the scheduling thread has not read yet. Bounded by what exists, not by how
// much has happened: once a kind has many unread changes, those that a later one makes obsolete are dropped, as if the
// watch had missed them. What stays of an object is its newest state, after its deletion if there was one in between,
// so that an object that left and returned has done so for the reader too. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "client/object_change.h"

namespace berth::live {

class ChangeBacklog {
 public:
  // Fewer unread changes of a kind than this are not worth looking at.
  static constexpr size_t kFew = 4096;

  explicit ChangeBacklog(size_t few = kFew) : few_(few) {}

  struct Unread {
    std::vector<client::ObjectChange> changes{};  // in the order they happened
    // Nothing is missing of what was there at first; false when these are only a part of it.
    bool is_whole = false;
  };

  // True when nothing of the kind was waiting, so that nobody has been told to Take it yet.
  bool Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole = true);
  Unread Take(api::Kind kind);

 private:
  struct Line {
    Unread unread;
    bool is_waiting = false;  // also when it is empty: that a kind has no objects is news
    size_t compact_at = 0;
  };

  const size_t few_;
  std::mutex mutex_;
  std::map<api::Kind, Line> lines_;  // guarded by mutex_
};

}  // namespace berth::live
