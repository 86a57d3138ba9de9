#include "dra/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace berth::dra {
namespace {

bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

}  // namespace

bool IsTolerated(const api::Device& device, std::span<const api::DeviceToleration> tolerations) {
  return std::all_of(device.taints.begin(), device.taints.end(), [&](const api::DeviceTaint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return true;
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const api::DeviceToleration& toleration) { return Tolerates(toleration, taint); });
  });
}

AllocationOutcome Allocate(const AllocatorInputs& inputs) { return Search(inputs).Run(); }

AnswerKey AnswerKeyOf(const AllocatorInputs& inputs) { return Search(inputs).KeyOfAnswer(); }

AllocationOutcome Search::Run() {
  using Kind = AllocationOutcome::Kind;
  if (!in_.seen.pools) {
    return {Kind::kError, "gather pool information: " + in_.seen.pools.error().message, {}};
  }
  if (!Prepare()) return {Kind::kError, failure_, {}};
  switch (AllocateOne({}, false, {})) {
    case Step::kDone:
      break;
    case Step::kFailed:
      return {timed_out_ ? Kind::kTimedOut : Kind::kError, failure_, {}};
    case Step::kTooMany:
      // Nothing encloses the first claim, so upstream hands its internal mark out as an error.
      return {Kind::kError, "allocation max size exceeded", {}};
    case Step::kNo: {
      const bool invalid =
          in_.seen.has_unusable && std::any_of(in_.seen.pools->begin(), in_.seen.pools->end(),
                                               [](const PoolPtr& pool) { return !pool->invalid_reason.empty(); });
      return {invalid ? Kind::kInvalidPools : Kind::kNone, {}, {}};
    }
  }
  AllocationOutcome outcome{Kind::kAllocated, {}, {}};
  if (!in_.needs_results && IsSureToBuild()) return outcome;
  for (const ClaimState& claim : claims_) {
    ClaimResult result{in_.features, in_.node, *claim.claim, {}, claim.taken};
    for (size_t i = 0; i < claim.requests.size(); ++i) result.chosen.push_back(&claim.requests[i][claim.chosen[i]]);
    Result<api::AllocationResult> allocation = BuildAllocation(result);
    if (!allocation) return {Kind::kError, allocation.error().message, {}};
    outcome.results.push_back(std::move(*allocation));
  }
  return outcome;
}

bool Search::IsSureToBuild() const {
  return std::ranges::all_of(claims_, [](const ClaimState& claim) {
    return std::ranges::all_of(claim.taken, [](const Taken& taken) { return HasOneSelectorTerm(*taken.device); });
  });
}

bool Search::IsTooLate() {
  // Reading the clock costs more than a step.
  constexpr uint64_t kStepsPerLook = 1024;
  if (!in_.clock || ++steps_ % kStepsPerLook != 0 || in_.clock->Now() < in_.deadline) return false;
  timed_out_ = true;
  return true;
}

Search::Step Search::AllocateOne(const Cursor& at, bool inside_alternative, Location start) {
  if (at.claim >= claims_.size()) return Step::kDone;
  if (IsTooLate()) return Fail("timed out");
  if (at.request >= claim(at).requests.size()) {
    const Step step = AllocateOne({.claim = at.claim + 1}, false, {});
    // Another choice for this claim may leave a shorter alternative for the next: a plain no.
    return step == Step::kTooMany ? Step::kNo : step;
  }
  if (!inside_alternative && request(at).parent) return TryAlternatives(at);
  const RequestState& current = request(at);
  if (current.view.wants_all() && current.all.empty()) return Step::kNo;
  if (at.device >= current.wanted) return AllocateOne({.claim = at.claim, .request = at.request + 1}, false, {});
  const int64_t after = static_cast<int64_t>(claim(at).taken.size()) + current.wanted - at.device;
  if (after > static_cast<int64_t>(kMaxResultsPerClaim)) return Step::kTooMany;
  if (current.view.wants_all()) return TakeNextOfAll(at, inside_alternative);
  return current.index ? TakeNextListed(at, inside_alternative, start) : TakeNext(at, inside_alternative, start);
}

Search::Step Search::TryAlternatives(Cursor at) {
  bool all_too_many = true;
  const size_t count = claim(at).requests[at.request].size();
  for (at.alternative = 0; at.alternative < count; ++at.alternative) {
    const Step step = AllocateOne(at, true, {});
    if (step == Step::kTooMany) continue;
    all_too_many = false;
    if (step == Step::kDone) claim(at).chosen[at.request] = at.alternative;
    if (step != Step::kNo) return step;
  }
  return all_too_many ? Step::kTooMany : Step::kNo;
}

Search::Step Search::TakeNextOfAll(const Cursor& at, bool inside_alternative) {
  const Location where = request(at).all[static_cast<size_t>(at.device)];
  const Pool::Device& device = pools_[where.pool]->devices[where.device];
  if (!Take(at, device, /*must=*/true)) return failure_.empty() ? Step::kNo : Step::kFailed;
  const Undo undo = undo_.back();
  Cursor next = at;
  ++next.device;
  const Step step = AllocateOne(next, inside_alternative, {});
  if (step != Step::kDone) GiveBack(at, device, undo);
  return step;
}

