// BucketQueue: nodes by total score. A total is a small integer, so an array of buckets gives update, maximum and a
// uniformly random choice among the best in constant time, for five nodes or a hundred thousand.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/node_info.h"

namespace berth::engine {

class BucketQueue {
 public:
  // Totals lie in [0, max_total].
  explicit BucketQueue(int64_t max_total = 0) : buckets_(static_cast<size_t>(max_total) + 1) {}

  void Resize(size_t slots) { place_.resize(slots); }
  void Clear() {
    for (auto& bucket : buckets_) bucket.clear();
    place_.assign(place_.size(), {});
    size_ = 0;
    top_ = 0;
  }

  // Adds the node, or moves it to another bucket.
  void Set(framework::NodeIndex node, int64_t total) {
    Place& place = place_[node];
    if (place.total == total) return;
    Remove(node);
    auto& bucket = buckets_[static_cast<size_t>(total)];
    place = {static_cast<int32_t>(total), static_cast<uint32_t>(bucket.size())};
    bucket.push_back(node);
    ++size_;
    if (total > top_) top_ = total;
  }

  void Remove(framework::NodeIndex node) {
    Place& place = place_[node];
    if (place.total == kNowhere) return;
    auto& bucket = buckets_[static_cast<size_t>(place.total)];
    bucket[place.position] = bucket.back();
    place_[bucket[place.position]].position = place.position;
    bucket.pop_back();
    place.total = kNowhere;
    --size_;
  }

  void Prefetch(framework::NodeIndex node) const { __builtin_prefetch(&place_[node]); }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  int64_t top() {
    while (top_ > 0 && buckets_[static_cast<size_t>(top_)].empty()) --top_;
    return top_;
  }
  // Every node with the highest total. Not for an empty queue.
  const std::vector<framework::NodeIndex>& best() { return buckets_[static_cast<size_t>(top())]; }

 private:
  static constexpr int32_t kNowhere = -1;
  struct Place {
    int32_t total = kNowhere;
    uint32_t position = 0;
  };

  std::vector<std::vector<framework::NodeIndex>> buckets_;
  std::vector<Place> place_;  // by node index
  size_t size_ = 0;
  int64_t top_ = 0;
};

}  // namespace berth::engine
