// From slices to a pool.
#include <fmt/format.h>

#include <algorithm>

#include "dra/pools.h"

namespace berth::dra {
namespace {

// A pool's counters have numbers in the order of their sets and names.
using CounterNumbers = std::map<std::pair<std::string, std::string>, uint32_t>;

// Empty when every counter set has a name of its own; the numbers and amounts of the counters otherwise.
std::string NumberCounters(const std::vector<SlicePtr>& slices, CounterNumbers& numbers, std::set<std::string>& sets,
                           std::vector<Pool::Amount>& amounts) {
  for (const SlicePtr& slice : slices) {
    for (const api::CounterSet& set : slice->spec().shared_counters) {
      if (!sets.insert(set.name).second) return "duplicate counter set name " + set.name;
      for (const auto& [name, counter] : set.counters) {
        numbers[{set.name, name}] = static_cast<uint32_t>(amounts.size());
        amounts.push_back(counter.value.nanos());
      }
    }
  }
  return {};
}

std::string ReadConsumption(const api::Device& device, const CounterNumbers& numbers, const std::set<std::string>& sets,
                            std::vector<Pool::Consumption>& consumes) {
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    if (!sets.contains(consumption.counter_set)) {
      return fmt::format("counter set {} not found", consumption.counter_set);
    }
    for (const auto& [name, counter] : consumption.counters) {
      const auto number = numbers.find({consumption.counter_set, name});
      if (number == numbers.end()) {
        return fmt::format("counter {} not found in counter set {}", name, consumption.counter_set);
      }
      consumes.push_back({number->second, counter.value.nanos()});
    }
  }
  return {};
}

bool IsNegative(const std::optional<api::Quantity>& amount) { return amount && amount->Sign() < 0; }

bool HasNegativeAmounts(const Pool::Device& device) {
  for (const Pool::Consumption& consumption : device.consumes) {
    if (consumption.amount < 0) return true;
  }
  return std::ranges::any_of(device.object().capacity, [](const auto& entry) {
    const api::DeviceCapacity& capacity = entry.second;
    if (capacity.value.Sign() < 0) return true;
    if (!capacity.request_policy) return false;
    const api::CapacityRequestPolicy& policy = *capacity.request_policy;
    return IsNegative(policy.default_value) || (policy.valid_range && IsNegative(policy.valid_range->min)) ||
           std::ranges::any_of(policy.valid_values, [](const api::Quantity& value) { return value.Sign() < 0; });
  });
}

}  // namespace

PoolPtr PoolTable::Build(const PoolKey& key, std::vector<SlicePtr> relevant, const std::vector<SlicePtr>* all) {
  auto pool = std::make_shared<Pool>();
  pool->key = key;
  pool->serial_ = ++last_serial_;
  pool->seen_ = relevant;
  pool->relevant_ = relevant.size();
  std::sort(relevant.begin(), relevant.end(),
            [](const SlicePtr& a, const SlicePtr& b) { return a->object->metadata.name < b->object->metadata.name; });
  CounterNumbers numbers;
  std::set<std::string> sets;
  std::set<std::string_view> names;
  // In the order in which upstream looks for trouble: the names of devices, the counter sets, what devices consume.
  for (const SlicePtr& slice : relevant) {
    if (features_.partitionable_devices && !slice->spec().shared_counters.empty()) continue;
    for (uint32_t i = 0; i < slice->ids.size(); ++i) {
      const api::Device& device = slice->spec().devices[i];
      if (!names.insert(device.name).second) pool->invalid_reason = "duplicate device name " + device.name;
      pool->selects_nodes_by_device |= slice->spec().per_device_node_selection.value_or(false);
      pool->has_binding_conditions |= !device.binding_conditions.empty();
      pool->devices.push_back({slice.get(), i, slice->ids[i], {}});
    }
  }
  if (features_.partitionable_devices && pool->invalid_reason.empty()) {
    pool->invalid_reason = NumberCounters(relevant, numbers, sets, pool->counters);
    const auto read = [&](const SlicePtr& slice, std::vector<Pool::Device>& devices, size_t& next, bool append) {
      for (uint32_t i = 0; i < slice->ids.size() && pool->invalid_reason.empty(); ++i) {
        std::vector<Pool::Consumption> consumes;
        pool->invalid_reason = ReadConsumption(slice->spec().devices[i], numbers, sets, consumes);
        if (append) {
          if (!consumes.empty()) devices.push_back({slice.get(), i, slice->ids[i], std::move(consumes)});
        } else if (slice->spec().shared_counters.empty()) {
          devices[next++].consumes = std::move(consumes);
        }
      }
    };
    size_t next = 0;
    for (const SlicePtr& slice : relevant) read(slice, pool->devices, next, /*append=*/false);
    if (all && all->size() != relevant.size()) {
      for (const SlicePtr& slice : *all) {
        if (std::find(relevant.begin(), relevant.end(), slice) != relevant.end()) continue;
        read(slice, pool->devices_elsewhere, next, /*append=*/true);
        pool->seen_.push_back(slice);
      }
    }
  }
  if (!pool->invalid_reason.empty()) {
    pool->devices.clear();
    pool->has_binding_conditions = false;
  }
  pool->state_ = devices_.StateOf(key);
  for (Pool::Device& device : pool->devices) {
    device.pool = pool.get();
    pool->has_negative_amounts |= HasNegativeAmounts(device);
  }
  return pool;
}

}  // namespace berth::dra
