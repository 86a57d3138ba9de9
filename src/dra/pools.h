// PoolTable: resource slices, grouped into the pools that each node sees.
//
// What a node sees of a pool is shared between nodes that see the same slices, and kept until one of the pool's slices
// or the node changes. Not thread-safe: owned by the scheduling thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/node.h"
#include "api/node_selector.h"
#include "api/resource_claim.h"
#include "base/result.h"
#include "dra/allocated_devices.h"
#include "dra/features.h"
#include "dra/selectors.h"
#include "dra/versioned_changes.h"

namespace berth::dra {

// A node selector, compiled once. Null: there is none.
using SelectorPtr = std::shared_ptr<const Result<api::CompiledNodeSelector>>;

// A slice with the taints that rules add to its devices.
struct Slice {
  std::shared_ptr<const api::ResourceSlice> object;
  SelectorPtr node_selector;
  std::vector<SelectorPtr> device_node_selectors;  // if nodes are selected by device
  std::vector<DeviceId> ids;                       // of its devices
  mutable std::vector<SelectorAnswers> answers;    // about its devices

  const api::ResourceSliceSpec& spec() const { return object->spec; }
};
using SlicePtr = std::shared_ptr<const Slice>;

// The part of a pool that a node may use.
struct Pool {
  using Amount = api::Quantity::Nanos;

  // One counter that a device consumes.
  struct Consumption {
    uint32_t counter;
    Amount amount;
  };
  struct Device {
    const Slice* slice;
    uint32_t index;  // in the slice
    DeviceId id;
    std::vector<Consumption> consumes;
    const Pool* pool = nullptr;

    const api::Device& object() const { return slice->spec().devices[index]; }
    SelectorAnswers& answers() const { return slice->answers[index]; }
  };

  PoolKey key;
  bool incomplete = false;     // some slices are missing: nothing may be allocated from it
  std::string invalid_reason;  // not empty: nothing may be allocated from it
  bool has_binding_conditions = false;
  bool selects_nodes_by_device = false;  // what it offers depends on the node, slice by slice
  // Amounts below zero: taking one device could make room for another.
  bool has_negative_amounts = false;
  std::vector<Device> devices;  // in the order in which they are tried
  std::vector<Amount> counters;
  // Devices of slices that other nodes use, if they consume counters.
  std::vector<Device> devices_elsewhere;

  bool usable() const { return !incomplete && invalid_reason.empty(); }
  // Whether the pool matters to a node that sees it: it has devices, or an error to report.
  bool matters() const { return !usable() || !devices.empty(); }
  // Unique among all pools that were ever built.
  uint64_t serial() const { return serial_; }
  // Only for a pool with devices.
  const AllocatedDevices::PoolState& state() const { return *state_; }
  // What allocated devices leave of each counter; negative if they consume more than there is.
  const std::vector<Amount>& AvailableCounters(const AllocatedDevices& allocated) const {
    return UseOf(allocated).available;
  }

  // What allocations leave of the pool; updated incrementally.
  struct Use {
    std::vector<uint64_t> free;  // by position in `devices`, 64 in a word: not taken as a whole
    size_t free_count = 0;
    std::vector<Amount> available;  // of counters
    // The first free position at or after `begin`; beyond all devices if there is none.
    size_t NextFree(size_t begin) const;

   private:
    friend struct Pool;
    std::vector<bool>
        counted;  // by position in `devices`, then in `devices_elsewhere`: its consumption is in `available`
    uint64_t version = 0;
  };
  const Use& UseOf(const AllocatedDevices& allocated) const;
  // visit(position in `devices`) for every device with this number; after UseOf.
  template <class Visit>
  void VisitPositions(DeviceId id, const Visit& visit) const {
    auto place = std::lower_bound(positions_.begin(), positions_.end(), std::pair(id, uint32_t{0}));
    for (; place != positions_.end() && place->first == id; ++place) {
      if (place->second < devices.size()) visit(place->second);
    }
  }

 private:
  friend class PoolTable;
  // Updates what is known about the device at this position; those of `devices_elsewhere` come last.
  void Note(size_t position, const AllocatedDevices& allocated) const;

  uint64_t serial_ = 0;
  AllocatedDevices::PoolStatePtr state_;  // null: it has no devices
  std::vector<SlicePtr> seen_;            // what it was built from; the slices that are for the node come first
  size_t relevant_ = 0;
  mutable Use use_;
  mutable std::vector<std::pair<DeviceId, uint32_t>> positions_;  // in order
};
using PoolPtr = std::shared_ptr<const Pool>;

// Whether the slice, or its device of that index, is for the node. An error if the selector is invalid.
Result<bool> NodeMatches(const api::Node& node, const Slice& slice);
Result<bool> NodeMatches(const api::Node& node, const Slice& slice, size_t device);

// What one node sees.
struct NodePools {
  // In the order in which they are tried. The error says what is invalid.
  Result<std::vector<PoolPtr>> pools = std::vector<PoolPtr>();
  // Nodes that see exactly the same pools have the same number here; numbers are not reused.
  uint64_t set = 0;
  // Whether nodes with the same number can use the same devices.
  bool is_shareable = false;
  size_t devices = 0;  // of the usable ones
  bool has_unusable = false;
  bool has_negative_amounts = false;
};

class PoolTable {
 public:
  PoolTable(const Features& features, AllocatedDevices& devices) : features_(features), devices_(devices) {}

