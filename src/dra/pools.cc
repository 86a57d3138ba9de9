#include "dra/pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace berth::dra {
namespace {

// As Kubernetes' generated code prints it.
std::string SelectorText(const api::NodeSelector& selector) {
  const auto requirements = [](const std::vector<api::NodeSelectorRequirement>& list) {
    std::string text = "[]NodeSelectorRequirement{";
    for (const api::NodeSelectorRequirement& requirement : list) {
      std::string values;
      for (const Symbol& value : requirement.values) {
        if (!values.empty()) values += ' ';
        values += value.str();
      }
      text += fmt::format("NodeSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},", requirement.key.str(),
                          requirement.op, values);
    }
    return text + "}";
  };
  std::string text = "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{";
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    text += fmt::format("NodeSelectorTerm{{MatchExpressions:{},MatchFields:{},}},",
                        requirements(term.match_expressions), requirements(term.match_fields));
  }
  return text + "},}";
}

// A pool's counters have numbers in the order of their sets and names.
using CounterNumbers = std::map<std::pair<std::string, std::string>, uint32_t>;

// Empty when every counter set has a name of its own; the numbers and amounts of the counters otherwise.
std::string NumberCounters(const std::vector<SlicePtr>& slices, CounterNumbers& numbers, std::set<std::string>& sets,
                           std::vector<Pool::Amount>& amounts) {
  for (const SlicePtr& slice : slices) {
    for (const api::CounterSet& set : slice->spec().shared_counters) {
      if (!sets.insert(set.name).second) return "duplicate counter set name " + set.name;
      for (const auto& [name, counter] : set.counters) {
        numbers[{set.name, name}] = static_cast<uint32_t>(amounts.size());
        amounts.push_back(counter.value.nanos());
      }
    }
  }
  return {};
}

std::string ReadConsumption(const api::Device& device, const CounterNumbers& numbers, const std::set<std::string>& sets,
                            std::vector<Pool::Consumption>& consumes) {
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    if (!sets.contains(consumption.counter_set)) {
      return fmt::format("counter set {} not found", consumption.counter_set);
    }
    for (const auto& [name, counter] : consumption.counters) {
      const auto number = numbers.find({consumption.counter_set, name});
      if (number == numbers.end()) {
        return fmt::format("counter {} not found in counter set {}", name, consumption.counter_set);
      }
      consumes.push_back({number->second, counter.value.nanos()});
    }
  }
  return {};
}

}  // namespace

size_t Pool::Use::NextFree(size_t begin) const {
  size_t word = begin / 64;
  if (word >= free.size()) return free.size() * 64;
  uint64_t bits = free[word] & (~uint64_t{0} << (begin % 64));
  while (bits == 0) {
    if (++word == free.size()) return free.size() * 64;
    bits = free[word];
  }
  return word * 64 + static_cast<size_t>(std::countr_zero(bits));
}

void Pool::Note(size_t position, const AllocatedDevices& allocated) const {
  const bool is_own = position < devices.size();
  const Device& device = is_own ? devices[position] : devices_elsewhere[position - devices.size()];
  if (is_own) {
    const uint64_t bit = uint64_t{1} << (position % 64);
    uint64_t& word = use_.free[position / 64];
    const bool free = !allocated.IsDedicated(device.id);
    if (free != ((word & bit) != 0)) {
      word ^= bit;
      use_.free_count += free ? 1 : -size_t{1};
    }
  }
  const bool counts = !device.consumes.empty() && allocated.IsAllocated(device.id);
  if (counts == use_.counted[position]) return;
  use_.counted[position] = counts;
  for (const Consumption& consumption : device.consumes) {
    use_.available[consumption.counter] += counts ? -consumption.amount : consumption.amount;
  }
}

