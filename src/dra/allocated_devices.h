// AllocatedDevices: which devices are taken, and how much of those that are shared.
//
// A device has a small number for as long as a slice offers it or an allocation names it; what is known about it stands
// in an array under that number. Not thread-safe: owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/resource_claim.h"
#include "base/flat_map.h"
#include "dra/recent_changes.h"

namespace berth::dra {

using DeviceId = uint32_t;
// Amounts by the name of the capacity.
using ConsumedCapacity = base::FlatMap<std::string, api::Quantity>;

// Driver and name of a pool.
using PoolKey = std::pair<std::string, std::string>;

class AllocatedDevices {
 public:
  // What happened to the devices of one pool.
  struct PoolState {
    PoolKey key;
    std::unordered_map<std::string, DeviceId> devices;
    uint64_t version = 0;                  // grows with every device that is taken or given back
    RecentChanges<DeviceId, 256> changes;  // devices that were taken or given back
    std::vector<uint32_t> viewers;         // nodes, in order
  };
  using PoolStatePtr = std::shared_ptr<PoolState>;

  // `consumable_capacity`: results with a share ID take a share, not the whole device.
  explicit AllocatedDevices(bool consumable_capacity) : consumable_capacity_(consumable_capacity) {}

  // The device's number, kept until it has been released as often as acquired.
  DeviceId Acquire(const PoolKey& pool, const std::string& device);
  void Release(DeviceId id);

  // What an allocation takes, and gives back. Results with administrator access take nothing.
  void Add(const api::AllocationResult& allocation) { Count(allocation, +1); }
  void Remove(const api::AllocationResult& allocation) { Count(allocation, -1); }

  // Taken as a whole.
  bool IsDedicated(DeviceId id) const { return devices_[id].dedicated > 0; }
  // Taken, as a whole or in part.
  bool IsAllocated(DeviceId id) const { return devices_[id].dedicated > 0 || devices_[id].shares > 0; }
  // The sum of what shares consume; null when none of them is recorded as consuming anything.
  const ConsumedCapacity* Consumed(DeviceId id) const { return devices_[id].consumed.get(); }

  // Null when the pool has no devices. The same for as long as some slice offers one of them.
  PoolStatePtr StateOf(const PoolKey& pool) const;
  // visit(const PoolState*) for pools of which something was taken or given back since version() was that, perhaps
  // several times; the pointers are for telling them apart. False when that is too long ago to be known.
  template <class Visit>
  bool VisitPoolsChangedSince(uint64_t version, const Visit& visit) const {
    return changes_.VisitSince(version, visit);
  }
  // Grows with every change anywhere.
  uint64_t version() const { return version_; }

  // The node with this number can use the pool: from now on it changes when the pool does.
  static void AddViewer(PoolState& pool, uint32_t node);
  void TouchNode(uint32_t node);
  // By the number of the node: version() when something last changed about the devices that it can use.
  std::span<const uint64_t> node_versions() const { return node_versions_; }

 private:
  struct Device {
    PoolState* pool = nullptr;
    std::string name;
    uint32_t references = 0;
    uint32_t dedicated = 0;
    uint32_t shares = 0;
    std::unique_ptr<ConsumedCapacity> consumed;
  };

  void Count(const api::AllocationResult& allocation, int sign);
  void Touch(PoolState& pool, DeviceId device);
  static void CountCapacity(Device& device, const ConsumedCapacity& consumed, int sign);

  const bool consumable_capacity_;
  std::map<PoolKey, std::shared_ptr<PoolState>> pools_;
  std::vector<Device> devices_;
  std::vector<DeviceId> free_;
  std::vector<uint64_t> node_versions_;
  RecentChanges<const PoolState*, 4096> changes_;  // pools of which something was taken or given back
  uint64_t version_ = 0;
};

}  // namespace berth::dra
