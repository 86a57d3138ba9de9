// RecentChanges: the latest changes to something, in order. A reader that derives state from them remembers how far it
// has read and catches up from there. Bounded: a reader that fell too far behind has to start over. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::framework {

template <class T>
class RecentChanges {
 public:
  using Cursor = uint64_t;

  // With a capacity of 0 changes are counted and none is kept.
  explicit RecentChanges(size_t capacity = 0) : capacity_(capacity) {}
  // The same number of changes as `other`, none of them kept.
  static RecentChanges CountingFrom(const RecentChanges& other) {
    RecentChanges count;
    count.end_ = other.end_;
    return count;
  }

  void Append(T change) {
    if (ring_.size() < capacity_) {
      ring_.push_back(std::move(change));
    } else if (capacity_ > 0) {
      ring_[end_ % capacity_] = std::move(change);
    }
    ++end_;
  }

  Cursor end() const { return end_; }
  // Whether everything from `cursor` on is still here.
  bool Knows(Cursor cursor) const { return end_ - cursor <= ring_.size(); }
  // For cursors that are known and below end().
  const T& at(Cursor cursor) const { return ring_[cursor % capacity_]; }

 private:
  size_t capacity_;
  std::vector<T> ring_;
  Cursor end_ = 0;
};

}  // namespace berth::framework
