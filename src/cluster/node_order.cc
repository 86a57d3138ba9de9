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

void NodeOrder::Enter(Place& place, const ZoneKey& key) {
  place.zone = zones_.try_emplace(key).first;
  place.since = ++ticks_;
  if (place.zone->second.nodes++ == 0) place.zone->second.since = place.since;
}

void NodeOrder::Leave(Place& place) {
  if (--place.zone->second.nodes == 0) zones_.erase(place.zone);
}

void NodeOrder::Add(const NodeInfo& node) {
  if (node.index() >= places_.size()) places_.resize(node.index() + 1);
  Place& place = places_[node.index()];
  place.node = &node;
  Enter(place, KeyOf(node));
  stale_ = true;
}

void NodeOrder::Update(const NodeInfo& node) {
  Place& place = places_[node.index()];
  const ZoneKey key = KeyOf(node);
  if (place.zone->first == key) return;
  Leave(place);
  Enter(place, key);
}

void NodeOrder::Remove(NodeIndex node) {
  Leave(places_[node]);
  places_[node].node = nullptr;
  stale_ = true;
}

void NodeOrder::SetAge(NodeIndex node, const Age& age) {
  places_[node].since = age.since;
  places_[node].zone->second.since = age.zone_since;
  ticks_ = std::max(ticks_, age.since);
  stale_ = true;
}

std::span<const NodeInfo* const> NodeOrder::List() const {
  if (!stale_) return list_;
  stale_ = false;
  // By zone and then by age, so that a node's number within its zone is known.
  std::vector<const Place*> places;
  for (const Place& place : places_) {
    if (place.node) places.push_back(&place);
  }
  std::sort(places.begin(), places.end(), [](const Place* a, const Place* b) {
    return std::pair(a->zone->second.since, a->since) < std::pair(b->zone->second.since, b->since);
  });
  std::vector<std::pair<size_t, const NodeInfo*>> turns;  // with the position within the zone
  turns.reserve(places.size());
  for (size_t i = 0, begin = 0; i < places.size(); ++i) {
    if (places[i]->zone != places[begin]->zone) begin = i;
    turns.emplace_back(i - begin, places[i]->node);
  }
  std::stable_sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  list_.clear();
  for (const auto& [turn, node] : turns) list_.push_back(node);
  return list_;
}

}  // namespace berth::cluster
