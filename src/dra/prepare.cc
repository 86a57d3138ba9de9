// What the search checks and looks up before it tries devices.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dra/search.h"

namespace berth::dra {

void Search::ListPools() {
  if (!first_.empty()) return;
  first_.push_back(0);
  for (const PoolPtr& pool : *in_.seen.pools) {
    if (!pool->usable()) continue;
    pools_.push_back(pool.get());
    use_.push_back(&pool->UseOf(in_.allocated));
    first_.push_back(first_.back() + pool->devices.size());
  }
}

// Taking such an amount would make room for others, which no index foresees.
bool Search::AsksForNegativeAmounts() const {
  const auto is_negative = [](const std::optional<api::CapacityRequirements>& capacity) {
    return capacity &&
           std::ranges::any_of(capacity->requests, [](const auto& entry) { return entry.second.Sign() < 0; });
  };
  for (const api::ResourceClaim* claim : in_.claims) {
    for (const api::DeviceRequest& request : claim->spec.devices.requests) {
      if (request.exactly && is_negative(request.exactly->capacity)) return true;
      for (const api::DeviceSubRequest& alternative : request.first_available) {
        if (is_negative(alternative.capacity)) return true;
      }
    }
  }
  return false;
}

bool Search::Prepare() {
  offers_ = in_.offers && !AsksForNegativeAmounts() ? in_.offers : nullptr;
  claims_.reserve(in_.claims.size());
  for (const api::ResourceClaim* claim : in_.claims) {
    ClaimState& state = claims_.emplace_back();
    state.claim = claim;
    if (!PrepareClaim(state)) return false;
  }
  return true;
}

bool Search::PrepareClaim(ClaimState& claim) {
  const api::DeviceClaim& devices = claim.claim->spec.devices;
  const std::string who = api::KeyOf(claim.claim->metadata);
  const bool refuses_capacity = !in_.features.consumable_capacity && in_.features.binding_conditions;
  int64_t least = 0;
  claim.requests.resize(devices.requests.size());
  claim.chosen.resize(devices.requests.size());
  for (size_t i = 0; i < devices.requests.size(); ++i) {
    const api::DeviceRequest& asked = devices.requests[i];
    if (!in_.features.prioritized_list && !asked.first_available.empty()) {
      failure_ = fmt::format("claim {}, request {}: has subrequests, but the DRAPrioritizedList feature is disabled",
                             who, asked.name);
      return false;
    }
    if (refuses_capacity && asked.exactly && asked.exactly->capacity) {
      failure_ =
          fmt::format("claim {}, request {}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                      who, asked.name);
      return false;
    }
    std::vector<RequestState>& states = claim.requests[i];
    if (asked.first_available.empty()) {
      static const api::ExactDeviceRequest kNothing;
      states.resize(1);
      states[0].view = RequestView::Of(asked.name, asked.exactly ? *asked.exactly : kNothing);
    }
    for (const api::DeviceSubRequest& alternative : asked.first_available) {
      if (refuses_capacity && alternative.capacity) {
        failure_ = fmt::format(
            "claim {}, subrequest {}: has capacity requests, but the DRAConsumableCapacity feature is disabled", who,
            alternative.name);
        return false;
      }
      RequestState& state = states.emplace_back();
      state.view = RequestView::Of(alternative);
      state.parent = &asked.name;
    }
    int64_t fewest = std::numeric_limits<int64_t>::max();
    for (RequestState& state : states) {
      if (!PrepareRequest(claim, state)) return false;
      fewest = std::min(fewest, state.wanted);
    }
    least += fewest;
  }
  if (least > static_cast<int64_t>(kMaxResultsPerClaim)) {
    failure_ = fmt::format("claim {}: number of requested devices {} exceeds the claim limit of {}", who, least,
                           kMaxResultsPerClaim);
    return false;
  }
  return PrepareConstraints(claim);
}

bool Search::PrepareRequest(const ClaimState& claim, RequestState& request) {
  const RequestView& view = request.view;
  const auto fail = [&](std::string why) {
    failure_ = fmt::format("claim {}, request {}{}", api::KeyOf(claim.claim->metadata), *view.name, why);
    return false;
  };
  for (size_t i = 0; i < view.selectors->size(); ++i) {
    const std::optional<api::CELDeviceSelector>& cel = (*view.selectors)[i].cel;
    if (!cel) return fail(fmt::format(", selector #{}: CEL expression empty (unsupported selector type?)", i));
    request.selectors.push_back(in_.selectors.Compile(cel->expression));
  }
  if (!in_.features.admin_access && view.has_admin_access) {
    return fail(": admin access is requested, but the feature is disabled");
  }
  if (view.device_class_name->empty()) return fail(": missing device class name (unsupported request type?)");
  const auto found = in_.classes.find(*view.device_class_name);
  if (found == in_.classes.end()) {
    return fail(fmt::format(": could not retrieve device class {}: deviceclass.resource.k8s.io \"{}\" not found",
                            *view.device_class_name, *view.device_class_name));
  }
  request.device_class = found->second.get();
  for (const api::DeviceSelector& selector : request.device_class->spec.selectors) {
    request.class_selectors.push_back(in_.selectors.Compile(selector.cel ? selector.cel->expression : std::string()));
  }
  const bool counts = *view.allocation_mode == "ExactCount";
  if (counts) request.wanted = view.count;
  if (counts && offers_ && !view.admin_access) {
    request.index = offers_->IndexFor(request, in_.seen, in_.allocated);
    return true;
  }
  ListPools();
  request.matches.assign(first_.back(), RequestState::kUnknown);
  for (size_t i = 0; i < pools_.size(); ++i) {
    request.unknown += view.admin_access ? pools_[i]->devices.size() : use_[i]->free_count;
  }
  if (counts) return true;
  if (view.wants_all()) return ListAll(claim, request);
  return fail(fmt::format(": unsupported count mode {}", *view.allocation_mode));
}

bool Search::ListAll(const ClaimState& claim, RequestState& request) {
  uint32_t usable = 0;
  for (const PoolPtr& pool : *in_.seen.pools) {
    if (!pool->usable()) {
      failure_ = fmt::format("claim {}, request {}: asks for all devices, but resource pool {}/{} is currently {}",
                             api::KeyOf(claim.claim->metadata), *request.view.name, pool->key.first, pool->key.second,
                             pool->incomplete ? "being updated" : "invalid");
      return false;
    }
    for (uint32_t d = 0; d < pool->devices.size(); ++d) {
      const RequestState::Match match = IsSelectable(claim, request, pool->devices[d], first_[usable] + d);
      if (match == RequestState::kUnknown) return false;
      if (match == RequestState::kYes && HasCapacity(request, pool->devices[d])) request.all.push_back({usable, d});
    }
    ++usable;
  }
  request.wanted = static_cast<int64_t>(request.all.size());
  return true;
}

bool Search::PrepareConstraints(ClaimState& claim) {
  const std::vector<api::DeviceConstraint>& constraints = claim.claim->spec.devices.constraints;
  // Only the allocator for consumable capacity or binding conditions knows this kind.
  const bool knows_distinct = in_.features.consumable_capacity || in_.features.binding_conditions;
  claim.constraints.reserve(constraints.size());
  for (size_t i = 0; i < constraints.size(); ++i) {
    const api::DeviceConstraint& constraint = constraints[i];
    if (constraint.match_attribute) {
      claim.constraints.emplace_back(Constraint::Kind::kMatch, *constraint.match_attribute, constraint.requests);
    } else if (constraint.distinct_attribute && knows_distinct) {
      claim.constraints.emplace_back(Constraint::Kind::kDistinct, *constraint.distinct_attribute, constraint.requests);
      claim.has_distinct = true;
    } else {
      failure_ = fmt::format("claim {}, constraint #{}: empty constraint (unsupported constraint type?)",
                             api::KeyOf(claim.claim->metadata), i);
      return false;
    }
  }
  return true;
}

}  // namespace berth::dra
