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

// Compared, never read.
std::string SelectorKey(const api::NodeSelector& selector) {
  std::string key;
  const auto append = [&](std::string_view text) { key += fmt::format("{}:{}", text.size(), text); };
  const auto append_all = [&](const std::vector<api::NodeSelectorRequirement>& list) {
    for (const api::NodeSelectorRequirement& requirement : list) {
      append(requirement.key.str());
      append(requirement.op);
      for (const Symbol& value : requirement.values) append(value.str());
      key += ';';
    }
    key += '|';
  };
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    append_all(term.match_expressions);
    append_all(term.match_fields);
  }
  return key;
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
  const uint64_t version = state_ ? state_->version : 0;
  const size_t count = devices.size() + devices_elsewhere.size();
  if (use_.version == version && use_.counted.size() == count) return use_;
  const auto note = [&](DeviceId id) {
    auto place = std::lower_bound(positions_.begin(), positions_.end(), std::pair(id, uint32_t{0}));
    for (; place != positions_.end() && place->first == id; ++place) Note(place->second, allocated);
  };
  const bool known = use_.counted.size() == count && !positions_.empty();
  if (!known || !state_->changes.VisitSince(use_.version, note)) {
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

SelectorPtr PoolTable::Compile(const std::optional<api::NodeSelector>& selector) {
  if (!selector) return nullptr;
  // Slices of one pool mostly say the same.
  if (selectors_.size() > 2 * slices_.size() + 64) {
    std::erase_if(selectors_, [](const auto& entry) { return entry.second.expired(); });
  }
  std::weak_ptr<const Result<api::CompiledNodeSelector>>& place = selectors_[SelectorKey(*selector)];
  if (SelectorPtr known = place.lock()) return known;
  Result<api::CompiledNodeSelector> compiled = api::CompiledNodeSelector::Compile(*selector);
  if (!compiled) {
    compiled = Error::InvalidArgument(
        fmt::format("failed to parse node selector {}: {}", SelectorText(*selector), compiled.error().message));
  }
  auto made = std::make_shared<const Result<api::CompiledNodeSelector>>(std::move(compiled));
  place = made;
  return made;
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

void PoolTable::Touch(const PoolKey& key, Group& group) {
  group.built.clear();
  changes_.Record(++version_, key);
  // Slices of other nodes count when a pool is checked for being complete, so all of its nodes look again.
  for (const auto& [name, slice] : group.slices) {
    if (!IsShared(slice->spec())) local_[*slice->spec().node_name].version = version_;
  }
  if (group.shared > 0) shared_version_ = version_;
}

void PoolTable::Insert(std::shared_ptr<const api::ResourceSlice> object) {
  const std::string name = object->metadata.name;
  Erase(name);
  const PoolKey key(object->spec.driver, object->spec.pool.name);
  auto slice = std::make_shared<Slice>();
  for (const api::Device& device : object->spec.devices) slice->ids.push_back(devices_.Acquire(key, device.name));
  slice->answers.resize(object->spec.devices.size());
  slice->node_selector = Compile(object->spec.node_selector);
  if (object->spec.per_device_node_selection.value_or(false)) {
    for (const api::Device& device : object->spec.devices) {
      slice->device_node_selectors.push_back(Compile(device.node_selector));
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
  Touch(key, group);
}

void PoolTable::Erase(const std::string& name) {
  const auto found = slices_.find(name);
  if (found == slices_.end()) return;
  const SlicePtr slice = found->second;
  slices_.erase(found);
  const PoolKey key(slice->spec().driver, slice->spec().pool.name);
  Group& group = groups_[key];
  Touch(key, group);
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

namespace {

// Whether both are for the same nodes, seen from their selectors alone.
bool SelectsLike(const Slice& a, const Slice& b) {
  const auto by_selector = [](const Slice& slice) {
    const api::ResourceSliceSpec& spec = slice.spec();
    return spec.shared_counters.empty() && (!spec.node_name || spec.node_name->empty()) &&
           !spec.all_nodes.value_or(false) && slice.node_selector;
  };
  return a.node_selector == b.node_selector && by_selector(a) && by_selector(b);
}

}  // namespace

Result<PoolPtr> PoolTable::PoolFor(const PoolKey& key, Group& group, const api::Node& node) {
  std::vector<SlicePtr> relevant;
  const Slice* last = nullptr;
  bool last_matters = false;
  // The node's own slices come first: the first one of the newest generation says how many there should be.
  for (const bool shared : {false, true}) {
    for (const auto& [name, slice] : group.slices) {
      const api::ResourceSliceSpec& spec = slice->spec();
      if (IsShared(spec) != shared || (!shared && *spec.node_name != node.metadata.name)) continue;
      if (!features_.partitionable_devices &&
          (spec.per_device_node_selection.has_value() || !spec.shared_counters.empty())) {
        continue;
      }
      const bool like_the_last = last && SelectsLike(*last, *slice);
      if (!like_the_last) {
        const Result<bool> matters = IsRelevant(*slice, node);
        if (!matters) return matters.error();
        last = slice.get();
        last_matters = *matters;
      }
      if (!last_matters) continue;
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

}  // namespace berth::dra
