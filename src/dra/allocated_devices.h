// AllocatedDevices: which devices are allocated, and how much of the shared ones is consumed.
//
// A device has a small number as long as a slice offers it or an allocation names it; its state is in an array indexed
// by that number. Not thread-safe: owned by the scheduling thread.
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
#include "dra/versioned_changes.h"

namespace berth::dra {

using DeviceId = uint32_t;
// Amounts by capacity name.
using ConsumedCapacity = base::FlatMap<std::string, api::Quantity>;

// Driver and name of a pool.
using PoolKey = std::pair<std::string, std::string>;

class AllocatedDevices {
 public:
  // The state of the devices of one pool.
  struct PoolState {
    PoolKey key;
    std::unordered_map<std::string, DeviceId> devices;
    uint64_t version = 0;                     // increases when a device is allocated or released
    VersionedChanges<DeviceId, 256> changes;  // devices that were allocated or released
    std::vector<uint32_t> viewers;            // nodes, in order
  };
  using PoolStatePtr = std::shared_ptr<PoolState>;

  // `consumable_capacity`: results with a share ID take a share, not the whole device.
  explicit AllocatedDevices(bool consumable_capacity) : consumable_capacity_(consumable_capacity) {}

  // The device's number, kept until it has been released as often as acquired.
  DeviceId Acquire(const PoolKey& pool, const std::string& device);
  void Release(DeviceId id);

  // Counts the devices of an allocation as allocated, or as free again. Results with administrator access allocate
  // nothing.
  void Add(const api::AllocationResult& allocation) { Count(allocation, +1); }
  void Remove(const api::AllocationResult& allocation) { Count(allocation, -1); }

  // Allocated as a whole.
  bool IsDedicated(DeviceId id) const { return devices_[id].dedicated > 0; }
  // Allocated, as a whole or in part.
  bool IsAllocated(DeviceId id) const { return devices_[id].dedicated > 0 || devices_[id].shares > 0; }
  // The sum of what the shares consume; null if none of them is recorded as consuming anything.
  const ConsumedCapacity* Consumed(DeviceId id) const { return devices_[id].consumed.get(); }

  // Null if the pool has no devices. The object stays the same as long as some slice offers a device of the pool.
  PoolStatePtr StateOf(const PoolKey& pool) const;
  // visit(const PoolState*) for pools of which a device was allocated or released since version() had this value,
  // possibly several times; the pointers only identify the pools. False if that is too long ago to be known.
  template <class Visit>
  bool VisitPoolsChangedSince(uint64_t version, const Visit& visit) const {
    return changes_.VisitSince(version, visit);
  }
  // Increases with every change.
  uint64_t version() const { return version_; }

  // Registers that the node with this number can use the pool: from now on, a change of the pool is a change for the
  // node.
  static void AddViewer(PoolState& pool, uint32_t node);
  void TouchNode(uint32_t node);
  // By node number: version() at the last change to the devices that the node can use.
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
  VersionedChanges<const PoolState*, 4096> changes_;  // pools of which a device was allocated or released
  uint64_t version_ = 0;
};

}  // namespace berth::dra
