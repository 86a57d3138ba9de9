// A cache of answers with a time to live, bounded in size. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace berth::serving {

template <class Value>
class TtlCache {
 public:
  TtlCache(const base::Clock& clock, size_t capacity) : clock_(clock), capacity_(capacity) {}

  std::optional<Value> Get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.expires <= clock_.Now()) return std::nullopt;
    return found->second.value;
  }

  // Nothing is kept with a time to live of zero. If full, the entry that expires first is evicted.
  void Put(const std::string& key, Value value, base::Duration ttl) {
    if (ttl <= base::Duration::zero()) return;
    const std::lock_guard lock(mutex_);
    Erase(key);
    if (entries_.size() >= capacity_) Erase(std::string(by_expiry_.begin()->second));
    const base::Time expires = clock_.Now() + ttl;
    by_expiry_.emplace(expires, key);
    entries_.emplace(key, Entry{std::move(value), expires});
  }

 private:
  struct Entry {
    Value value;
    base::Time expires;
  };

  void Erase(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    auto [first, last] = by_expiry_.equal_range(found->second.expires);
    while (first != last && first->second != key) ++first;
    by_expiry_.erase(first);
    entries_.erase(found);
  }

  const base::Clock& clock_;
  const size_t capacity_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;              // guarded by mutex_
  std::multimap<base::Time, std::string> by_expiry_;  // guarded by mutex_; the same entries
};

}  // namespace berth::serving
