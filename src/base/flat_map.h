// A small map as one sorted vector: labels, resource lists and annotations have a handful of keys, are read far more
// often than built, and are walked in key order.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace berth::base {

template <class Key, class Value>
class FlatMap {
 public:
  using value_type = std::pair<Key, Value>;
  using const_iterator = typename std::vector<value_type>::const_iterator;
  using key_type = Key;
  using mapped_type = Value;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) Set(entry.first, entry.second);
  }

  // Null when the key is absent.
  const Value* Find(const Key& key) const {
    // Most maps hold under ten entries: a scan over equality (a pointer comparison for Symbols) beats a binary search.
    for (const value_type& entry : entries_) {
      if (entry.first == key) return &entry.second;
    }
    return nullptr;
  }
  Value* Find(const Key& key) { return const_cast<Value*>(std::as_const(*this).Find(key)); }
  bool Contains(const Key& key) const { return Find(key) != nullptr; }

  // Inserts a default value when the key is absent.
  Value& operator[](const Key& key) {
    auto it = LowerBound(key);
    if (it == entries_.end() || it->first != key) it = entries_.insert(it, {key, Value{}});
    return it->second;
  }
  void Set(const Key& key, Value value) { (*this)[key] = std::move(value); }
  void Erase(const Key& key) {
    std::erase_if(entries_, [&](const value_type& entry) { return entry.first == key; });
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  void reserve(size_t count) { entries_.reserve(count); }

  friend bool operator==(const FlatMap&, const FlatMap&) = default;

 private:
  auto LowerBound(const Key& key) {
    return std::lower_bound(entries_.begin(), entries_.end(), key,
                            [](const value_type& entry, const Key& wanted) { return entry.first < wanted; });
  }

  std::vector<value_type> entries_;
};

}  // namespace berth::base
