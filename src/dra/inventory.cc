#include "dra/inventory.h"

namespace berth::dra {

void Inventory::Follow(const Ptr<api::ResourceClaim>& before, const Ptr<api::ResourceClaim>& after) {
  if (after) {
    claims().Put(after);
  } else if (before) {
    claims().Remove(*before);
  }
}

void Inventory::Follow(const Ptr<api::ResourceSlice>& before, const Ptr<api::ResourceSlice>& after) {
  if (after) {
    pools_.PutSlice(after);
  } else if (before) {
    pools_.RemoveSlice(before->metadata.name);
  }
}

void Inventory::Follow(const Ptr<api::DeviceClass>& before, const Ptr<api::DeviceClass>& after) {
  if (after) {
    ++classes_version_;
    classes_.insert_or_assign(after->metadata.name, after);
    if (features_.extended_resource) class_names_.Put(before.get(), after);
  } else if (before) {
    ++classes_version_;
    classes_.erase(before->metadata.name);
    if (features_.extended_resource) class_names_.Remove(*before);
  }
}

void Inventory::Follow(const Ptr<api::DeviceTaintRule>& before, const Ptr<api::DeviceTaintRule>& after) {
  if (after) {
    pools_.PutRule(after);
  } else if (before) {
    pools_.RemoveRule(before->metadata.name);
  }
}

AllocationOutcome Inventory::Allocate(const std::shared_ptr<const api::Node>& node, uint32_t number,
                                      std::span<const api::ResourceClaim* const> claims, const base::Clock* clock,
                                      base::Time deadline, bool needs_results) {
  const NodePools& seen = pools_.PoolsOf(node, number);
  return dra::Allocate({features_, devices_, selectors_, classes_, seen, *node, claims, clock, deadline,
                        offers_.Covers(seen) ? &offers_ : nullptr, needs_results});
}

AnswerKey Inventory::AnswerKeyFor(const std::shared_ptr<const api::Node>& node, uint32_t number,
                                  std::span<const api::ResourceClaim* const> claims) {
  const NodePools& seen = pools_.PoolsOf(node, number);
  if (!offers_.Covers(seen)) return {0, seen.set};
  return AnswerKeyOf({features_, devices_, selectors_, classes_, seen, *node, claims, nullptr, {}, &offers_});
}

}  // namespace berth::dra
