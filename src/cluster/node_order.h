// NodeOrder: the order in which a search that ends early goes through the nodes: one node of each zone in turn, the
// nodes of a zone in the order they were added, as in kube-scheduler's node tree.
//
// Maintaining it is cheap whether or not it is used; the list is built on demand.
// Not thread-safe; owned by the NodeTable.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/symbol.h"
#include "framework/node_info.h"

namespace berth::cluster {

class NodeOrder {
 public:
  // The node must be new.
  void Add(const framework::NodeInfo& node);
  // The Node object was replaced. A node that has changed zone comes last in its new zone; as upstream, the list shows
  // that only when the next node is added or removed.
  void Update(const framework::NodeInfo& node);
  void Remove(framework::NodeIndex node);

  std::span<const framework::NodeInfo* const> List() const;

  // Age of a node's position in its zone, and of the zone; only the order of ages matters.
  struct Age {
    uint64_t since = 0;
    uint64_t zone_since = 0;
  };
  Age AgeOf(framework::NodeIndex node) const { return {positions_[node].since, positions_[node].zone->second.since}; }
  void SetAge(framework::NodeIndex node, const Age& age);
  // The next List() shows every change of zone, as if a node had been added.
  void Refresh() { stale_ = true; }

 private:
  using ZoneKey = std::pair<Symbol, Symbol>;  // region and zone
  struct Zone {
    uint64_t since = 0;  // when its first node was added; zones without nodes are forgotten
    size_t nodes = 0;
  };
  using Zones = std::map<ZoneKey, Zone>;
  struct Position {
    const framework::NodeInfo* node = nullptr;  // null: no such node
    Zones::iterator zone{};
    uint64_t since = 0;  // when the node was added to its zone
  };

  static ZoneKey KeyOf(const framework::NodeInfo& node);
  void Enter(Position& position, const ZoneKey& key);
  void Leave(Position& position);

  Zones zones_;
  std::vector<Position> positions_;  // by node index
  uint64_t ticks_ = 0;
  mutable bool stale_ = false;
  mutable std::vector<const framework::NodeInfo*> list_;
};

}  // namespace berth::cluster
