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

namespace berth::dra {

using DeviceId = uint32_t;
// Amounts by the name of the capacity.
using ConsumedCapacity = base::FlatMap<std::string, api::Quantity>;

// Driver and name of a pool.
using PoolKey = std::pair<std::string, std::string>;

class AllocatedDevices {
 public:
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

  // Grows with every device of the pool that is taken or given back.
  uint64_t VersionOf(const PoolKey& pool) const;
  // The devices of the pool that were taken or given back since it had that version, some perhaps twice. False when
  // that is too long ago to be known.
  bool ChangesSince(const PoolKey& pool, uint64_t version, std::vector<DeviceId>& changed) const;
  // Grows with every change anywhere.
  uint64_t version() const { return version_; }

  // The node with this number can use the pool: from now on it changes when the pool does.
  void AddViewer(const PoolKey& pool, uint32_t node);
  void TouchNode(uint32_t node);
  // By the number of the node: version() when something last changed about the devices that it can use.
  std::span<const uint64_t> node_versions() const { return node_versions_; }

 private:
  struct Pool {
    PoolKey key;
    std::unordered_map<std::string, DeviceId> devices;
    uint64_t version = 0;
    std::vector<std::pair<uint64_t, DeviceId>> changes;  // the last ones, by the version that they made
    uint64_t changes_begin = 0;                          // the version before the first of them
    std::vector<uint32_t> viewers;                       // nodes, in order
  };
  struct Device {
    Pool* pool = nullptr;
    std::string name;
    uint32_t references = 0;
    uint32_t dedicated = 0;
    uint32_t shares = 0;
    std::unique_ptr<ConsumedCapacity> consumed;
  };

  void Count(const api::AllocationResult& allocation, int sign);
  void Touch(Pool& pool, DeviceId device);
  static void CountCapacity(Device& device, const ConsumedCapacity& consumed, int sign);

  const bool consumable_capacity_;
  std::map<PoolKey, std::unique_ptr<Pool>> pools_;
  std::vector<Device> devices_;
  std::vector<DeviceId> free_;
  std::vector<uint64_t> node_versions_;
  uint64_t version_ = 0;
};

}  // namespace berth::dra
