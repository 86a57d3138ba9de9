// What taking a device needs and changes, and how it is undone.
#include <fmt/format.h>

#include <algorithm>

#include "dra/capacity.h"
#include "dra/search.h"

namespace berth::dra {
namespace {

bool AllowsSharing(const Features& features, const api::Device& device) {
  return features.consumable_capacity && device.allow_multiple_allocations.value_or(false);
}

}  // namespace

bool Search::Take(const Cursor& at, const Pool::Device& device, bool must) {
  ClaimState& claim = this->claim(at);
  const RequestState& current = request(at);
  const api::Device& object = device.object();
  const bool shared = AllowsSharing(in_.features, object);
  if (current.view.admin_access ? !shared && IsTakenBy(device, at.claim) : IsInUse(device)) return false;
  if (!in_.features.partitionable_devices && !object.consumes_counters.empty()) return false;
  Undo undo;
  // Of a device that is shared already the counters are paid for.
  const bool paid = shared && (in_.allocated.Consumed(device.id) != nullptr || sharing_.contains(&device));
  if (!paid && !object.consumes_counters.empty()) {
    if (!ReserveCounters(device)) return false;
    undo.counters = true;
  }
  if (in_.features.device_taints && !IsTolerated(object, *current.view.tolerations)) {
    GiveBack(at, device, undo);
    return false;
  }
  const std::string& base = current.parent ? *current.parent : *current.view.name;
  const std::string& sub = current.parent ? *current.view.name : std::string();
  for (Constraint& constraint : claim.constraints) {
    if (!constraint.Add(base, sub, object, device.slice->spec().driver)) {
      GiveBack(at, device, undo);
      if (must) {
        failure_ = fmt::format(
            "claim {}, request {}: cannot add device {}/{}/{} because a claim constraint would not be satisfied",
            api::KeyOf(claim.claim->metadata), *current.view.name, device.slice->spec().driver,
            device.slice->spec().pool.name, object.name);
      }
      return false;
    }
    ++undo.constraints;
  }
  if (!HasCapacity(current, device)) {
    GiveBack(at, device, undo);
    return false;
  }
  Taken taken{&current, &device, shared, {}};
  if (shared) {
    taken.consumed = ConsumptionOf(current.view.capacity, object);
    undo.had_capacity = sharing_.contains(&device);
    ConsumedCapacity& sum = sharing_[&device];
    for (const auto& [name, amount] : taken.consumed) sum[name].Add(amount);
    undo.capacity = true;
  } else {
    marked_.emplace_back(&device, at.claim);
    undo.marked = true;
  }
  claim.taken.push_back(std::move(taken));
  undo_.push_back(undo);
  return true;
}

void Search::GiveBack(const Cursor& at, const Pool::Device& device, const Undo& undo) {
  ClaimState& claim = this->claim(at);
  const RequestState& current = request(at);
  if (undo.capacity) {
    const ConsumedCapacity consumed = claim.taken.back().consumed;
    ConsumedCapacity& sum = sharing_[&device];
    for (const auto& [name, amount] : consumed) sum.Find(name)->Sub(amount);
    const bool nothing = std::all_of(sum.begin(), sum.end(), [](const auto& entry) { return entry.second.IsZero(); });
    // Somebody else may share the device without consuming anything of it.
    if (nothing && !undo.had_capacity) sharing_.erase(&device);
  }
  if (undo.marked) marked_.pop_back();
  if (undo.capacity || undo.marked) {
    claim.taken.pop_back();
    undo_.pop_back();
  }
  const std::string& base = current.parent ? *current.parent : *current.view.name;
  const std::string& sub = current.parent ? *current.view.name : std::string();
  for (size_t i = undo.constraints; i-- > 0;) claim.constraints[i].Remove(base, sub);
  if (undo.counters) ReleaseCounters(device);
}

bool Search::HasCapacity(const RequestState& request, const Pool::Device& device) const {
  if (!in_.features.consumable_capacity) return true;
  if (!request.view.capacity && device.object().capacity.empty()) return true;
  const auto taken = sharing_.find(&device);
  return CapacitySuffices(request.view.capacity, device.object(), in_.allocated.Consumed(device.id),
                          taken == sharing_.end() ? nullptr : &taken->second);
}

bool Search::IsMarked(const Pool::Device& device) const {
  return std::any_of(marked_.begin(), marked_.end(), [&](const auto& mark) { return mark.first == &device; });
}

bool Search::IsInUse(const Pool::Device& device) const {
  return in_.allocated.IsDedicated(device.id) || IsMarked(device);
}

bool Search::IsTakenBy(const Pool::Device& device, size_t claim) const {
  return std::any_of(marked_.begin(), marked_.end(),
                     [&](const auto& mark) { return mark.first == &device && mark.second == claim; });
}

bool Search::ReserveCounters(const Pool::Device& device) {
  const Pool& pool = *device.pool;
  const std::vector<Pool::Amount>& available = pool.AvailableCounters(in_.allocated);
  std::vector<Pool::Amount>& consumed = counters_[&pool];
  consumed.resize(pool.counters.size());
  for (const Pool::Consumption& consumption : device.consumes) consumed[consumption.counter] += consumption.amount;
  // Every counter of the pool is looked at, not only those of this device: one that is overdrawn stops all of them.
  for (size_t i = 0; i < consumed.size(); ++i) {
    if (available[i] < consumed[i]) {
      ReleaseCounters(device);
      return false;
    }
  }
  return true;
}

void Search::ReleaseCounters(const Pool::Device& device) {
  std::vector<Pool::Amount>& consumed = counters_[device.pool];
  for (const Pool::Consumption& consumption : device.consumes) consumed[consumption.counter] -= consumption.amount;
}

}  // namespace berth::dra
