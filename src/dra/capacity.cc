#include "dra/capacity.h"

#include <algorithm>

namespace berth::dra {
namespace {

using api::Quantity;

const Quantity* RequestedOf(const api::CapacityRequirements* request, const std::string& name) {
  return request ? request->requests.Find(name) : nullptr;
}

// The smallest amount of the range that is at least `wanted`, in whole units where the range has steps.
Quantity RoundUp(const Quantity& wanted, const api::CapacityRequestPolicyRange& range) {
  if (wanted < *range.min) return *range.min;
  if (!range.step) return wanted;
  const int64_t step = range.step->Value();
  const int64_t least = range.min->Value();
  if (step <= 0) return wanted;
  const int64_t above = wanted.Value() - least;
  const int64_t steps = above / step + (above % step != 0 ? 1 : 0);
  return Quantity::FromInt(least + step * steps, Quantity::Format::kBinarySI);
}

Quantity Consumption(const Quantity* wanted, const api::DeviceCapacity& capacity) {
  const std::optional<api::CapacityRequestPolicy>& policy = capacity.request_policy;
  if (!wanted) return policy && policy->default_value ? *policy->default_value : capacity.value;
  if (!policy) return *wanted;
  if (policy->valid_range && policy->valid_range->min) return RoundUp(*wanted, *policy->valid_range);
  for (const Quantity& value : policy->valid_values) {
    if (*wanted <= value) return value;
  }
  return *wanted;
}

bool IsRefused(const Quantity& amount, const api::CapacityRequestPolicyRange& range) {
  if (range.max && amount > *range.max) return true;
  if (!range.step || !range.min) return false;
  const int64_t step = range.step->Value();
  return step > 0 && (amount.Value() - range.min->Value()) % step != 0;
}

bool IsRefused(const Quantity& amount, const std::optional<api::CapacityRequestPolicy>& policy) {
  if (!policy) return false;
  // The default is always good, whatever else the policy says.
  if (policy->default_value && *policy->default_value == amount && policy->default_value->format() == amount.format()) {
    return false;
  }
  if (policy->valid_range) return IsRefused(amount, *policy->valid_range);
  if (policy->valid_values.empty()) return false;
  return std::find(policy->valid_values.begin(), policy->valid_values.end(), amount) == policy->valid_values.end();
}

}  // namespace

ConsumedCapacity ConsumptionOf(const api::CapacityRequirements* request, const api::Device& device) {
  ConsumedCapacity consumed;
  for (const auto& [name, capacity] : device.capacity) {
    consumed.Set(name, Consumption(RequestedOf(request, name), capacity));
  }
  return consumed;
}

bool CapacitySuffices(const api::CapacityRequirements* request, const api::Device& device,
                      const ConsumedCapacity* allocated, const ConsumedCapacity* taken) {
  if (request) {
    for (const auto& [name, amount] : request->requests) {
      if (!device.capacity.Contains(name)) return false;
    }
  }
  for (const auto& [name, capacity] : device.capacity) {
    Quantity sum = Consumption(RequestedOf(request, name), capacity);
    if (IsRefused(sum, capacity.request_policy)) return false;
    if (const Quantity* amount = allocated ? allocated->Find(name) : nullptr) sum.Add(*amount);
    if (const Quantity* amount = taken ? taken->Find(name) : nullptr) sum.Add(*amount);
    if (sum > capacity.value) return false;
  }
  return true;
}

}  // namespace berth::dra
