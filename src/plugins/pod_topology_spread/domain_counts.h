// DomainCounts: matching pods per topology domain of one spread constraint, and the smallest count.
// Exact under any sequence of changes; only a change that empties the lowest level costs a pass over the domains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace berth::plugins {

class DomainCounts {
 public:
  explicit DomainCounts(size_t domains = 0) { Grow(domains + 1); }

  // For counting a whole cluster: call FindMinimum() once afterwards.
  void Accumulate(int32_t domain, int64_t pods) {
    const size_t place = PlaceFor(domain);
    if (!eligible_[place]) {
      eligible_[place] = 1;
      ++domains_;
    }
    counts_[place] += pods;
  }
  void FindMinimum() {
    minimum_ = kNoMinimum;
    at_minimum_ = 0;
    for (size_t place = 1; place < counts_.size(); ++place) {
      if (eligible_[place]) NoteLevel(counts_[place]);
    }
  }

  // A single change afterwards. Counts may become negative: removing a terminating pod subtracts what was never
  // counted.
  void Change(int32_t domain, int64_t delta) {
    const size_t place = PlaceFor(domain);
    int64_t& count = counts_[place];
    if (!eligible_[place]) {
      eligible_[place] = 1;
      ++domains_;
      count = delta;
      NoteLevel(count);
      return;
    }
    if (count == minimum_) --at_minimum_;
    count += delta;
    if (delta > 0 && at_minimum_ == 0) {
      FindMinimum();
    } else {
      NoteLevel(count);
    }
  }

  // 0 for a domain without an eligible node.
  int64_t Get(int32_t domain) const {
    const size_t place = static_cast<size_t>(domain) + 1;
    return place < counts_.size() ? counts_[place] : 0;
  }
  // Over eligible domains; very large when there are none.
  int64_t minimum() const { return minimum_; }
  int64_t domains() const { return domains_; }

  // Get() for all domains, by domain + 1. Position 0, which nodes without the label use, exceeds any limit.
  std::span<const int64_t> by_place() const { return counts_; }

 private:
  static constexpr int64_t kNoMinimum = std::numeric_limits<int32_t>::max();

  void Grow(size_t places) {
    counts_.resize(places, 0);
    eligible_.resize(places, 0);
    counts_[0] = std::numeric_limits<int64_t>::max();
  }
  size_t PlaceFor(int32_t domain) {
    const size_t place = static_cast<size_t>(domain) + 1;
    if (place >= counts_.size()) Grow(place + 1);
    return place;
  }
  void NoteLevel(int64_t count) {
    if (count < minimum_) {
      minimum_ = count;
      at_minimum_ = 1;
    } else if (count == minimum_) {
      ++at_minimum_;
    }
  }

  std::vector<int64_t> counts_;    // by domain + 1
  std::vector<uint8_t> eligible_;  // by domain + 1; it has an eligible node
  int64_t domains_ = 0;            // eligible ones
  int64_t minimum_ = kNoMinimum;
  int64_t at_minimum_ = 0;  // domains whose count is minimum_
};

}  // namespace berth::plugins
