// Utilisation: how full a cluster is, by resource, by node and by zone. What pods request counts, not what they use.
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

  // 0.5: half of it is spoken for. 0 where there is nothing to have.
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
  // Among the nodes that have any of it, equals by name; the lower one of two in the middle. Without such nodes, empty.
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
  size_t placed = 0;  // of them, by the run that is reported on; set by whoever ran it
};

struct Utilisation {
  // cpu, memory and pods always; anything else that some node has or some pod asks for, ephemeral-storage only when
  // some pod does.
  std::vector<ResourceUse> resources;
  std::vector<NodeUse> nodes;  // by name
  std::vector<ZoneUse> zones;  // by name, nodes without a zone last; empty when no node has the label

  // Between the zone with the most pods placed and the one with the fewest; nodes without a zone are none.
  size_t PlacedSpread() const;
};

Utilisation MeasureUtilisation(const cluster::Cluster& cluster);

}  // namespace berth::sim