const Pool::Use& Pool::UseOf(const AllocatedDevices& allocated) const {
  const uint64_t version = allocated.VersionOf(key);
  const size_t count = devices.size() + devices_elsewhere.size();
  if (use_.version == version && use_.counted.size() == count) return use_;
  std::vector<DeviceId> changed;
  if (use_.counted.size() == count && !positions_.empty() && allocated.ChangesSince(key, use_.version, changed)) {
    for (const DeviceId id : changed) {
      auto place = std::lower_bound(positions_.begin(), positions_.end(), std::pair(id, uint32_t{0}));
      for (; place != positions_.end() && place->first == id; ++place) Note(place->second, allocated);
    }
  } else {
    use_.free.assign((devices.size() + 63) / 64, 0);
    use_.free_count = 0;
    use_.available = counters;
    use_.counted.assign(count, false);
    positions_.clear();
    for (size_t i = 0; i < count; ++i) {
      const Device& device = i < devices.size() ? devices[i] : devices_elsewhere[i - devices.size()];
      positions_.emplace_back(device.id, static_cast<uint32_t>(i));
      Note(i, allocated);
    }
    std::sort(positions_.begin(), positions_.end());
  }
  use_.version = version;
  return use_;
}

namespace {

SelectorPtr CompileSelector(const std::optional<api::NodeSelector>& selector) {
  if (!selector) return nullptr;
  Result<api::CompiledNodeSelector> compiled = api::CompiledNodeSelector::Compile(*selector);
  if (!compiled) {
    compiled = Error::InvalidArgument(
        fmt::format("failed to parse node selector {}: {}", SelectorText(*selector), compiled.error().message));
  }
  return std::make_shared<const Result<api::CompiledNodeSelector>>(std::move(compiled));
}

Result<bool> Matches(const api::Node& node, const std::optional<std::string>& node_name,
                     const std::optional<bool>& all_nodes, const SelectorPtr& selector) {
  if (node_name && !node_name->empty()) return node.metadata.name == *node_name;
  if (all_nodes.value_or(false)) return true;
  if (!selector) return false;
  if (!*selector) return selector->error();
  return (*selector)->Match(node.metadata.labels, node.metadata.name) == api::NodeMatch::kMatch;
}

}  // namespace

Result<bool> NodeMatches(const api::Node& node, const Slice& slice) {
  return Matches(node, slice.spec().node_name, slice.spec().all_nodes, slice.node_selector);
}

Result<bool> NodeMatches(const api::Node& node, const Slice& slice, size_t device) {
  const api::Device& object = slice.spec().devices[device];
  return Matches(node, object.node_name, object.all_nodes,
                 slice.device_node_selectors.empty() ? nullptr : slice.device_node_selectors[device]);
}

bool PoolTable::IsShared(const api::ResourceSliceSpec& spec) {
  return !spec.node_name || spec.node_name->empty() || !spec.shared_counters.empty();
}

void PoolTable::PutSlice(std::shared_ptr<const api::ResourceSlice> slice) {
  plain_[slice->metadata.name] = slice;
  Insert(WithRules(slice));
}

void PoolTable::RemoveSlice(const std::string& name) {
  plain_.erase(name);
  Erase(name);
}

void PoolTable::PutRule(std::shared_ptr<const api::DeviceTaintRule> rule) {
  rules_[rule->metadata.name] = std::move(rule);
  SyncRules();
}

void PoolTable::RemoveRule(const std::string& name) {
  rules_.erase(name);
  SyncRules();
}

std::shared_ptr<const api::ResourceSlice> PoolTable::WithRules(
    const std::shared_ptr<const api::ResourceSlice>& slice) const {
  if (!features_.taint_rules) return slice;
  std::shared_ptr<api::ResourceSlice> tainted;
  for (const auto& [name, rule] : rules_) {
    // Without a selector the rule is for every device: so upstream reads it.
    const api::DeviceTaintSelector selector = rule->spec.device_selector.value_or(api::DeviceTaintSelector());
    if (selector.driver && *selector.driver != slice->spec.driver) continue;
    if (selector.pool && *selector.pool != slice->spec.pool.name) continue;
    for (size_t i = 0; i < slice->spec.devices.size(); ++i) {
      if (selector.device && *selector.device != slice->spec.devices[i].name) continue;
      if (!tainted) tainted = std::make_shared<api::ResourceSlice>(*slice);
      tainted->spec.devices[i].taints.push_back(rule->spec.taint);
    }
  }
  return tainted ? std::shared_ptr<const api::ResourceSlice>(std::move(tainted)) : slice;
}

