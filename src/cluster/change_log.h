// ChangeLog: which nodes changed, in order. A kept evaluation remembers how far it has read and catches up from there
// instead of starting over. Bounded: a reader that fell too far behind is told to start fresh.
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "framework/node_info.h"

namespace berth::cluster {

class ChangeLog {
 public:
  using Cursor = uint64_t;

  explicit ChangeLog(size_t capacity = 1 << 14) : capacity_(capacity) {}

  void Append(framework::NodeIndex node) {
    if (entries_.size() == capacity_) entries_.pop_front();
    entries_.push_back(node);
    ++end_;
  }
  Cursor end() const { return end_; }

  // The nodes changed since `cursor`, oldest first and possibly repeated; unset when they are no longer known.
  std::optional<std::vector<framework::NodeIndex>> Since(Cursor cursor) const {
    const uint64_t missed = end_ - cursor;
    if (missed > entries_.size()) return std::nullopt;
    return std::vector<framework::NodeIndex>(entries_.end() - static_cast<ptrdiff_t>(missed), entries_.end());
  }

 private:
  size_t capacity_;
  Cursor end_ = 0;
  std::deque<framework::NodeIndex> entries_;
};

}  // namespace berth::cluster
