#include "cluster/node_order.h"

#include <algorithm>

namespace berth::cluster {

using framework::NodeIndex;
using framework::NodeInfo;

// The deprecated labels come first when a node has both.
NodeOrder::ZoneKey NodeOrder::KeyOf(const NodeInfo& node) {
  static const Symbol kRegions[] = {Symbol("failure-domain.beta.kubernetes.io/region"),
                                    Symbol("topology.kubernetes.io/region")};
  static const Symbol kZones[] = {Symbol("failure-domain.beta.kubernetes.io/zone"),
                                  Symbol("topology.kubernetes.io/zone")};
  const auto first_of = [&](const Symbol(&keys)[2]) {
    for (const Symbol& key : keys) {
      if (const Symbol* value = node.labels().Find(key)) return *value;
    }
    return Symbol();
  };
  return {first_of(kRegions), first_of(kZones)};
}

void NodeOrder::Enter(Position& position, const ZoneKey& key) {
  position.zone = zones_.try_emplace(key).first;
  position.since = ++ticks_;
  if (position.zone->second.nodes++ == 0) position.zone->second.since = position.since;
}

void NodeOrder::Leave(Position& position) {
  if (--position.zone->second.nodes == 0) zones_.erase(position.zone);
}

void NodeOrder::Add(const NodeInfo& node) {
  if (node.index() >= positions_.size()) positions_.resize(node.index() + 1);
  Position& position = positions_[node.index()];
  position.node = &node;
  Enter(position, KeyOf(node));
  stale_ = true;
}

void NodeOrder::Update(const NodeInfo& node) {
  Position& position = positions_[node.index()];
  const ZoneKey key = KeyOf(node);
  if (position.zone->first == key) return;
  Leave(position);
  Enter(position, key);
}

void NodeOrder::Remove(NodeIndex node) {
  Leave(positions_[node]);
  positions_[node].node = nullptr;
  stale_ = true;
}

void NodeOrder::SetAge(NodeIndex node, const Age& age) {
  positions_[node].since = age.since;
  positions_[node].zone->second.since = age.zone_since;
  ticks_ = std::max(ticks_, age.since);
  stale_ = true;
}

std::span<const NodeInfo* const> NodeOrder::List() const {
  if (!stale_) return list_;
  stale_ = false;
  // By zone and then by age, so that a node's number within its zone is known.
  std::vector<const Position*> positions;
  for (const Position& position : positions_) {
    if (position.node) positions.push_back(&position);
  }
  std::sort(positions.begin(), positions.end(), [](const Position* a, const Position* b) {
    return std::pair(a->zone->second.since, a->since) < std::pair(b->zone->second.since, b->since);
  });
  std::vector<std::pair<size_t, const NodeInfo*>> turns;  // with the position within the zone
  turns.reserve(positions.size());
  for (size_t i = 0, begin = 0; i < positions.size(); ++i) {
    if (positions[i]->zone != positions[begin]->zone) begin = i;
    turns.emplace_back(i - begin, positions[i]->node);
  }
  std::stable_sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  list_.clear();
  for (const auto& [turn, node] : turns) list_.push_back(node);
  return list_;
}

}  // namespace berth::cluster
