// OfferIndex: finds the devices that a request may get, among many.
//
// Most reasons to reject a device do not depend on what else the search takes: that it is allocated, its selectors, its
// taints, what other allocations leave of its counters and capacity. These are evaluated once, for all requests with
// the same requirements and all nodes that see the same pools, and again only for devices that may be affected by a
// device that was allocated or released; a search then examines only the remaining devices. An index may list too many
// devices, never too few.
//
// A selector that fails is an error only if the search gets to the device: such a device stays listed, as unknown.
// Scheduling thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dra/allocated_devices.h"
#include "dra/features.h"
#include "dra/pools.h"
#include "dra/selectors.h"

namespace berth::dra {

// A device by its position in a list of pools.
struct Location {
  uint32_t pool = 0;
  uint32_t device = 0;
};

// The requirements of a request that concern each device alone. Requests with the same shape share indexes.
struct RequestShape {
  std::vector<std::shared_ptr<const CompiledSelector>> class_selectors;
  std::vector<std::shared_ptr<const CompiledSelector>> selectors;
  std::vector<api::DeviceToleration> tolerations;
  std::optional<api::CapacityRequirements> capacity;
};

class OfferIndex {
 public:
  // The pools are those with devices that may serve the request, in the order in which they are tried; `id` is the
  // index's own, and `budget` is what evaluating selectors may still cost.
  OfferIndex(const Features& features, const cel::DeviceFeatures& cel, std::shared_ptr<const RequestShape> shape,
             std::vector<PoolPtr> pools, uint64_t id, uint64_t& budget);

  // Applies what was allocated or released since the last call.
  void CatchUp(const AllocatedDevices& allocated);

  // The pools to which a search can be limited, by position and in order; null: all.
  struct Range {
    const std::vector<uint32_t>* same = nullptr;
    const std::vector<uint32_t>* mixed = nullptr;
  };
  // The pools in which the attribute of some device may have this value.
  Range PoolsWith(const std::string& attribute, const api::DeviceAttribute& value);

  // Moves to the first listed device at or after `at`. False if there is none.
  bool Next(const Range& range, Location& at) const;
  // How many devices are listed at or after `at`; may be too high, never too low.
  size_t CountFrom(const Range& range, const Location& at);

  const Pool::Device& device(const Location& at) const { return pools_[at.pool]->devices[at.device]; }
  bool IsUnknown(const Location& at) const { return Bit(unknown_, at); }
  bool has_unknown() const { return unknown_count_ > 0; }
  // Records the verdict of the selectors on an unknown device.
  void Learn(const Location& at, bool matches, const AllocatedDevices& allocated);

  uint64_t id() const { return id_; }

 private:
  // Pools by the value that an attribute has on all of their devices.
  struct Column {
    std::unordered_map<std::string, std::vector<uint32_t>> by_value;
    std::vector<uint32_t> mixed;  // several values, or none that can be compared, or unknown devices
  };
  using Words = std::vector<uint64_t>;

  size_t WordOf(const Location& at) const { return first_word_[at.pool] + at.device / 64; }
  bool Bit(const Words& words, const Location& at) const { return (words[WordOf(at)] >> (at.device % 64) & 1) != 0; }
  void CatchUpPool(uint32_t pool, const AllocatedDevices& allocated);
  // Updates whether the device is listed.
  void Look(const Location& at, const Pool::Use& use, bool overdrawn, const AllocatedDevices& allocated);
  bool CanBeHad(const Pool::Device& device, const Pool::Use& use, bool overdrawn,
                const AllocatedDevices& allocated) const;
  // The first listed device of the pool at or after this one; unset if there is none.
  std::optional<uint32_t> NextIn(const Location& from) const;
  size_t CountIn(const Location& from) const;
  Column MakeColumn(const std::string& attribute) const;

  const Features& features_;
  const std::shared_ptr<const RequestShape> shape_;
  const std::vector<PoolPtr> pools_;
  const uint64_t id_;
  std::vector<uint32_t> first_word_;  // by pool: where its devices begin in the Words below; at the end, where they end
  Words candidates_;                  // devices that the request may get, allocated or not
  Words unknown_;                     // those of them whose selectors fail, or have not been evaluated
  Words listed_;                      // those of them that are available
  size_t unknown_count_ = 0;
  std::vector<uint32_t> counts_;  // by pool: how many are listed
  Words open_;                    // by pool: whether any device is listed
  std::vector<uint32_t> after_;   // by pool: how many are listed in later pools; empty: not computed
  std::map<std::string, Column> columns_;

  uint64_t version_ = 0;                 // of all devices at the last CatchUp
  std::vector<uint64_t> pool_versions_;  // of each pool, likewise
  std::unordered_map<const AllocatedDevices::PoolState*, uint32_t> places_;
  std::vector<const AllocatedDevices::PoolState*> changed_pools_;  // scratch
};

// The verdict of the shape's selectors on the device. Unset if one of them fails, or would have to be evaluated when
// `budget` is used up. The cost of evaluations is subtracted from `budget`.
std::optional<bool> JudgeSelectors(const RequestShape& shape, const Features& features, const cel::DeviceFeatures& cel,
                                   const Pool::Device& device, uint64_t& budget);

}  // namespace berth::dra
