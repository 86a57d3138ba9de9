// What a node sees: gathered from nothing, or brought up to date pool by pool.
#include <algorithm>
#include <tuple>
#include <utility>

#include "dra/pools.h"

namespace berth::dra {

// Pools whose slices are one node's alone, but for their counters, look the same to every other node: there is nothing
// to take. Only of those that are broken every node must know.
bool PoolTable::IsSeenByAll(const PoolKey& key) {
  if (!shared_.contains(key)) return false;
  Group& group = groups_[key];
  const bool only_counters = std::ranges::all_of(group.slices, [](const auto& entry) {
    const api::ResourceSliceSpec& spec = entry.second->spec();
    return !IsShared(spec) || !spec.shared_counters.empty();
  });
  if (!only_counters) return true;
  const api::Node elsewhere;
  const Result<PoolPtr> pool = PoolFor(key, group, elsewhere);
  return !pool || (*pool && !(*pool)->usable());
}

const std::set<PoolKey>& PoolTable::SeenByAll() {
  if (seen_by_all_version_ >= shared_version_) return seen_by_all_;
  const auto look_again = [&](const PoolKey& key) {
    if (IsSeenByAll(key)) {
      seen_by_all_.insert(key);
    } else {
      seen_by_all_.erase(key);
    }
  };
  if (!changes_.VisitSince(seen_by_all_version_, look_again)) {
    seen_by_all_.clear();
    for (const auto& [key, count] : shared_) {
      if (IsSeenByAll(key)) seen_by_all_.insert(key);
    }
  }
  seen_by_all_version_ = version_;
  return seen_by_all_;
}

Result<std::vector<PoolPtr>> PoolTable::Gather(const api::Node& node) {
  std::set<PoolKey> keys = SeenByAll();
  if (const auto local = local_.find(node.metadata.name); local != local_.end()) {
    for (const auto& [key, count] : local->second.pools) keys.insert(key);
  }
  std::vector<PoolPtr> pools;
  for (const PoolKey& key : keys) {
    Result<PoolPtr> pool = PoolFor(key, groups_[key], node);
    if (!pool) return pool.error();
    if (*pool && (*pool)->matters()) pools.push_back(*pool);
  }
  // Devices that a driver must prepare first are the last choice.
  std::stable_partition(pools.begin(), pools.end(), [](const PoolPtr& pool) { return !pool->has_binding_conditions; });
  return pools;
}

bool PoolTable::Regather(std::vector<PoolPtr>& pools, const api::Node& node, const PoolKey& key, bool& changed) {
  const auto local = local_.find(node.metadata.name);
  const bool is_for_node = SeenByAll().contains(key) || (local != local_.end() && local->second.pools.contains(key));
  PoolPtr now;
  if (is_for_node) {
    Result<PoolPtr> pool = PoolFor(key, groups_[key], node);
    if (!pool) return false;
    if (*pool && (*pool)->matters()) now = *pool;
  }
  // As Gather has them.
  const auto before = [](const PoolPtr& pool, const std::pair<bool, const PoolKey&>& place) {
    return std::tie(pool->has_binding_conditions, pool->key) < std::tie(place.first, place.second);
  };
  const auto place_of = [&](bool has_binding_conditions) {
    return std::lower_bound(pools.begin(), pools.end(), std::pair<bool, const PoolKey&>(has_binding_conditions, key),
                            before);
  };
  for (const bool has_binding_conditions : {false, true}) {
    const auto old = place_of(has_binding_conditions);
    if (old == pools.end() || (*old)->key != key || (*old)->has_binding_conditions != has_binding_conditions) continue;
    if (*old == now) return true;
    pools.erase(old);
    changed = true;
  }
  if (!now) return true;
  pools.insert(place_of(now->has_binding_conditions), now);
  changed = true;
  return true;
}

bool PoolTable::Update(Seen& seen, uint64_t since, bool& changed) {
  if (!seen.pools.pools) return false;
  bool possible = true;
  const auto regather = [&](const PoolKey& key) {
    possible = possible && Regather(*seen.pools.pools, *seen.node, key, changed);
  };
  return changes_.VisitSince(since, regather) && possible;
}

uint64_t PoolTable::SetOf(const std::vector<PoolPtr>& pools) {
  std::vector<uint64_t> serials;
  for (const PoolPtr& pool : pools) serials.push_back(pool->serial_);
  // Of pools that are gone no node asks again.
  if (sets_.size() > 2 * seen_.size() + 64) sets_.clear();
  const auto [place, added] = sets_.try_emplace(std::move(serials), last_set_ + 1);
  if (added) ++last_set_;
  return place->second;
}

void PoolTable::ForgetNode(const std::string& name) {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) return;
  seen_[found->second] = Seen();
  numbers_.erase(found);
}

const NodePools& PoolTable::PoolsOf(const std::shared_ptr<const api::Node>& node, uint32_t number) {
  if (number >= seen_.size()) seen_.resize(number + 1);
  Seen& seen = seen_[number];
  if (seen.node == node && seen.version == version_) return seen.pools;
  const auto local = local_.find(node->metadata.name);
  const uint64_t local_version = local == local_.end() ? 0 : local->second.version;
  const uint64_t since = std::exchange(seen.version, version_);
  if (seen.node == node) {
    if (seen.shared_version == shared_version_ && seen.local_version == local_version) return seen.pools;
    seen.local_version = local_version;
    seen.shared_version = shared_version_;
    bool changed = false;
    if (Update(seen, since, changed)) {
      if (changed) Note(seen.pools, number);
      return seen.pools;
    }
  }
  seen.node = node;
  seen.local_version = local_version;
  seen.shared_version = shared_version_;
  seen.pools = NodePools{Gather(*node)};
  numbers_[node->metadata.name] = number;
  Note(seen.pools, number);
  return seen.pools;
}

void PoolTable::Note(NodePools& seen, uint32_t number) {
  devices_.TouchNode(number);
  if (!seen.pools) return;
  seen.set = SetOf(*seen.pools);
  seen.is_shareable = true;
  seen.devices = 0;
  seen.has_unusable = seen.has_negative_amounts = false;
  for (const PoolPtr& pool : *seen.pools) {
    if (pool->state_) AllocatedDevices::AddViewer(*pool->state_, number);
    if (pool->selects_nodes_by_device) seen.is_shareable = false;
    seen.devices += pool->devices.size();
    seen.has_unusable |= !pool->usable();
    seen.has_negative_amounts |= pool->has_negative_amounts;
  }
}

}  // namespace berth::dra
