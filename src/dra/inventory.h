// Inventory: everything that dynamic resource allocation knows about the cluster, shared by the profiles of a
// scheduler. Follows the stores of claims, slices, classes and taint rules change by change.
//
// Owned by the scheduling thread; other threads may only post results of binding cycles (ClaimTracker).
#pragma once

#include <memory>

#include "base/clock.h"
#include "dra/allocated_devices.h"
#include "dra/allocator.h"
#include "dra/claim_tracker.h"
#include "dra/class_names.h"
#include "dra/features.h"
#include "dra/offer_table.h"
#include "dra/pools.h"
#include "dra/selectors.h"

namespace berth::dra {

class Inventory {
 public:
  explicit Inventory(const Features& features)
      : features_(features),
        devices_(features.consumable_capacity),
        pools_(features_, devices_),
        claims_(devices_),
        selectors_(features.list_type_attributes),
        offers_(features_, selectors_) {}
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  // The object before and after the change; null if there was or is none.
  template <class T>
  using Ptr = std::shared_ptr<const T>;
  void Follow(const Ptr<api::ResourceClaim>& before, const Ptr<api::ResourceClaim>& after);
  void Follow(const Ptr<api::ResourceSlice>& before, const Ptr<api::ResourceSlice>& after);
  void Follow(const Ptr<api::DeviceClass>& before, const Ptr<api::DeviceClass>& after);
  void Follow(const Ptr<api::DeviceTaintRule>& before, const Ptr<api::DeviceTaintRule>& after);
  // Reads what the stores hold, and follows them from now on. The stores must not change after this is destroyed.
  template <class Objects>
  void FollowStores(Objects& objects) {
    const auto follow = [this](auto& store) {
      for (const auto& [key, object] : store) Follow({}, object);
      store.Observe([this](const auto& before, const auto& after) { Follow(before, after); });
    };
    follow(objects.device_classes);
    follow(objects.resource_slices);
    follow(objects.device_taint_rules);
    follow(objects.resource_claims);
  }
  void ForgetNode(const std::string& name) { pools_.ForgetNode(name); }

  const Features& features() const { return features_; }
  const AllocatedDevices& devices() const { return devices_; }
  PoolTable& pools() { return pools_; }
  const DeviceClasses& classes() const { return classes_; }
  // Increases with every change of a class.
  uint64_t classes_version() const { return classes_version_; }
  const ClassNames& class_names() const { return class_names_; }
  SelectorCache& selectors() { return selectors_; }
  // Includes everything that binding cycles have posted.
  ClaimTracker& claims() {
    if (!catches_up_between_inputs_) claims_.CatchUp();
    return claims_;
  }
  // For binding cycles on other threads: their results are applied between two inputs of the scheduler and not in the
  // middle of a cycle. The scheduler then calls posting().CatchUp() itself.
  void CatchUpBetweenInputs() { catches_up_between_inputs_ = true; }
  // For threads that only post.
  ClaimTracker& posting() { return claims_; }

  // Searches for devices for the claims on the node; `number` identifies the node. The search ends at the deadline by
  // `clock`, which may be null. Without `needs_results`, results may be missing.
  AllocationOutcome Allocate(const std::shared_ptr<const api::Node>& node, uint32_t number,
                             std::span<const api::ResourceClaim* const> claims, const base::Clock* clock,
                             base::Time deadline, bool needs_results = true);
  // Nodes that see pools and have equal keys give the same answer to the claims.
  AnswerKey AnswerKeyFor(const std::shared_ptr<const api::Node>& node, uint32_t number,
                         std::span<const api::ResourceClaim* const> claims);
  OfferTable& offers() { return offers_; }

 private:
  const Features features_;
  bool catches_up_between_inputs_ = false;
  AllocatedDevices devices_;
  PoolTable pools_;
  ClaimTracker claims_;
  DeviceClasses classes_;
  uint64_t classes_version_ = 0;
  ClassNames class_names_;
  SelectorCache selectors_;
  OfferTable offers_;
};

}  // namespace berth::dra
