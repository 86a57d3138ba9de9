#include "dra/allocated_devices.h"

#include <algorithm>

namespace berth::dra {

DeviceId AllocatedDevices::Acquire(const PoolKey& pool, const std::string& device) {
  std::shared_ptr<PoolState>& place = pools_[pool];
  if (!place) {
    place = std::make_shared<PoolState>();
    place->key = pool;
    // Versions of one pool never repeat, also when it comes back.
    place->version = ++version_;
    place->changes = VersionedChanges<DeviceId, 256>(version_);
  }
  const auto [entry, added] = place->devices.try_emplace(device, 0);
  if (added) {
    if (free_.empty()) {
      entry->second = static_cast<DeviceId>(devices_.size());
      devices_.emplace_back();
    } else {
      entry->second = free_.back();
      free_.pop_back();
    }
    devices_[entry->second].pool = place.get();
    devices_[entry->second].name = device;
  }
  ++devices_[entry->second].references;
  return entry->second;
}

void AllocatedDevices::Release(DeviceId id) {
  Device& device = devices_[id];
  if (--device.references > 0) return;
  PoolState& pool = *device.pool;
  pool.devices.erase(device.name);
  device = Device();
  free_.push_back(id);
  if (pool.devices.empty()) pools_.erase(PoolKey(pool.key));
}

AllocatedDevices::PoolStatePtr AllocatedDevices::StateOf(const PoolKey& pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : found->second;
}

void AllocatedDevices::AddViewer(PoolState& pool, uint32_t node) {
  const auto place = std::lower_bound(pool.viewers.begin(), pool.viewers.end(), node);
  if (place == pool.viewers.end() || *place != node) pool.viewers.insert(place, node);
}

void AllocatedDevices::TouchNode(uint32_t node) {
  if (node >= node_versions_.size()) node_versions_.resize(node + 1);
  node_versions_[node] = ++version_;
}

void AllocatedDevices::Touch(PoolState& pool, DeviceId device) {
  pool.version = ++version_;
  pool.changes.Record(version_, device);
  changes_.Record(version_, &pool);
  for (const uint32_t node : pool.viewers) node_versions_[node] = version_;
}

void AllocatedDevices::CountCapacity(Device& device, const ConsumedCapacity& consumed, int sign) {
  if (!device.consumed) {
    if (sign < 0) return;
    device.consumed = std::make_unique<ConsumedCapacity>();
  }
  for (const auto& [name, amount] : consumed) {
    if (sign > 0) {
      (*device.consumed)[name].Add(amount);
    } else if (api::Quantity* sum = device.consumed->Find(name)) {
      sum->Sub(amount);
    }
  }
  const bool nothing = std::all_of(device.consumed->begin(), device.consumed->end(),
                                   [](const auto& entry) { return entry.second.IsZero(); });
  if (sign < 0 && nothing) device.consumed.reset();
}

void AllocatedDevices::Count(const api::AllocationResult& allocation, int sign) {
  for (const api::DeviceRequestAllocationResult& result : allocation.devices.results) {
    if (result.admin_access.value_or(false)) continue;
    const DeviceId id = Acquire({result.driver, result.pool}, result.device);
    Device& device = devices_[id];
    Touch(*device.pool, id);
    if (consumable_capacity_ && result.share_id) {
      device.shares += sign;
      if (!result.consumed_capacity.empty()) CountCapacity(device, result.consumed_capacity, sign);
    } else {
      device.dedicated += sign;
    }
    // An allocation that counts holds the number; one that goes gives it up, and what was just taken to find it.
    if (sign < 0) {
      Release(id);
      Release(id);
    }
  }
}

}  // namespace berth::dra
