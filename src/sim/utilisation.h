// Utilisation: how full a cluster is, by resource, by node and by zone. Counts what pods request, not what they use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"

namespace berth::sim {

// In the units scheduling computes with: thousandths of a core for cpu, bytes or counts otherwise.
struct Amount {
  int64_t requested = 0;
  int64_t allocatable = 0;

  // 0.5: half of it is requested. 0 where nothing is allocatable.
  double share() const {
    return allocatable > 0 ? static_cast<double>(requested) / static_cast<double>(allocatable) : 0.0;
  }
};

// How full one node is in one resource.
struct NodeShare {
  std::string node;
  double share = 0;
};

struct ResourceUse {
  std::string resource;  // cpu, memory, pods, then the others by name, then devices/DRIVER
  Amount total;
  // Among the nodes that have the resource, equals by name; the median is the lower of the two middle ones. Empty
  // without such nodes.
  NodeShare lowest;
  NodeShare median;
  NodeShare highest;
};

struct NodeUse {
  std::string node;
  std::string zone;               // "" without the label
  std::vector<Amount> amounts;    // in the order of Utilisation::resources
  std::vector<std::string> pods;  // on it, as namespace/name, sorted
};

struct ZoneUse {
  std::string zone;  // "" for the nodes without the label
  size_t nodes = 0;
  size_t pods = 0;    // on those nodes
  size_t placed = 0;  // those among them placed by the reported run; set by the caller
};

struct Utilisation {
  // cpu, memory and pods always; anything else that some node has or some pod requests, ephemeral-storage only when
  // some pod does.
  std::vector<ResourceUse> resources;
  std::vector<NodeUse> nodes;  // by name
  std::vector<ZoneUse> zones;  // by name, nodes without a zone last; empty when no node has the label

  // The difference between the zones with the most and the fewest pods placed; nodes without a zone are not counted.
  size_t PlacedSpread() const;
};

Utilisation MeasureUtilisation(const cluster::Cluster& cluster);

}  // namespace berth::sim
