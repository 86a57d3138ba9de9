// Objects as they will be once pending writes are reported back by the API server. An assumption holds until the object
// changes in the store: the server's version always takes precedence.
// Thread-safe, so that a reservation may be undone on whichever thread binding failed.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/objects.h"
#include "framework/recent_changes.h"

namespace berth::plugins {

template <class T>
class AssumedObjects {
 public:
  using Store = framework::ObjectStore<T>;
  using Ptr = std::shared_ptr<const T>;

  // Null when the store has no such object.
  Ptr Find(const Store& store, std::string_view name_space, std::string_view name) const {
    const Ptr* stored = store.FindShared(name_space, name);
    return stored ? Latest(*stored) : nullptr;
  }

  Ptr Latest(const Ptr& stored) const {
    const std::lock_guard lock(mutex_);
    if (assumed_.empty()) return stored;
    const auto it = assumed_.find(KeyOf(*stored));
    return it != assumed_.end() && it->second.HoldsFor(stored) ? it->second.object : stored;
  }

  void Assume(const Store& store, Ptr object) {
    const std::lock_guard lock(mutex_);
    if (assumed_.size() >= drop_at_) DropConfirmed(store);
    const typename Store::Key key = KeyOf(*object);
    const Ptr* stored = store.FindShared(key.first, key.second);
    if (stored == nullptr) return;
    assumed_[key] = {*stored, std::move(object)};
    changes_.Append(key);
  }

  // No-op when the assumption is gone already or has been replaced.
  void Forget(const Ptr& object) {
    const std::lock_guard lock(mutex_);
    const auto it = assumed_.find(KeyOf(*object));
    if (it == assumed_.end() || it->second.object != object) return;
    changes_.Append(it->first);
    assumed_.erase(it);
  }

  // How many assumptions have been made and forgotten; those that the store has superseded show as its changes.
  uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return changes_.end();
  }
  // Appends the objects changed since `version`, and updates it. False: too long ago.
  bool ReadChanges(uint64_t& version, std::vector<typename Store::Key>& changed) const {
    const std::lock_guard lock(mutex_);
    if (!changes_.Knows(version)) return false;
    for (; version < changes_.end(); ++version) changed.push_back(changes_.at(version));
    return true;
  }

  // Whether the store shows everything: all assumptions have been reported, or are gone.
  bool IsAtRest(const Store& store) const {
    const std::lock_guard lock(mutex_);
    return std::none_of(assumed_.begin(), assumed_.end(), [&](const auto& entry) {
      const Ptr* stored = store.FindShared(entry.first.first, entry.first.second);
      return stored != nullptr && entry.second.HoldsFor(*stored);
    });
  }

 private:
  struct Entry {
    Ptr base;  // what the store held at the time of the assumption
    Ptr object;

    bool HoldsFor(const Ptr& stored) const {
      return stored == base || (!stored->metadata.resource_version.empty() &&
                                stored->metadata.resource_version == base->metadata.resource_version);
    }
  };

  static typename Store::Key KeyOf(const T& object) {
    return {std::string(object.metadata.namespace_.str()), object.metadata.name};
  }

  // Runs when there are twice as many as remained the last time: a constant cost per assumption.
  void DropConfirmed(const Store& store) {
    std::erase_if(assumed_, [&](const auto& entry) {
      const Ptr* stored = store.FindShared(entry.first.first, entry.first.second);
      return stored == nullptr || !entry.second.HoldsFor(*stored);
    });
    drop_at_ = std::max<size_t>(64, 2 * assumed_.size());
  }

  mutable std::mutex mutex_;
  std::map<typename Store::Key, Entry> assumed_;
  size_t drop_at_ = 64;
  framework::RecentChanges<typename Store::Key> changes_{1024};
};

}  // namespace berth::plugins
