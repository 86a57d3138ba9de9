// What an API server would reject in a ResourceSlice. A wrong slice offers no devices, or other devices than intended,
// and nothing would report it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "cel/arena.h"
#include "cel/semver.h"
#include "input/device_checks.h"

namespace berth::input {
namespace {

void CheckSlicePool(const api::ResourcePool& pool, FieldChecks& checks) {
  checks.Required("spec.pool.name", !pool.name.empty());
  // Several names, separated by slashes.
  for (std::string_view rest = pool.name; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    checks.DnsName("spec.pool.name", part);
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  if (pool.resource_slice_count < 1) {
    checks.Add("spec.pool.resourceSliceCount", fmt::format("expected at least 1, found {}", pool.resource_slice_count));
  }
}

void CheckVersionText(const std::string& path, const std::string& text, FieldChecks& checks) {
  cel::Arena arena;
  if (cel::ParseSemver(text, arena)) return;
  checks.Add(path, fmt::format("expected a semantic version such as 1.2.3, found \"{}\"", base::Clipped(text)));
}

void CheckAttribute(const api::DeviceAttribute& attribute, const std::string& path, FieldChecks& checks) {
  const int values = attribute.bool_value.has_value() + attribute.int_value.has_value() +
                     attribute.string_value.has_value() + attribute.version_value.has_value() +
                     !attribute.bool_values.empty() + !attribute.int_values.empty() + !attribute.string_values.empty() +
                     !attribute.version_values.empty();
  if (values != 1) {
    checks.Add(path, fmt::format("expected one value, as bool, int, string or version, found {}",
                                 values == 0 ? "none" : std::to_string(values)));
  }
  if (attribute.version_value) CheckVersionText(path + ".version", *attribute.version_value, checks);
  for (size_t i = 0; i < attribute.version_values.size(); ++i) {
    CheckVersionText(fmt::format("{}.versions[{}]", path, i), attribute.version_values[i], checks);
  }
}

void CheckRequestPolicy(const api::DeviceCapacity& capacity, const std::string& path, FieldChecks& checks) {
  const api::CapacityRequestPolicy& policy = *capacity.request_policy;
  if (!policy.valid_values.empty() && policy.valid_range) {
    return checks.Add(path, "expected one of validValues and validRange, found both");
  }
  if (policy.valid_values.empty() && !policy.valid_range) return;
  checks.Required(path + ".default", policy.default_value.has_value());
  if (!policy.default_value) return;
  const api::Quantity& usual = *policy.default_value;
  if (!policy.valid_range) {
    if (std::find(policy.valid_values.begin(), policy.valid_values.end(), usual) == policy.valid_values.end()) {
      checks.Add(path + ".default", fmt::format("expected one of validValues, found {}", usual.ToString()));
    }
    return;
  }
  const api::CapacityRequestPolicyRange& range = *policy.valid_range;
  checks.Required(path + ".validRange.min", range.min.has_value());
  const auto at_most = [&](const char* field, const std::optional<api::Quantity>& amount, const api::Quantity& most,
                           const char* whose) {
    if (!amount || *amount <= most) return;
    checks.Add(path + field,
               fmt::format("expected at most {}, {}, found {}", most.ToString(), whose, amount->ToString()));
  };
  at_most(".validRange.min", range.min, usual, "the default");
  at_most(".validRange.max", range.max, capacity.value, "the capacity");
  if (range.max) at_most(".default", usual, *range.max, "the maximum");
}

void CheckWhichNodes(const api::Device& device, bool by_device, const std::string& path, FieldChecks& checks) {
  const int where = device.node_name.has_value() + device.node_selector.has_value() + device.all_nodes.value_or(false);
  if (by_device && where != 1) {
    checks.Add(path, fmt::format("expected one of nodeName, nodeSelector and allNodes, because the slice has "
                                 "perDeviceNodeSelection, found {}",
                                 where == 0 ? "none" : std::to_string(where)));
  }
  if (!by_device && where > 0) {
    checks.Add(path,
               "has a nodeName, nodeSelector or allNodes of its own, which counts only with "
               "spec.perDeviceNodeSelection: true");
  }
  checks.NodeSelector(path + ".nodeSelector", device.node_selector);
}

void CheckDevice(const api::Device& device, bool by_device, const std::string& path, FieldChecks& checks) {
  checks.Required(path + ".name", !device.name.empty());
  checks.DnsLabel(path + ".name", device.name);
  for (const auto& [name, attribute] : device.attributes) {
    CheckAttribute(attribute, fmt::format("{}.attributes[{}]", path, name), checks);
  }
  for (const auto& [name, capacity] : device.capacity) {
    if (!capacity.request_policy) continue;
    const std::string at = fmt::format("{}.capacity[{}].requestPolicy", path, name);
    if (device.allow_multiple_allocations.value_or(false)) {
      CheckRequestPolicy(capacity, at, checks);
    } else {
      checks.Add(at, "is only for devices with allowMultipleAllocations: true");
    }
  }
  for (size_t i = 0; i < device.taints.size(); ++i) {
    const std::string at = fmt::format("{}.taints[{}]", path, i);
    checks.Required(at + ".key", !device.taints[i].key.empty());
    checks.LabelKey(at + ".key", device.taints[i].key);
    checks.LabelValue(at + ".value", device.taints[i].value);
    checks.OneOf(at + ".effect", device.taints[i].effect, {"NoSchedule", "NoExecute", "None"});
  }
  CheckWhichNodes(device, by_device, path, checks);
}

// A slice that contains one of these may have fewer devices.
bool IsHeavy(const api::Device& device) {
  return !device.taints.empty() || !device.consumes_counters.empty() ||
         std::ranges::any_of(device.attributes, [](const auto& entry) {
           const api::DeviceAttribute& attribute = entry.second;
           return !attribute.bool_values.empty() || !attribute.int_values.empty() || !attribute.string_values.empty() ||
                  !attribute.version_values.empty();
         });
}

void CheckSize(const api::ResourceSliceSpec& spec, FieldChecks& checks) {
  const bool heavy = std::ranges::any_of(spec.devices, IsHeavy);
  const size_t most = heavy ? 64 : 128;
  if (spec.devices.size() > most) {
    checks.Add("spec.devices",
               fmt::format("expected at most {} devices{}, found {}: put the others into another slice "
                           "of the pool",
                           most, heavy ? " where one has taints, counters or lists" : "", spec.devices.size()));
  }
  // The devices would be ignored silently.
  if (!spec.shared_counters.empty() && !spec.devices.empty()) {
    checks.Add("spec.sharedCounters", "expected a slice without devices: counters stand in a slice of their own");
  }
}

}  // namespace

void CheckResourceSlice(const api::ResourceSlice& slice, FieldChecks& checks) {
  const api::ResourceSliceSpec& spec = slice.spec;
  checks.Required("spec.driver", !spec.driver.empty());
  checks.DnsName("spec.driver", spec.driver);
  CheckSlicePool(spec.pool, checks);
  checks.DnsName("spec.nodeName", spec.node_name.value_or(""));
  const bool by_device = spec.per_device_node_selection.value_or(false);
  const int where =
      spec.node_name.has_value() + spec.node_selector.has_value() + spec.all_nodes.value_or(false) + by_device;
  if (where != 1) {
    checks.Add("spec", fmt::format("expected one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection, "
                                   "found {}",
                                   where == 0 ? "none" : std::to_string(where)));
  }
  checks.NodeSelector("spec.nodeSelector", spec.node_selector);
  if (spec.node_selector && spec.node_selector->node_selector_terms.size() != 1) {
    checks.Add("spec.nodeSelector.nodeSelectorTerms",
               fmt::format("expected one term, found {}", spec.node_selector->node_selector_terms.size()));
  }
  CheckSize(spec, checks);
  std::set<std::string_view> names;
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    const std::string path = fmt::format("spec.devices[{}]", i);
    CheckDevice(spec.devices[i], by_device, path, checks);
    if (!names.insert(spec.devices[i].name).second) checks.Add(path + ".name", "is that of an earlier device");
  }
  names.clear();
  for (size_t i = 0; i < spec.shared_counters.size(); ++i) {
    if (names.insert(spec.shared_counters[i].name).second) continue;
    checks.Add(fmt::format("spec.sharedCounters[{}].name", i), "is that of an earlier set");
  }
}

}  // namespace berth::input
