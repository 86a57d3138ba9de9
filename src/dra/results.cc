// From what the search took to the allocation that is written into a claim.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "dra/search.h"

namespace berth::dra {
namespace {

api::DeviceRequestAllocationResult ResultOf(const Features& features, const Taken& taken) {
  const api::Device& device = taken.device->object();
  const api::ResourceSliceSpec& slice = taken.device->slice->spec();
  api::DeviceRequestAllocationResult result;
  result.request = taken.request->FullName();
  result.driver = slice.driver;
  result.pool = slice.pool.name;
  result.device = device.name;
  if (taken.request->view.admin_access) result.admin_access = true;
  result.tolerations = *taken.request->view.tolerations;
  if (taken.shared) result.share_id.emplace();
  result.consumed_capacity = taken.consumed;
  if (features.binding_conditions) {
    result.binding_conditions = device.binding_conditions;
    result.binding_failure_conditions = device.binding_failure_conditions;
  }
  return result;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Each class once, with the names of its requests; then the claim's own, once for each request that it is for.
std::vector<api::DeviceAllocationConfiguration> ConfigOf(const ClaimResult& claim) {
  std::vector<api::DeviceAllocationConfiguration> config;
  std::map<std::string, std::pair<size_t, size_t>> by_class;  // where the configuration of a class stands
  for (const RequestState* request : claim.chosen) {
    const api::DeviceClass& device_class = *request->device_class;
    const auto [place, added] = by_class.try_emplace(device_class.metadata.name, config.size(), config.size());
    if (!added) {
      for (size_t i = place->second.first; i < place->second.second; ++i) {
        config[i].requests.push_back(request->FullName());
      }
      continue;
    }
    for (const api::DeviceClassConfiguration& entry : device_class.spec.config) {
      config.push_back({"FromClass", {request->FullName()}, entry.device_configuration});
    }
    place->second.second = config.size();
  }
  for (const api::DeviceClaimConfiguration& entry : claim.claim.spec.devices.config) {
    const api::DeviceAllocationConfiguration added{"FromClaim", entry.requests, entry.device_configuration};
    if (entry.requests.empty()) {
      config.push_back(added);
      continue;
    }
    for (const RequestState* request : claim.chosen) {
      const std::string& name = request->parent ? *request->parent : *request->view.name;
      if (Contains(entry.requests, name) || (request->parent && Contains(entry.requests, request->FullName()))) {
        config.push_back(added);
      }
    }
  }
  return config;
}

bool IsSame(const api::NodeSelectorRequirement& a, const api::NodeSelectorRequirement& b) {
  const auto set_of = [](const std::vector<Symbol>& values) { return std::set<Symbol>(values.begin(), values.end()); };
  return a.key == b.key && a.op == b.op && set_of(a.values) == set_of(b.values);
}

void AddNew(const std::vector<api::NodeSelectorRequirement>& from, std::vector<api::NodeSelectorRequirement>& to) {
  for (const api::NodeSelectorRequirement& requirement : from) {
    if (std::none_of(to.begin(), to.end(), [&](const auto& known) { return IsSame(known, requirement); })) {
      to.push_back(requirement);
    }
  }
}

Result<std::optional<api::NodeSelector>> SelectorOf(const ClaimResult& claim) {
  api::NodeSelectorTerm term;
  const bool reads_binds_to_node = claim.features.consumable_capacity || claim.features.binding_conditions;
  for (const Taken& taken : claim.taken) {
    const api::ResourceSliceSpec& slice = taken.device->slice->spec();
    const api::Device& device = taken.device->object();
    const bool per_device = slice.per_device_node_selection.value_or(false);
    const std::optional<std::string>& node_name = per_device ? device.node_name : slice.node_name;
    const std::optional<api::NodeSelector>& selector = per_device ? device.node_selector : slice.node_selector;
    if (node_name || (reads_binds_to_node && device.binds_to_node.value_or(false))) {
      api::NodeSelectorTerm here;
      here.match_fields.push_back({Symbol("metadata.name"), "In", {Symbol(claim.node.metadata.name)}});
      return std::optional<api::NodeSelector>(api::NodeSelector{{std::move(here)}});
    }
    if (!selector || selector->node_selector_terms.empty()) continue;
    if (selector->node_selector_terms.size() > 1) {
      return Error::InvalidArgument(
          fmt::format("create NodeSelector for claim {}: unsupported ResourceSlice.NodeSelector with {} terms",
                      claim.claim.metadata.name, selector->node_selector_terms.size()));
    }
    AddNew(selector->node_selector_terms[0].match_fields, term.match_fields);
    AddNew(selector->node_selector_terms[0].match_expressions, term.match_expressions);
  }
  if (term.empty()) return std::optional<api::NodeSelector>();
  return std::optional<api::NodeSelector>(api::NodeSelector{{std::move(term)}});
}

}  // namespace

bool HasOneSelectorTerm(const Pool::Device& device) {
  const std::optional<api::NodeSelector>* selector = &device.slice->spec().node_selector;
  if (device.slice->spec().per_device_node_selection.value_or(false)) selector = &device.object().node_selector;
  return !*selector || (*selector)->node_selector_terms.size() <= 1;
}

Result<api::AllocationResult> BuildAllocation(const ClaimResult& claim) {
  api::AllocationResult allocation;
  for (const Taken& taken : claim.taken) allocation.devices.results.push_back(ResultOf(claim.features, taken));
  allocation.devices.config = ConfigOf(claim);
  Result<std::optional<api::NodeSelector>> selector = SelectorOf(claim);
  if (!selector) return selector.error();
  allocation.node_selector = std::move(*selector);
  return allocation;
}

}  // namespace berth::dra