Search::Step Search::TakeNext(const Cursor& at, bool inside_alternative, Location start) {
  RequestState& current = request(at);
  const size_t missing = static_cast<size_t>(current.wanted - at.device);
  for (uint32_t p = start.pool; p < pools_.size(); ++p) {
    const Pool& pool = *pools_[p];
    for (uint32_t d = p == start.pool ? start.device : 0; d < pool.devices.size(); ++d) {
      // Devices that are taken as a whole are passed over by the word.
      if (!current.view.admin_access) d = static_cast<uint32_t>(use_[p]->NextFree(d));
      if (d >= pool.devices.size()) break;
      const Pool::Device& device = pool.devices[d];
      if (current.view.admin_access ? IsTakenBy(device, at.claim) : IsMarked(device)) continue;
      const size_t position = first_[p] + d;
      if (current.unknown == 0 && AtBest(current, position) < missing) return Step::kNo;
      const RequestState::Match match = IsSelectable(claim(at), current, device, position);
      if (match == RequestState::kUnknown) return Step::kFailed;
      if (match == RequestState::kNo || !HasCapacity(current, device)) continue;
      const Step step = TryDevice(at, inside_alternative, device, {p, d + 1});
      if (step != Step::kNo) return step;
    }
  }
  return Step::kNo;
}

Search::Step Search::TryDevice(const Cursor& at, bool inside_alternative, const Pool::Device& device,
                               Location next_start) {
  if (!Take(at, device, /*must=*/false)) return Step::kNo;
  const Undo undo = undo_.back();
  Cursor next = at;
  ++next.device;
  const Step step = AllocateOne(next, inside_alternative, next_start);
  if (step != Step::kDone) GiveBack(at, device, undo);
  return step;
}

size_t Search::AtBest(RequestState& request, size_t position) {
  if (request.unknown > 0) return std::numeric_limits<size_t>::max();
  if (request.at_best.empty()) {
    request.at_best.resize(first_.back() + 1);
    size_t place = first_.back();
    uint32_t count = 0;
    for (size_t p = pools_.size(); p-- > 0;) {
      for (size_t d = pools_[p]->devices.size(); d-- > 0;) {
        --place;
        const bool free = request.view.admin_access || !in_.allocated.IsDedicated(pools_[p]->devices[d].id);
        if (free && request.matches[place] == RequestState::kYes) ++count;
        request.at_best[place] = count;
      }
    }
  }
  return request.at_best[position];
}

RequestState::Match Search::IsSelectable(const ClaimState& claim, RequestState& request, const Pool::Device& device,
                                         size_t position) {
  if (request.matches[position] != RequestState::kUnknown) {
    return static_cast<RequestState::Match>(request.matches[position]);
  }
  bool failed = false;
  bool matches = MatchesRequest(claim, request, device, failed);
  if (failed) return RequestState::kUnknown;
  if (matches && device.slice->spec().per_device_node_selection.value_or(false)) {
    const Result<bool> here = NodeMatches(in_.node, *device.slice, device.index);
    if (!here) {
      failure_ = here.error().message;
      return RequestState::kUnknown;
    }
    matches = *here;
  }
  request.matches[position] = matches ? RequestState::kYes : RequestState::kNo;
  if (request.view.admin_access || !in_.allocated.IsDedicated(device.id)) --request.unknown;
  return matches ? RequestState::kYes : RequestState::kNo;
}

bool Search::MatchesRequest(const ClaimState& claim, const RequestState& request, const Pool::Device& device,
                            bool& failed) {
  // A device that has to be prepared is nothing for a cluster that does not wait for it.
  return (in_.features.binding_conditions || device.object().binding_conditions.empty()) &&
         MatchesSelectors(claim, request.device_class, request.class_selectors, device, failed) &&
         MatchesSelectors(claim, nullptr, request.selectors, device, failed);
}

bool Search::MatchesSelectors(const ClaimState& claim, const api::DeviceClass* device_class,
                              const std::vector<std::shared_ptr<const CompiledSelector>>& selectors,
                              const Pool::Device& device, bool& failed) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const auto fail = [&](std::string_view phase, const std::string& why) {
      failed = true;
      const std::string who =
          device_class ? "class " + device_class->metadata.name : "claim " + api::KeyOf(claim.claim->metadata);
      failure_ = fmt::format("{}: selector #{}: CEL {} error: {}", who, i, phase, why);
      return false;
    };
    if (!selectors[i]->program) return fail("compile", selectors[i]->error);
    const SelectorAnswers::Answer& answer =
        device.answers().Ask(selectors[i], in_.selectors.features(), device.slice->spec().driver, device.object());
    if (!answer.error.empty()) return fail("runtime", answer.error);
    if (!answer.matches) return false;
  }
  return true;
}

}  // namespace berth::dra
