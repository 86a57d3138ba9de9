// ChangeLog: what changed on which node, in order. A kept evaluation remembers how far it has read and catches up from
// there instead of starting over. Bounded: a reader that fell too far behind has to start over. Not thread-safe;
// owned by the scheduling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/node_info.h"

namespace berth::cluster {

struct Change {
  framework::NodeIndex node = 0;
  // The pod that was added (+1) or removed (-1); null when the Node object itself was added, replaced or removed.
  framework::PodInfoPtr pod;
  int sign = 0;
};

class ChangeLog {
 public:
  using Cursor = uint64_t;

  // Long enough for many signatures to take turns; the log keeps alive every pod in it that has since been replaced.
  explicit ChangeLog(size_t capacity = size_t{1} << 10) : ring_(capacity) {}

  void Append(Change change) { ring_[end_++ % ring_.size()] = std::move(change); }
  Cursor end() const { return end_; }
  // Whether everything from `cursor` on is still kept.
  bool Knows(Cursor cursor) const { return end_ - cursor <= ring_.size(); }
  // For cursors that Knows() accepts and that are below end().
  const Change& at(Cursor cursor) const { return ring_[cursor % ring_.size()]; }

 private:
  std::vector<Change> ring_;
  Cursor end_ = 0;
};

}  // namespace berth::cluster
