// Allocate: devices for the claims of one pod on one node.
//
// A depth-first search that takes the first solution it finds: claims in order, their requests in order, the
// alternatives of a request in order, devices in the order of the node's pools. Within a request, positions only
// increase; each request starts again from the first device. This order is part of the contract: the result is not just
// as good as kube-scheduler's, it is the same devices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/resource_claim.h"
#include "base/clock.h"
#include "base/result.h"
#include "dra/allocated_devices.h"
#include "dra/features.h"
#include "dra/pools.h"
#include "dra/selectors.h"

namespace berth::dra {

// The maximum number of devices in a claim.
inline constexpr size_t kMaxResultsPerClaim = 32;

using DeviceClasses = std::map<std::string, std::shared_ptr<const api::DeviceClass>, std::less<>>;

class OfferTable;

struct AllocatorInputs {
  const Features& features;
  const AllocatedDevices& allocated;
  SelectorCache& selectors;
  const DeviceClasses& classes;
  const NodePools& seen;  // by the node
  const api::Node& node;
  std::span<const api::ResourceClaim* const> claims;
  // The search gives up at `deadline` by this clock; null: never.
  const base::Clock* clock = nullptr;
  base::Time deadline{};
  // Null: every device is examined.
  OfferTable* offers = nullptr;
  // False: the caller only asks whether there is an allocation; results may be missing.
  bool needs_results = true;
};

struct AllocationOutcome {
  enum class Kind {
    kAllocated,
    kNone,          // the node cannot satisfy the claims
    kInvalidPools,  // the same, and some of its pools cannot be used because they contradict themselves
    kTimedOut,
    kError,  // something is wrong with a claim, a class or a slice: `error` says what
  };
  Kind kind = Kind::kNone;
  std::string error;
  // One for each claim, in order. The share IDs of shared devices are set but empty: whoever keeps the allocation
  // generates them.
  std::vector<api::AllocationResult> results;
};

AllocationOutcome Allocate(const AllocatorInputs& inputs);

// Nodes with equal keys give the same answer to the claims: the same devices, or the same rejection.
using AnswerKey = std::vector<uint64_t>;
AnswerKey AnswerKeyOf(const AllocatorInputs& inputs);

// Whether the device's taints are all tolerated or have an effect that does not prevent allocation.
bool IsTolerated(const api::Device& device, std::span<const api::DeviceToleration> tolerations);

}  // namespace berth::dra
