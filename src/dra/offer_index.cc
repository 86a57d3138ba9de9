#include "dra/offer_index.h"

#include <algorithm>
#include <bit>

#include "dra/allocator.h"
#include "dra/capacity.h"
#include "dra/constraints.h"

namespace berth::dra {
namespace {

// A word of bits from `bit` on.
uint64_t WordFrom(uint64_t word, size_t bit) { return word & (~uint64_t{0} << (bit % 64)); }

// By type and value. Nothing for lists, and for attributes that say several things at once: those compare by rules of
// their own.
std::optional<std::string> ComparableText(const api::DeviceAttribute& attribute) {
  std::optional<std::string> text;
  int values = 0;
  const auto add = [&](const char* type, const auto& value, const auto& spell) {
    if (!value) return;
    ++values;
    text = type + spell(*value);
  };
  const auto same = [](const std::string& value) { return value; };
  add("s", attribute.string_value, same);
  add("i", attribute.int_value, [](int64_t value) { return std::to_string(value); });
  add("b", attribute.bool_value, [](bool value) { return std::to_string(value); });
  add("v", attribute.version_value, same);
  if (values != 1) return std::nullopt;
  return text;
}

}  // namespace

std::optional<bool> JudgeSelectors(const RequestShape& shape, const Features& features, const cel::DeviceFeatures& cel,
                                   const Pool::Device& device, uint64_t& budget) {
  if (!features.binding_conditions && !device.object().binding_conditions.empty()) return false;
  for (const auto* selectors : {&shape.class_selectors, &shape.selectors}) {
    for (const std::shared_ptr<const CompiledSelector>& selector : *selectors) {
      if (!selector->program) return std::nullopt;
      const SelectorAnswers::Answer* answer = device.answers().Find(selector);
      if (!answer) {
        if (budget == 0) return std::nullopt;
        answer = &device.answers().Ask(selector, cel, device.slice->spec().driver, device.object());
        budget -= std::min(budget, answer->cost + 1);
      }
      if (!answer->error.empty()) return std::nullopt;
      if (!answer->matches) return false;
    }
  }
  return true;
}

OfferIndex::OfferIndex(const Features& features, const cel::DeviceFeatures& cel,
                       std::shared_ptr<const RequestShape> shape, std::vector<PoolPtr> pools, uint64_t id,
                       uint64_t& budget)
    : features_(features), shape_(std::move(shape)), pools_(std::move(pools)), id_(id) {
  first_word_.push_back(0);
  for (const PoolPtr& pool : pools_) {
    first_word_.push_back(first_word_.back() + static_cast<uint32_t>((pool->devices.size() + 63) / 64));
    places_.emplace(&pool->state(), static_cast<uint32_t>(places_.size()));
  }
  candidates_.resize(first_word_.back());
  unknown_.resize(first_word_.back());
  listed_.resize(first_word_.back());
  counts_.resize(pools_.size());
  open_.resize((pools_.size() + 63) / 64);
  pool_versions_.resize(pools_.size());
  for (Location at; at.pool < pools_.size(); ++at.pool) {
    for (at.device = 0; at.device < pools_[at.pool]->devices.size(); ++at.device) {
      const Pool::Device& one = device(at);
      const std::optional<bool> matches = JudgeSelectors(*shape_, features_, cel, one, budget);
      const bool tolerated = !features_.device_taints || IsTolerated(one.object(), shape_->tolerations);
      const bool countable = features_.partitionable_devices || one.object().consumes_counters.empty();
      const uint64_t bit = uint64_t{1} << (at.device % 64);
      if (!matches || (*matches && tolerated && countable)) candidates_[WordOf(at)] |= bit;
      if (matches) continue;
      unknown_[WordOf(at)] |= bit;
      ++unknown_count_;
    }
  }
}

bool OfferIndex::CanBeHad(const Pool::Device& device, const Pool::Use& use, bool overdrawn,
                          const AllocatedDevices& allocated) const {
  const api::Device& object = device.object();
  const ConsumedCapacity* consumed = allocated.Consumed(device.id);
  const bool shared = features_.consumable_capacity && object.allow_multiple_allocations.value_or(false);
  // Of a device that is shared already the counters are paid for.
  if (!device.consumes.empty() && !(shared && consumed)) {
    if (overdrawn) return false;
    for (const Pool::Consumption& consumption : device.consumes) {
      if (use.available[consumption.counter] < consumption.amount) return false;
    }
  }
  if (!features_.consumable_capacity || (!shape_->capacity && object.capacity.empty())) return true;
  return CapacitySuffices(shape_->capacity ? &*shape_->capacity : nullptr, object, consumed, nullptr);
}

void OfferIndex::Look(const Location& at, const Pool::Use& use, bool overdrawn, const AllocatedDevices& allocated) {
  const Pool::Device& one = device(at);
  const bool listed = Bit(candidates_, at) && !allocated.IsDedicated(one.id) &&
                      (Bit(unknown_, at) || CanBeHad(one, use, overdrawn, allocated));
  if (listed == Bit(listed_, at)) return;
  listed_[WordOf(at)] ^= uint64_t{1} << (at.device % 64);
  after_.clear();
  counts_[at.pool] += listed ? 1 : -uint32_t{1};
  const uint64_t bit = uint64_t{1} << (at.pool % 64);
  uint64_t& word = open_[at.pool / 64];
  word = counts_[at.pool] > 0 ? word | bit : word & ~bit;
}

void OfferIndex::CatchUpPool(uint32_t pool, const AllocatedDevices& allocated) {
  const Pool& one = *pools_[pool];
  if (pool_versions_[pool] == one.state().version) return;
  const Pool::Use& use = one.UseOf(allocated);
  const bool overdrawn = std::ranges::any_of(use.available, [](const Pool::Amount& left) { return left < 0; });
  const auto look = [&](uint32_t device) { Look({pool, device}, use, overdrawn, allocated); };
  const auto look_at = [&](DeviceId id) { one.VisitPositions(id, look); };
  // What one device takes of the counters is missing to all others.
  const bool by_device = pool_versions_[pool] > 0 && one.counters.empty();
  if (!by_device || !one.state().changes.VisitSince(pool_versions_[pool], look_at)) {
    for (uint32_t device = 0; device < one.devices.size(); ++device) look(device);
  }
  pool_versions_[pool] = one.state().version;
}

void OfferIndex::CatchUp(const AllocatedDevices& allocated) {
  // Claims may name any attribute.
  constexpr size_t kMaxColumns = 32;
  if (columns_.size() > kMaxColumns) columns_.clear();
  if (version_ == allocated.version()) return;
  changed_pools_.clear();
  const auto note = [&](const AllocatedDevices::PoolState* pool) { changed_pools_.push_back(pool); };
  const bool known = version_ > 0 && allocated.VisitPoolsChangedSince(version_, note);
  if (known && changed_pools_.size() <= pools_.size()) {
    for (const AllocatedDevices::PoolState* pool : changed_pools_) {
      if (const auto place = places_.find(pool); place != places_.end()) CatchUpPool(place->second, allocated);
    }
  } else {
    for (uint32_t pool = 0; pool < pools_.size(); ++pool) CatchUpPool(pool, allocated);
  }
  version_ = allocated.version();
}

void OfferIndex::Learn(const Location& at, bool matches, const AllocatedDevices& allocated) {
  const Pool::Device& one = device(at);
  const bool wanted = matches && (!features_.device_taints || IsTolerated(one.object(), shape_->tolerations)) &&
                      (features_.partitionable_devices || one.object().consumes_counters.empty());
  const uint64_t bit = uint64_t{1} << (at.device % 64);
  unknown_[WordOf(at)] &= ~bit;
  --unknown_count_;
  if (!wanted) candidates_[WordOf(at)] &= ~bit;
  const Pool::Use& use = pools_[at.pool]->UseOf(allocated);
  const bool overdrawn = std::ranges::any_of(use.available, [](const Pool::Amount& left) { return left < 0; });
  Look(at, use, overdrawn, allocated);
}

std::optional<uint32_t> OfferIndex::NextIn(const Location& from) const {
  const size_t end = first_word_[from.pool + 1];
  size_t word = WordOf(from);
  if (word >= end) return std::nullopt;
  uint64_t bits = WordFrom(listed_[word], from.device);
  while (bits == 0) {
    if (++word == end) return std::nullopt;
    bits = listed_[word];
  }
  return static_cast<uint32_t>((word - first_word_[from.pool]) * 64 + static_cast<size_t>(std::countr_zero(bits)));
}

bool OfferIndex::Next(const Range& range, Location& at) const {
  const auto next_of = [](const std::vector<uint32_t>& list, uint32_t from) {
    const auto found = std::lower_bound(list.begin(), list.end(), from);
    return found == list.end() ? ~uint32_t{0} : *found;
  };
  for (;;) {
    uint32_t pool = at.pool;
    if (range.same) {
      pool = std::min(next_of(*range.same, pool), next_of(*range.mixed, pool));
    } else if (pool < pools_.size()) {
      size_t word = pool / 64;
      uint64_t bits = WordFrom(open_[word], pool);
      while (bits == 0 && ++word < open_.size()) bits = open_[word];
      pool = bits == 0 ? ~uint32_t{0} : static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
    }
    if (pool >= pools_.size()) return false;
    if (pool != at.pool) at = {pool, 0};
    if (const std::optional<uint32_t> device = NextIn(at)) {
      at.device = *device;
      return true;
    }
    at = {pool + 1, 0};
  }
}

size_t OfferIndex::CountIn(const Location& from) const {
  if (from.device == 0) return counts_[from.pool];
  const size_t end = first_word_[from.pool + 1];
  size_t word = WordOf(from);
  if (word >= end) return 0;
  size_t count = static_cast<size_t>(std::popcount(WordFrom(listed_[word], from.device)));
  while (++word < end) count += static_cast<size_t>(std::popcount(listed_[word]));
  return count;
}

size_t OfferIndex::CountFrom(const Range& range, const Location& at) {
  // Beyond this adding up takes longer than it may save.
  constexpr size_t kMaxPools = 64;
  if (at.pool >= pools_.size()) return 0;
  if (range.same && range.same->size() + range.mixed->size() <= kMaxPools) {
    size_t count = 0;
    for (const auto* list : {range.same, range.mixed}) {
      for (auto pool = std::lower_bound(list->begin(), list->end(), at.pool); pool != list->end(); ++pool) {
        count += *pool == at.pool ? CountIn(at) : counts_[*pool];
      }
    }
    return count;
  }
  if (after_.empty()) {
    after_.resize(pools_.size());
    for (size_t pool = pools_.size(); --pool > 0;) after_[pool - 1] = after_[pool] + counts_[pool];
  }
  return CountIn(at) + after_[at.pool];
}

OfferIndex::Column OfferIndex::MakeColumn(const std::string& attribute) const {
  Column column;
  for (uint32_t pool = 0; pool < pools_.size(); ++pool) {
    std::optional<std::string> value;
    bool mixed = false;
    for (uint32_t device = 0; device < pools_[pool]->devices.size() && !mixed; ++device) {
      const Location at{pool, device};
      if (!Bit(candidates_, at)) continue;
      const Pool::Device& one = this->device(at);
      const api::DeviceAttribute* found = FindAttribute(one.object(), one.slice->spec().driver, attribute);
      const std::optional<std::string> text = found ? ComparableText(*found) : std::nullopt;
      // A device without the attribute satisfies no constraint on it, so it may be passed over with any pool.
      mixed = Bit(unknown_, at) || (found && !text) || (text && value && *text != *value);
      if (text && !value) value = text;
    }
    if (mixed) {
      column.mixed.push_back(pool);
    } else if (value) {
      column.by_value[*value].push_back(pool);
    }
  }
  return column;
}

OfferIndex::Range OfferIndex::PoolsWith(const std::string& attribute, const api::DeviceAttribute& value) {
  static const std::vector<uint32_t> kNone;
  const std::optional<std::string> text = ComparableText(value);
  if (!text) return {};
  auto column = columns_.find(attribute);
  if (column == columns_.end()) column = columns_.emplace(attribute, MakeColumn(attribute)).first;
  const auto same = column->second.by_value.find(*text);
  return {same == column->second.by_value.end() ? &kNone : &same->second, &column->second.mixed};
}

}  // namespace berth::dra