  void PutSlice(std::shared_ptr<const api::ResourceSlice> slice);
  void RemoveSlice(const std::string& name);
  // Taints on devices, in addition to those that their drivers set. No effect unless the gate is on.
  void PutRule(std::shared_ptr<const api::DeviceTaintRule> rule);
  void RemoveRule(const std::string& name);
  // Drops what was kept for the node.
  void ForgetNode(const std::string& name);

  // `number` identifies the node: it is small, and the node keeps it as long as it exists.
  const NodePools& PoolsOf(const std::shared_ptr<const api::Node>& node, uint32_t number);

  // The slices, by name.
  const std::map<std::string, SlicePtr>& slices() const { return slices_; }
  // Those that may be for the node: visit(const Slice&) until it returns false.
  template <class Visit>
  void VisitSlicesFor(const std::string& node, const Visit& visit) const {
    if (const auto local = local_.find(node); local != local_.end()) {
      for (const auto& [name, slice] : local->second.slices) {
        if (!visit(*slice)) return;
      }
    }
    for (const auto& [name, slice] : shared_slices_) {
      if (!visit(*slice)) return;
    }
  }
  bool empty() const { return slices_.empty(); }
  // The device whose definition says what it consumes of a node's allocatable resources: the first of that name, slices
  // by name, in any pool of that name, whatever its driver and generation (as in upstream). Null if there is none, or
  // without the gate DRANodeAllocatableResources.
  const api::Device* FindDevice(const std::string& pool, const std::string& device) const;
  // Increases with every change.
  uint64_t version() const { return version_; }

 private:
  struct Group {
    std::map<std::string, SlicePtr> slices;  // by name
    size_t shared = 0;                       // how many are not for a single node
    std::vector<PoolPtr> built;
  };
  struct Seen {
    std::shared_ptr<const api::Node> node;
    uint64_t version = 0;  // of all slices, when it was last found to be current
    uint64_t local_version = 0;
    uint64_t shared_version = 0;
    NodePools pools;
  };
  struct Local {
    std::map<PoolKey, size_t> pools;         // how many slices of each are for this node only
    std::map<std::string, SlicePtr> slices;  // these, by name
    uint64_t version = 0;
  };

  static bool IsShared(const api::ResourceSliceSpec& spec);
  SelectorPtr Compile(const std::optional<api::NodeSelector>& selector);
  std::shared_ptr<const api::ResourceSlice> WithRules(const std::shared_ptr<const api::ResourceSlice>& slice) const;
  void SyncRules();
  void Insert(std::shared_ptr<const api::ResourceSlice> slice);
  void Erase(const std::string& name);
  void Touch(const PoolKey& key, Group& group);
  static Result<bool> IsRelevant(const Slice& slice, const api::Node& node);
  Result<PoolPtr> PoolFor(const PoolKey& key, Group& group, const api::Node& node);
  PoolPtr Build(const PoolKey& key, std::vector<SlicePtr> relevant, const std::vector<SlicePtr>* all);
  bool IsSeenByAll(const PoolKey& key);
  const std::set<PoolKey>& SeenByAll();
  Result<std::vector<PoolPtr>> Gather(const api::Node& node);
  // Computes what Gather would return for the node, if only this pool has changed. False: Gather must be called.
  bool Regather(std::vector<PoolPtr>& pools, const api::Node& node, const PoolKey& key, bool& changed);
  bool Update(Seen& seen, uint64_t since, bool& changed);
  // Called after what the node sees has changed.
  void Note(NodePools& seen, uint32_t number);
  uint64_t SetOf(const std::vector<PoolPtr>& pools);

  const Features& features_;
  AllocatedDevices& devices_;
  std::map<std::string, std::shared_ptr<const api::ResourceSlice>> plain_;  // as the API has them
  std::map<std::string, std::shared_ptr<const api::DeviceTaintRule>> rules_;
  std::map<std::string, SlicePtr> slices_;
  std::map<std::string, std::map<std::string, SlicePtr>> by_pool_name_;  // for FindDevice only
  std::map<PoolKey, Group> groups_;
  std::map<PoolKey, size_t> shared_;               // pools that have slices which are not for a single node
  std::map<std::string, SlicePtr> shared_slices_;  // these, by name
  std::unordered_map<std::string, Local> local_;
  std::vector<Seen> seen_;  // by the node's number
  std::unordered_map<std::string, uint32_t> numbers_;
  std::map<std::vector<uint64_t>, uint64_t> sets_;  // by the pools' serial numbers
  uint64_t last_set_ = 0;
  uint64_t last_serial_ = 0;
  uint64_t shared_version_ = 0;
  std::set<PoolKey> seen_by_all_;  // at seen_by_all_version_
  uint64_t seen_by_all_version_ = 0;
  VersionedChanges<PoolKey, 1024> changes_;  // pools whose slices changed
  // Compiled selectors, by content.
  std::unordered_map<std::string, std::weak_ptr<const Result<api::CompiledNodeSelector>>> selectors_;
  uint64_t version_ = 0;
};

}  // namespace berth::dra
