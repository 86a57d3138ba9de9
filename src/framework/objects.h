// Objects other than nodes and pods that plugins read: claims, classes, services, budgets. One writer (the scheduling
// thread), read in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/node.h"
#include "api/policy.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "api/workload.h"
#include "base/symbol.h"
#include "framework/recent_changes.h"

namespace berth::framework {

// Objects of one kind by namespace and name, walked in that order.
template <class T>
class ObjectStore {
  // Compares without building strings for the key looked up.
  using KeyView = std::pair<std::string_view, std::string_view>;
  struct KeyLess {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Less(a.first, a.second, b.first, b.second);
    }
    // As for pairs, but each text is read only once: a lookup descends some ten levels.
    static bool Less(std::string_view a_space, std::string_view a_name, std::string_view b_space,
                     std::string_view b_name) {
      const int by_space = Compare(a_space, b_space);
      return by_space != 0 ? by_space < 0 : Compare(a_name, b_name) < 0;
    }
    static int Compare(std::string_view a, std::string_view b) {
      const size_t common = std::min(a.size(), b.size());
      const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
      return order != 0 ? order : a.size() < b.size() ? -1 : a.size() > b.size();
    }
  };

 public:
  using Key = std::pair<std::string, std::string>;  // namespace ("" when cluster-scoped), name
  using Map = std::map<Key, std::shared_ptr<const T>, KeyLess>;
  using Object = std::shared_ptr<const T>;
  // The object before and after the change; null when there is none.
  struct Change {
    Object before;
    Object after;
  };
  // Called after every change with the object before and after it; null when there is none.
  using Observer = std::function<void(const Object& before, const Object& after)>;

  // The latest `kept_changes` changes can be read back.
  explicit ObjectStore(size_t kept_changes = 0) : changes_(kept_changes) {}
  // A copy is a separate store: observers of the original are not called for it.
  ObjectStore(const ObjectStore& other)
      : objects_(other.objects_), changes_(RecentChanges<Change>::CountingFrom(other.changes_)) {}
  ObjectStore& operator=(const ObjectStore& other) {
    objects_ = other.objects_;
    changes_ = RecentChanges<Change>::CountingFrom(other.changes_);
    return *this;
  }

  void Observe(Observer observer) { observer_ = std::move(observer); }

  // Null when there is no such object.
  const T* Find(std::string_view name_space, std::string_view name) const {
    const std::shared_ptr<const T>* found = FindShared(name_space, name);
    return found ? found->get() : nullptr;
  }
  const T* Find(std::string_view name) const { return Find("", name); }
  const std::shared_ptr<const T>* FindShared(std::string_view name_space, std::string_view name) const {
    const auto it = objects_.find(KeyView(name_space, name));
    return it == objects_.end() ? nullptr : &it->second;
  }

  // Returns the object that was there before, or null.
  std::shared_ptr<const T> Upsert(std::shared_ptr<const T> object) {
    std::shared_ptr<const T>& place = objects_[Key(object->metadata.namespace_.str(), object->metadata.name)];
    std::shared_ptr<const T> before = std::exchange(place, std::move(object));
    changes_.Append({before, place});
    // The map entry may move during the callback; the object does not.
    if (observer_) observer_(before, std::shared_ptr<const T>(place));
    return before;
  }
  std::shared_ptr<const T> Erase(std::string_view name_space, std::string_view name) {
    const auto it = objects_.find(KeyView(name_space, name));
    if (it == objects_.end()) return nullptr;
    std::shared_ptr<const T> gone = std::move(it->second);
    objects_.erase(it);
    changes_.Append({gone, nullptr});
    if (observer_) observer_(gone, nullptr);
    return gone;
  }

  // Everything, in (namespace, name) order: for (const auto& [key, object] : store) …
  typename Map::const_iterator begin() const { return objects_.begin(); }
  typename Map::const_iterator end() const { return objects_.end(); }
  // Grows with every change, so that readers who cache answers can tell that they are stale.
  uint64_t version() const { return changes_.end(); }
  // One entry per version, as far back as they are kept.
  const RecentChanges<Change>& changes() const { return changes_; }
  size_t size() const { return objects_.size(); }
  bool empty() const { return objects_.empty(); }

  // Calls visit(object) for each object of one namespace.
  template <class Visit>
  void ForEachIn(std::string_view name_space, Visit&& visit) const {
    for (auto it = objects_.lower_bound(KeyView(name_space, "")); it != objects_.end() && it->first.first == name_space;
         ++it) {
      visit(*it->second);
    }
  }

 private:
  Map objects_;
  RecentChanges<Change> changes_;
  Observer observer_;
};

struct Objects {
  // Enough for the changes between two pods with claims; each replaced object in the list is kept alive.
  static constexpr size_t kStorageChanges = 1024;

  ObjectStore<api::Namespace> namespaces;
  ObjectStore<api::PersistentVolume> persistent_volumes{kStorageChanges};
  ObjectStore<api::PersistentVolumeClaim> persistent_volume_claims{kStorageChanges};
  ObjectStore<api::StorageClass> storage_classes;
  ObjectStore<api::CSINode> csi_nodes{kStorageChanges};
  ObjectStore<api::CSIDriver> csi_drivers;
  ObjectStore<api::CSIStorageCapacity> csi_storage_capacities{kStorageChanges};
  ObjectStore<api::VolumeAttachment> volume_attachments{kStorageChanges};
  ObjectStore<api::Service> services;
  ObjectStore<api::ReplicationController> replication_controllers;
  ObjectStore<api::ReplicaSet> replica_sets;
  ObjectStore<api::StatefulSet> stateful_sets;
  ObjectStore<api::PodDisruptionBudget> pod_disruption_budgets;
  ObjectStore<api::PriorityClass> priority_classes;
  ObjectStore<api::ResourceClaim> resource_claims;
  ObjectStore<api::ResourceSlice> resource_slices;
  ObjectStore<api::DeviceClass> device_classes;
  ObjectStore<api::DeviceTaintRule> device_taint_rules;

  // Version of the objects other than nodes and pods that answers by topology domain read: namespaces, for namespace
  // selectors, and the owners of pods that spread by default.
  uint64_t topology_version() const {
    return namespaces.version() + services.version() + replication_controllers.version() + replica_sets.version() +
           stateful_sets.version();
  }
};

}  // namespace berth::framework
