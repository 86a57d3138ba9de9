// DomainCounts: matching pods per topology domain of one spread constraint, with the smallest count at hand.
// Exact under any sequence of changes; only a change that empties the lowest level costs a pass over the domains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace berth::plugins {

class DomainCounts {
 public:
  explicit DomainCounts(size_t domains = 0) : counts_(domains, kNotADomain) {}

  // While counting a whole cluster: call FindMinimum() once afterwards.
  void Accumulate(int32_t domain, int64_t pods) {
    int64_t& count = At(domain);
    if (count == kNotADomain) {
      count = 0;
      ++domains_;
    }
    count += pods;
  }
  void FindMinimum() {
    minimum_ = kNoMinimum;
    at_minimum_ = 0;
    for (const int64_t count : counts_) {
      if (count != kNotADomain) NoteLevel(count);
    }
  }

  // A single change afterwards. Counts may turn negative: taking away a terminating pod removes what was never counted.
  void Change(int32_t domain, int64_t delta) {
    int64_t& count = At(domain);
    if (count == kNotADomain) {
      count = delta;
      ++domains_;
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

  // 0 for a domain that no eligible node belongs to.
  int64_t Get(int32_t domain) const {
    const auto i = static_cast<size_t>(domain);
    return i < counts_.size() && counts_[i] != kNotADomain ? counts_[i] : 0;
  }
  // Over eligible domains; very large when there are none.
  int64_t minimum() const { return minimum_; }
  int64_t domains() const { return domains_; }

 private:
  static constexpr int64_t kNotADomain = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoMinimum = std::numeric_limits<int32_t>::max();

  int64_t& At(int32_t domain) {
    const auto i = static_cast<size_t>(domain);
    if (i >= counts_.size()) counts_.resize(i + 1, kNotADomain);
    return counts_[i];
  }
  void NoteLevel(int64_t count) {
    if (count < minimum_) {
      minimum_ = count;
      at_minimum_ = 1;
    } else if (count == minimum_) {
      ++at_minimum_;
    }
  }

  std::vector<int64_t> counts_;  // by domain
  int64_t domains_ = 0;          // eligible ones
  int64_t minimum_ = kNoMinimum;
  int64_t at_minimum_ = 0;  // domains whose count is minimum_
};

}  // namespace berth::plugins