void PoolTable::SyncRules() {
  if (!features_.taint_rules) return;
  for (const auto& [name, slice] : plain_) {
    std::shared_ptr<const api::ResourceSlice> now = WithRules(slice);
    const api::ResourceSlice& before = *slices_.at(name)->object;
    const bool same = std::equal(now->spec.devices.begin(), now->spec.devices.end(), before.spec.devices.begin(),
                                 before.spec.devices.end(),
                                 [](const api::Device& a, const api::Device& b) { return a.taints == b.taints; });
    if (!same) Insert(std::move(now));
  }
}

void PoolTable::Touch(Group& group) {
  group.built.clear();
  ++version_;
  // Slices of other nodes count when a pool is checked for being complete, so all of its nodes look again.
  for (const auto& [name, slice] : group.slices) {
    if (IsShared(slice->spec())) continue;
    local_[*slice->spec().node_name].version = version_;
    if (const auto node = numbers_.find(*slice->spec().node_name); node != numbers_.end()) {
      devices_.TouchNode(node->second);
    }
  }
  if (group.shared == 0) return;
  shared_version_ = version_;
  for (const auto& [name, number] : numbers_) devices_.TouchNode(number);
}

void PoolTable::Insert(std::shared_ptr<const api::ResourceSlice> object) {
  const std::string name = object->metadata.name;
  Erase(name);
  const PoolKey key(object->spec.driver, object->spec.pool.name);
  auto slice = std::make_shared<Slice>();
  for (const api::Device& device : object->spec.devices) slice->ids.push_back(devices_.Acquire(key, device.name));
  slice->answers.resize(object->spec.devices.size());
  slice->node_selector = CompileSelector(object->spec.node_selector);
  if (object->spec.per_device_node_selection.value_or(false)) {
    for (const api::Device& device : object->spec.devices) {
      slice->device_node_selectors.push_back(CompileSelector(device.node_selector));
    }
  }
  slice->object = std::move(object);
  Group& group = groups_[key];
  group.slices[name] = slice;
  if (IsShared(slice->spec())) {
    ++group.shared;
    ++shared_[key];
    shared_slices_[name] = slice;
  } else {
    Local& local = local_[*slice->spec().node_name];
    ++local.pools[key];
    local.slices[name] = slice;
  }
  if (features_.node_allocatable_resources) by_pool_name_[key.second][name] = slice;
  slices_[name] = std::move(slice);
  Touch(group);
}

void PoolTable::Erase(const std::string& name) {
  const auto found = slices_.find(name);
  if (found == slices_.end()) return;
  const SlicePtr slice = found->second;
  slices_.erase(found);
  const PoolKey key(slice->spec().driver, slice->spec().pool.name);
  Group& group = groups_[key];
  Touch(group);
  group.slices.erase(name);
  if (IsShared(slice->spec())) {
    --group.shared;
    if (--shared_[key] == 0) shared_.erase(key);
    shared_slices_.erase(name);
  } else {
    Local& local = local_[*slice->spec().node_name];
    if (--local.pools[key] == 0) local.pools.erase(key);
    local.slices.erase(name);
    // Without an entry the version is 0, which no node that saw the entry remembers.
    if (local.pools.empty()) local_.erase(*slice->spec().node_name);
  }
  if (group.slices.empty()) groups_.erase(key);
  if (const auto named = by_pool_name_.find(key.second); named != by_pool_name_.end()) {
    named->second.erase(name);
    if (named->second.empty()) by_pool_name_.erase(named);
  }
  for (const DeviceId id : slice->ids) devices_.Release(id);
}

const api::Device* PoolTable::FindDevice(const std::string& pool, const std::string& device) const {
  const auto named = by_pool_name_.find(pool);
  if (named == by_pool_name_.end()) return nullptr;
  for (const auto& [name, slice] : named->second) {
    for (const api::Device& candidate : slice->spec().devices) {
      if (candidate.name == device) return &candidate;
    }
  }
  return nullptr;
}

