// What DynamicResources works out about one pod in one cycle.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/node_selector.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "dra/claim_tracker.h"
#include "framework/cycle_state.h"
#include "framework/resource.h"
#include "plugins/dynamic_resources/kept_answers.h"

namespace berth::plugins {

inline constexpr char kCannotAllocateReason[] = "cannot allocate all claims";

// What a node would give the pod's claims that have no devices yet.
struct NodeAllocation {
  std::vector<api::AllocationResult> results;  // in the order of those claims
  // The claim for extended resources as this node would have it; null when device plugins serve them here.
  dra::ClaimPtr extended_claim;
  std::vector<api::ContainerExtendedResourceRequest> mappings;
  std::vector<api::NodeAllocatableResourceClaimStatus> node_allocatable;
};

struct CycleClaims {
  // The pod's claims in its order, then the one for extended resources if it has one. Replaced as writes change them.
  std::vector<dra::ClaimPtr> claims;
  std::vector<std::string> names;  // of the user's claims, in the pod's spec
  size_t user_claims = 0;
  std::string extended_uid;  // of the claim for extended resources before it was created

  // By claim: where its allocation is usable; absent when everywhere, or when it has none.
  std::vector<std::optional<api::CompiledNodeSelector>> available_on;
  // By claim: what Reserve put aside for it, for PreBind to write.
  std::vector<std::optional<api::AllocationResult>> reserved;
  // Claims that are reserved for the pod, unless the end of an earlier reservation, which is on its way, comes first.
  std::set<size_t> unsure;
  bool allocates = false;                          // some claim has no devices yet
  base::FlatMap<Symbol, int64_t> scalar_requests;  // of pods with a claim for extended resources

  // The claim for extended resources as the last node needed it, for the next one where the same devices serve them.
  struct MadeClaim {
    std::vector<Symbol> from_devices;
    dra::ClaimPtr claim;
    std::vector<api::ContainerExtendedResourceRequest> mappings;
  };
  mutable MadeClaim made;

  // Filled by Filter.
  std::map<std::string, NodeAllocation, std::less<>> nodes;
  std::set<size_t> unavailable;  // claims whose allocation does not suit some node

  bool empty() const { return claims.empty(); }
  const dra::ClaimPtr* extended() const { return user_claims < claims.size() ? &claims[user_claims] : nullptr; }
};

// Clones share one CycleClaims: nothing that preemption tries changes it.
struct ClaimState : framework::CopyableState<ClaimState> {
  std::shared_ptr<CycleClaims> cycle;  // null when the pod has no claims
  std::shared_ptr<KeptAnswers> kept;   // between cycles of pods with one signature; null in a cycle by itself
};

}  // namespace berth::plugins
