// VersionedChanges: changes, by the version that each made; when there are too many, the older half is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace berth::dra {

template <class Change, size_t kMost>
class VersionedChanges {
 public:
  // `begin`: the version before the first change.
  explicit VersionedChanges(uint64_t begin = 0) : begin_(begin) {}

  void Record(uint64_t version, Change change) {
    if (changes_.size() >= kMost) {
      const auto middle = changes_.begin() + kMost / 2;
      begin_ = std::prev(middle)->first;
      changes_.erase(changes_.begin(), middle);
    }
    changes_.emplace_back(version, std::move(change));
  }
  // visit(change) for each change after that version, the last one first. False, without a call, if that is too long
  // ago to be known.
  template <class Visit>
  bool VisitSince(uint64_t version, const Visit& visit) const {
    if (version < begin_) return false;
    for (auto it = changes_.rbegin(); it != changes_.rend() && it->first > version; ++it) visit(it->second);
    return true;
  }

 private:
  std::vector<std::pair<uint64_t, Change>> changes_;
  uint64_t begin_;
};

}  // namespace berth::dra
