#include "sim/utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "api/quantity.h"
#include "framework/resource.h"

namespace berth::sim {

using framework::NodeInfo;

namespace {

const Symbol& ZoneLabel() {
  static const Symbol label("topology.kubernetes.io/zone");
  return label;
}

// Sums that plugins compute with wrap around, as upstream's do; those shown to people must not.
int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

int64_t RequestedOn(const NodeInfo& node, const Symbol& resource) {
  int64_t sum = 0;
  for (const framework::PodInfoPtr& pod : node.pods()) sum = SaturatingAdd(sum, pod->requests().Get(resource));
  return sum;
}

Amount AmountOn(const NodeInfo& node, const Symbol& resource) {
  // Every pod takes one place, whatever it requests.
  if (resource == framework::PodsName()) {
    return {static_cast<int64_t>(node.pods().size()), node.allocatable().allowed_pod_number};
  }
  const int64_t requested = node.requested().Get(resource);
  // A sum that wrapped around is smaller than one of its parts.
  const bool wrapped = std::any_of(node.pods().begin(), node.pods().end(), [&](const framework::PodInfoPtr& pod) {
    return pod->requests().Get(resource) > std::max<int64_t>(requested, 0);
  });
  return {wrapped ? RequestedOn(node, resource) : requested, node.allocatable().Get(resource)};
}

std::vector<Symbol> ResourcesIn(const cluster::Cluster& cluster) {
  std::vector<Symbol> resources = {framework::CpuName(), framework::MemoryName(), framework::PodsName()};
  std::set<std::string> others;
  for (const NodeInfo* node : cluster.nodes()) {
    for (const framework::Resource* amounts : {&node->requested(), &node->allocatable()}) {
      for (const auto& [name, amount] : amounts->scalar) {
        if (amount > 0) others.emplace(name.str());
      }
    }
    if (node->requested().ephemeral_storage > 0) others.emplace(framework::EphemeralStorageName().str());
  }
  for (const std::string& name : others) resources.emplace_back(name);
  return resources;
}

// Devices by driver: those of the newest generation of each pool, and how many of them are allocated, at least in part.
class DeviceCounts {
 public:
  explicit DeviceCounts(const framework::Objects& objects) {
    std::map<std::pair<std::string, std::string>, int64_t> newest;  // generation by driver and pool
    for (const auto& [key, slice] : objects.resource_slices) {
      int64_t& generation = newest[{slice->spec.driver, slice->spec.pool.name}];
      generation = std::max(generation, slice->spec.pool.generation);
    }
    std::set<std::tuple<std::string, std::string, std::string>> taken;
    for (const auto& [key, claim] : objects.resource_claims) {
      if (!claim->status.allocation) continue;
      for (const auto& result : claim->status.allocation->devices.results) {
        if (!result.admin_access.value_or(false)) taken.emplace(result.driver, result.pool, result.device);
      }
    }
    for (const auto& [key, slice] : objects.resource_slices) {
      const api::ResourceSliceSpec& spec = slice->spec;
      if (spec.pool.generation != newest[{spec.driver, spec.pool.name}]) continue;
      for (const api::Device& device : spec.devices) {
        const int64_t used = taken.contains({spec.driver, spec.pool.name, device.name}) ? 1 : 0;
        Add(total_[spec.driver], used);
        if (spec.node_name) Add(by_node_[*spec.node_name][spec.driver], used);
      }
    }
  }

  const std::map<std::string, Amount>& total() const { return total_; }
  // Only devices that belong to this node alone.
  Amount On(const std::string& node, const std::string& driver) const {
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) return {};
    const auto amount = found->second.find(driver);
    return amount == found->second.end() ? Amount() : amount->second;
  }

 private:
  static void Add(Amount& amount, int64_t used) {
    amount.requested += used;
    ++amount.allocatable;
  }

