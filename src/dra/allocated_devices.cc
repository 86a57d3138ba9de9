#include "dra/allocated_devices.h"

#include <algorithm>

namespace berth::dra {

DeviceId AllocatedDevices::Acquire(const PoolKey& pool, const std::string& device) {
  std::unique_ptr<Pool>& place = pools_[pool];
  if (!place) {
    place = std::make_unique<Pool>();
    place->key = pool;
    // Versions of one pool never repeat, also when it comes back.
    place->version = place->changes_begin = ++version_;
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
  Pool& pool = *device.pool;
  pool.devices.erase(device.name);
  device = Device();
  free_.push_back(id);
  if (pool.devices.empty()) pools_.erase(PoolKey(pool.key));
}

uint64_t AllocatedDevices::VersionOf(const PoolKey& pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? 0 : found->second->version;
}

bool AllocatedDevices::ChangesSince(const PoolKey& pool, uint64_t version, std::vector<DeviceId>& changed) const {
  const auto found = pools_.find(pool);
  if (found == pools_.end() || version < found->second->changes_begin) return false;
  const auto& changes = found->second->changes;
  for (auto it = changes.rbegin(); it != changes.rend() && it->first > version; ++it) changed.push_back(it->second);
  return true;
}

void AllocatedDevices::AddViewer(const PoolKey& pool, uint32_t node) {
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return;  // it has no devices
  std::vector<uint32_t>& viewers = found->second->viewers;
  const auto place = std::lower_bound(viewers.begin(), viewers.end(), node);
  if (place == viewers.end() || *place != node) viewers.insert(place, node);
}

void AllocatedDevices::TouchNode(uint32_t node) {
  if (node >= node_versions_.size()) node_versions_.resize(node + 1);
  node_versions_[node] = ++version_;
}

void AllocatedDevices::Touch(Pool& pool, DeviceId device) {
  constexpr size_t kMaxChanges = 256;
  if (pool.changes.size() >= kMaxChanges) {
    // The older half is forgotten.
    const auto middle = pool.changes.begin() + kMaxChanges / 2;
    pool.changes_begin = std::prev(middle)->first;
    pool.changes.erase(pool.changes.begin(), middle);
  }
  pool.version = ++version_;
  pool.changes.emplace_back(version_, device);
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
