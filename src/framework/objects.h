// The objects beside nodes and pods that plugins read: claims, classes, services, budgets. One writer (the scheduling
// thread), read in place.
#pragma once

#include <cstdint>
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

namespace berth::framework {

// Objects of one kind by namespace and name, walked in that order.
template <class T>
class ObjectStore {
 public:
  using Key = std::pair<std::string, std::string>;  // namespace ("" when cluster-scoped), name
  using Map = std::map<Key, std::shared_ptr<const T>>;
  using Object = std::shared_ptr<const T>;
  // Told of every change once it has happened: what stood there before and what stands there now, null for nothing.
  using Observer = std::function<void(const Object& before, const Object& after)>;

  ObjectStore() = default;
  // A copy is another picture: who follows the original does not follow it.
  ObjectStore(const ObjectStore& other) : objects_(other.objects_), version_(other.version_) {}
  ObjectStore& operator=(const ObjectStore& other) {
    objects_ = other.objects_;
    version_ = other.version_;
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
    const auto it = objects_.find(Key(name_space, name));
    return it == objects_.end() ? nullptr : &it->second;
  }

  // Returns what stood there before, or null.
  std::shared_ptr<const T> Upsert(std::shared_ptr<const T> object) {
    std::shared_ptr<const T>& place = objects_[Key(object->metadata.namespace_.str(), object->metadata.name)];
    ++version_;
    std::shared_ptr<const T> before = std::exchange(place, std::move(object));
    // The place may move while the observer looks around; what it holds does not.
    if (observer_) observer_(before, std::shared_ptr<const T>(place));
    return before;
  }
  std::shared_ptr<const T> Erase(std::string_view name_space, std::string_view name) {
    const auto it = objects_.find(Key(name_space, name));
    if (it == objects_.end()) return nullptr;
    std::shared_ptr<const T> gone = std::move(it->second);
    objects_.erase(it);
    ++version_;
    if (observer_) observer_(gone, nullptr);
    return gone;
  }

  // Everything, in (namespace, name) order: for (const auto& [key, object] : store) …
  typename Map::const_iterator begin() const { return objects_.begin(); }
  typename Map::const_iterator end() const { return objects_.end(); }
  // Grows with every change, so that who keeps answers notices.
  uint64_t version() const { return version_; }
  size_t size() const { return objects_.size(); }
  bool empty() const { return objects_.empty(); }

  // Those of one namespace: call visit(object) for each.
  template <class Visit>
  void ForEachIn(std::string_view name_space, Visit&& visit) const {
    for (auto it = objects_.lower_bound(Key(name_space, "")); it != objects_.end() && it->first.first == name_space;
         ++it) {
      visit(*it->second);
    }
  }

 private:
  Map objects_;
  uint64_t version_ = 0;
  Observer observer_;
};

struct Objects {
  ObjectStore<api::Namespace> namespaces;
  ObjectStore<api::PersistentVolume> persistent_volumes;
  ObjectStore<api::PersistentVolumeClaim> persistent_volume_claims;
  ObjectStore<api::StorageClass> storage_classes;
  ObjectStore<api::CSINode> csi_nodes;
  ObjectStore<api::CSIDriver> csi_drivers;
  ObjectStore<api::CSIStorageCapacity> csi_storage_capacities;
  ObjectStore<api::VolumeAttachment> volume_attachments;
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

  // Of the objects that answers by topology domain read besides nodes and pods: whose labels a namespace selector sees,
  // and who spreads pods by default.
  uint64_t topology_version() const {
    return namespaces.version() + services.version() + replication_controllers.version() + replica_sets.version() +
           stateful_sets.version();
  }
};

}  // namespace berth::framework