  std::map<std::string, Amount> total_;  // by driver
  std::map<std::string, std::map<std::string, Amount>> by_node_;
};

// Only nodes that have the resource count: one without it is neither empty nor full.
void FindExtremes(ResourceUse& use, const std::vector<NodeUse>& nodes, size_t position) {
  std::vector<NodeShare> shares;
  for (const NodeUse& node : nodes) {
    const Amount& amount = node.amounts[position];
    if (amount.allocatable > 0) shares.push_back({node.node, amount.share()});
  }
  if (shares.empty()) return;
  std::stable_sort(shares.begin(), shares.end(),
                   [](const NodeShare& a, const NodeShare& b) { return a.share < b.share; });
  use.lowest = shares.front();
  use.median = shares[(shares.size() - 1) / 2];
  // The first by name among the fullest.
  use.highest = *std::find_if(shares.begin(), shares.end(),
                              [&](const NodeShare& share) { return share.share == shares.back().share; });
}

std::vector<ZoneUse> CountZones(const cluster::Cluster& cluster) {
  std::map<std::string, ZoneUse> by_name;
  for (const NodeInfo* node : cluster.nodes()) {
    const Symbol* zone = node->labels().Find(ZoneLabel());
    ZoneUse& use = by_name[zone ? std::string(zone->str()) : ""];
    ++use.nodes;
    use.pods += node->pods().size();
  }
  std::vector<ZoneUse> zones;
  for (auto& [name, use] : by_name) {
    use.zone = name;
    zones.push_back(std::move(use));
  }
  if (zones.size() == 1 && zones.front().zone.empty()) zones.clear();
  if (!zones.empty() && zones.front().zone.empty()) std::rotate(zones.begin(), zones.begin() + 1, zones.end());
  return zones;
}

}  // namespace

size_t Utilisation::PlacedSpread() const {
  size_t most = 0, fewest = SIZE_MAX;
  for (const ZoneUse& zone : zones) {
    if (zone.zone.empty()) continue;
    most = std::max(most, zone.placed);
    fewest = std::min(fewest, zone.placed);
  }
  return fewest == SIZE_MAX ? 0 : most - fewest;
}

Utilisation MeasureUtilisation(const cluster::Cluster& cluster) {
  Utilisation utilisation;
  const std::vector<Symbol> resources = ResourcesIn(cluster);
  for (const Symbol& resource : resources) utilisation.resources.push_back({.resource = std::string(resource.str())});
  const DeviceCounts devices(cluster.objects());
  for (const auto& [driver, amount] : devices.total()) {
    utilisation.resources.push_back({.resource = "devices/" + driver, .total = amount});
  }
  for (const NodeInfo* node : cluster.nodes()) {
    NodeUse use{.node = node->name()};
    if (const Symbol* zone = node->labels().Find(ZoneLabel())) use.zone = zone->str();
    for (size_t i = 0; i < resources.size(); ++i) {
      const Amount amount = AmountOn(*node, resources[i]);
      Amount& total = utilisation.resources[i].total;
      total.requested = SaturatingAdd(total.requested, amount.requested);
      total.allocatable = SaturatingAdd(total.allocatable, amount.allocatable);
      use.amounts.push_back(amount);
    }
    for (const auto& [driver, amount] : devices.total()) use.amounts.push_back(devices.On(node->name(), driver));
    for (const framework::PodInfoPtr& pod : node->pods()) use.pods.push_back(pod->Key());
    std::sort(use.pods.begin(), use.pods.end());
    utilisation.nodes.push_back(std::move(use));
  }
  std::sort(utilisation.nodes.begin(), utilisation.nodes.end(),
            [](const NodeUse& a, const NodeUse& b) { return a.node < b.node; });
  for (size_t i = 0; i < utilisation.resources.size(); ++i)
    FindExtremes(utilisation.resources[i], utilisation.nodes, i);
  utilisation.zones = CountZones(cluster);
  return utilisation;
}

}  // namespace berth::sim
