// Whether a new volume for a claim could be provisioned where a node can use it: the class allows the node's topology,
// and, for drivers that publish it, there is capacity for a volume of that size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/selector.h"
#include "api/storage.h"
#include "framework/objects.h"
#include "plugins/volume_binding/pin_index.h"

namespace berth::plugins {

class Provisioning {
 public:
  enum class Verdict {
    kPossible,
    kNoProvisioner,  // the class provisions nothing, or not for this node
    kNoSpace,
  };
  struct Answer {
    Verdict verdict = Verdict::kPossible;
    // Free space where the volume would go; unset when the driver does not publish any.
    std::optional<int64_t> capacity;
  };

  Provisioning(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class,
               const framework::Objects& objects);

  Answer On(const api::Labels& node_labels) const;

 private:
  struct Pool {
    api::Selector nodes;
    int64_t capacity = 0;
  };
  void FindPools(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class,
                 const framework::Objects& objects);

  bool can_provision_ = false;
  bool any_topology_ = true;
  std::vector<api::Selector> topologies_;  // one of them must match
  bool checks_capacity_ = false;
  std::vector<Pool> pools_;  // large enough for the claim
  PinIndex pool_index_;      // by position in pools_
};

// Whether a volume of this class and size can be provisioned from the capacity, for the nodes of its topology.
bool CanServe(const api::CSIStorageCapacity& capacity, std::string_view storage_class, int64_t size);

// The largest volume that can be provisioned from this capacity; null when it does not say.
const api::Quantity* VolumeLimit(const api::CSIStorageCapacity& capacity);

}  // namespace berth::plugins