Result<bool> PoolTable::IsRelevant(const Slice& slice, const api::Node& node) {
  const api::ResourceSliceSpec& spec = slice.spec();
  const std::string& name = slice.object->metadata.name;
  // Counters are needed to use a pool, wherever they are said to be.
  if (!spec.shared_counters.empty()) return true;
  if ((spec.node_name && !spec.node_name->empty()) || spec.all_nodes.value_or(false) || spec.node_selector) {
    Result<bool> matches = NodeMatches(node, slice);
    if (matches) return matches;
    return Error::InvalidArgument(
        fmt::format("failed to perform node selection for slice {}: {}", name, matches.error().message));
  }
  if (!spec.per_device_node_selection.value_or(false)) return false;
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    Result<bool> matches = NodeMatches(node, slice, i);
    if (!matches) {
      return Error::InvalidArgument(fmt::format("failed to perform node selection for device {} in slice {}: {}",
                                                spec.devices[i].name, name, matches.error().message));
    }
    if (*matches) return true;
  }
  return false;
}

Result<PoolPtr> PoolTable::PoolFor(const PoolKey& key, Group& group, const api::Node& node) {
  std::vector<SlicePtr> relevant;
  // The node's own slices come first: the first one of the newest generation says how many there should be.
  for (const bool shared : {false, true}) {
    for (const auto& [name, slice] : group.slices) {
      const api::ResourceSliceSpec& spec = slice->spec();
      if (IsShared(spec) != shared || (!shared && *spec.node_name != node.metadata.name)) continue;
      if (!features_.partitionable_devices &&
          (spec.per_device_node_selection.has_value() || !spec.shared_counters.empty())) {
        continue;
      }
      const Result<bool> matters = IsRelevant(*slice, node);
      if (!matters) return matters.error();
      if (!*matters) continue;
      const int64_t newest = relevant.empty() ? spec.pool.generation : relevant.front()->spec().pool.generation;
      if (spec.pool.generation < newest) continue;
      if (spec.pool.generation > newest) relevant.clear();
      relevant.push_back(slice);
    }
  }
  if (relevant.empty()) return PoolPtr();
  for (const PoolPtr& pool : group.built) {
    if (pool->relevant_ == relevant.size() && std::equal(relevant.begin(), relevant.end(), pool->seen_.begin())) {
      return pool;
    }
  }
  const api::ResourcePool& announced = relevant.front()->spec().pool;
  std::vector<SlicePtr> all;
  const bool complete = static_cast<int64_t>(relevant.size()) == announced.resource_slice_count;
  if (!complete) {
    for (const auto& [name, slice] : group.slices) {
      const int64_t generation = slice->spec().pool.generation;
      // The driver is replacing the pool, and has nothing for this node yet.
      if (generation > announced.generation) return PoolPtr();
      if (generation == announced.generation) all.push_back(slice);
    }
  }
  PoolPtr built;
  if (!complete && static_cast<int64_t>(all.size()) != announced.resource_slice_count) {
    auto pool = std::make_shared<Pool>();
    pool->key = key;
    pool->incomplete = true;
    pool->serial_ = ++last_serial_;
    pool->seen_ = relevant;
    pool->relevant_ = relevant.size();
    built = std::move(pool);
  } else {
    built = Build(key, std::move(relevant), complete ? nullptr : &all);
  }
  group.built.push_back(built);
  return built;
}

