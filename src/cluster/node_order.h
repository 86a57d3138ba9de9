// NodeOrder: the order in which a search goes through the nodes when it does not look at all of them: zone after zone
// in turn, the nodes of a zone in the order they came, as in kube-scheduler's node tree.
//
// Keeping it costs little whether or not anybody asks; the list is put together when it is asked for.
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
  // The node is new.
  void Add(const framework::NodeInfo& node);
  // Its Node object was replaced. One that has changed zone comes last in the new one; like upstream's, the list shows
  // that only when the next node comes or goes.
  void Update(const framework::NodeInfo& node);
  void Remove(framework::NodeIndex node);

  std::span<const framework::NodeInfo* const> List() const;

  // How old a node's place is, and how old its zone is; only the order of ages matters.
  struct Age {
    uint64_t since = 0;
    uint64_t zone_since = 0;
  };
  Age AgeOf(framework::NodeIndex node) const { return {places_[node].since, places_[node].zone->second.since}; }
  void SetAge(framework::NodeIndex node, const Age& age);
  // The next List() shows every change of zone, as if a node had come.
  void Refresh() { stale_ = true; }

 private:
  using ZoneKey = std::pair<Symbol, Symbol>;  // region and zone
  struct Zone {
    uint64_t since = 0;  // when its first node came; zones without nodes are forgotten
    size_t nodes = 0;
  };
  using Zones = std::map<ZoneKey, Zone>;
  struct Place {
    const framework::NodeInfo* node = nullptr;  // null: no such node
    Zones::iterator zone{};
    uint64_t since = 0;  // when the node came to its zone
  };

  static ZoneKey KeyOf(const framework::NodeInfo& node);
  void Enter(Place& place, const ZoneKey& key);
  void Leave(Place& place);

  Zones zones_;
  std::vector<Place> places_;  // by node index
  uint64_t ticks_ = 0;
  mutable bool stale_ = false;
  mutable std::vector<const framework::NodeInfo*> list_;
};

}  // namespace berth::cluster