PoolPtr PoolTable::Build(const PoolKey& key, std::vector<SlicePtr> relevant, const std::vector<SlicePtr>* all) {
  auto pool = std::make_shared<Pool>();
  pool->key = key;
  pool->serial_ = ++last_serial_;
  pool->seen_ = relevant;
  pool->relevant_ = relevant.size();
  std::sort(relevant.begin(), relevant.end(),
            [](const SlicePtr& a, const SlicePtr& b) { return a->object->metadata.name < b->object->metadata.name; });
  CounterNumbers numbers;
  std::set<std::string> sets;
  std::set<std::string_view> names;
  // In the order in which upstream looks for trouble: the names of devices, the counter sets, what devices consume.
  for (const SlicePtr& slice : relevant) {
    if (features_.partitionable_devices && !slice->spec().shared_counters.empty()) continue;
    for (uint32_t i = 0; i < slice->ids.size(); ++i) {
      const api::Device& device = slice->spec().devices[i];
      if (!names.insert(device.name).second) pool->invalid_reason = "duplicate device name " + device.name;
      pool->selects_nodes_by_device |= slice->spec().per_device_node_selection.value_or(false);
      pool->has_binding_conditions |= !device.binding_conditions.empty();
      pool->devices.push_back({slice.get(), i, slice->ids[i], {}});
    }
  }
  if (features_.partitionable_devices && pool->invalid_reason.empty()) {
    pool->invalid_reason = NumberCounters(relevant, numbers, sets, pool->counters);
    const auto read = [&](const SlicePtr& slice, std::vector<Pool::Device>& devices, size_t& next, bool append) {
      for (uint32_t i = 0; i < slice->ids.size() && pool->invalid_reason.empty(); ++i) {
        std::vector<Pool::Consumption> consumes;
        pool->invalid_reason = ReadConsumption(slice->spec().devices[i], numbers, sets, consumes);
        if (append) {
          if (!consumes.empty()) devices.push_back({slice.get(), i, slice->ids[i], std::move(consumes)});
        } else if (slice->spec().shared_counters.empty()) {
          devices[next++].consumes = std::move(consumes);
        }
      }
    };
    size_t next = 0;
    for (const SlicePtr& slice : relevant) read(slice, pool->devices, next, /*append=*/false);
    if (all && all->size() != relevant.size()) {
      for (const SlicePtr& slice : *all) {
        if (std::find(relevant.begin(), relevant.end(), slice) != relevant.end()) continue;
        read(slice, pool->devices_elsewhere, next, /*append=*/true);
        pool->seen_.push_back(slice);
      }
    }
  }
  if (!pool->invalid_reason.empty()) {
    pool->devices.clear();
    pool->has_binding_conditions = false;
  }
  return pool;
}

// Pools whose slices are one node's alone, but for their counters, look the same to every other node: there is nothing
// to take. Only of those that are broken every node must know.
const std::set<PoolKey>& PoolTable::SeenByAll() {
  if (seen_by_all_version_ == shared_version_) return seen_by_all_;
  seen_by_all_version_ = shared_version_;
  seen_by_all_.clear();
  const api::Node elsewhere;
  for (const auto& [key, count] : shared_) {
    Group& group = groups_[key];
    const bool only_counters = std::ranges::all_of(group.slices, [](const auto& entry) {
      const api::ResourceSliceSpec& spec = entry.second->spec();
      return !IsShared(spec) || !spec.shared_counters.empty();
    });
    if (only_counters) {
      const Result<PoolPtr> pool = PoolFor(key, group, elsewhere);
      if (pool && (!*pool || (*pool)->usable())) continue;
    }
    seen_by_all_.insert(key);
  }
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
    if (*pool && !((*pool)->usable() && (*pool)->devices.empty())) pools.push_back(*pool);
  }
  // Devices that a driver must prepare first are the last choice.
  std::stable_partition(pools.begin(), pools.end(), [](const PoolPtr& pool) { return !pool->has_binding_conditions; });
  return pools;
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
  const auto local_version = [&] {
    const auto local = local_.find(node->metadata.name);
    return local == local_.end() ? 0 : local->second.version;
  };
  seen.version = version_;
  if (seen.node == node && seen.shared_version == shared_version_ && seen.local_version == local_version()) {
    return seen.pools;
  }
  seen.node = node;
  seen.local_version = local_version();
  seen.shared_version = shared_version_;
  seen.pools = NodePools{Gather(*node)};
  numbers_[node->metadata.name] = number;
  devices_.TouchNode(number);
  if (!seen.pools.pools) return seen.pools;
  seen.pools.set = SetOf(*seen.pools.pools);
  seen.pools.is_shareable = true;
  for (const PoolPtr& pool : *seen.pools.pools) {
    devices_.AddViewer(pool->key, number);
    if (pool->selects_nodes_by_device) seen.pools.is_shareable = false;
  }
  return seen.pools;
}

}  // namespace berth::dra
