#include "engine/class_totals.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/vectorize.h"

namespace berth::engine {

using framework::NodeIndex;

namespace {

BERTH_VECTORIZE Peaks::Peak PeakOf(const int32_t* totals, const uint8_t* classes, uint8_t id) {
  int32_t highest = Peaks::kNone;
  for (size_t i = 0; i < Peaks::kSpan; ++i) {
    const int32_t total = classes[i] == id ? totals[i] : Peaks::kNone;
    highest = total > highest ? total : highest;
  }
  uint32_t ties = 0;
  for (size_t i = 0; i < Peaks::kSpan; ++i) ties += classes[i] == id && totals[i] == highest;
  return {highest, ties};
}

}  // namespace

void ClassTotals::Reset(size_t slots, size_t key_size) {
  blocks_ = 0;
  key_size_ = key_size;
  totals_.clear();
  class_of_.clear();
  classes_.clear();
  keys_.clear();
  table_.assign(kTableSize, kNoClass);
  Grow(slots);
}

void ClassTotals::Grow(size_t slots) {
  const size_t blocks = (slots + Peaks::kSpan - 1) / Peaks::kSpan;
  if (blocks <= blocks_) return;
  blocks_ = blocks;
  totals_.resize(blocks * Peaks::kSpan, Peaks::kNone);
  class_of_.resize(blocks * Peaks::kSpan, kNoClass);
  for (Class& one : classes_) one.peaks.Grow(blocks);
}

bool ClassTotals::HasKey(ClassId id, std::span<const int64_t> key) const {
  const int64_t* const mine = keys_.data() + id * key_size_;
  for (size_t i = 0; i < key_size_; ++i) {
    if (mine[i] != key[i]) return false;
  }
  return true;
}

// Where the class with this key is in the table, or would be inserted.
size_t ClassTotals::TablePlaceOf(std::span<const int64_t> key) const {
  uint64_t hash = 0;
  for (const int64_t number : key) hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
  size_t place = hash >> 32 & (kTableSize - 1);
  while (table_[place] != kNoClass && !HasKey(table_[place], key)) place = (place + 1) & (kTableSize - 1);
  return place;
}

ClassTotals::ClassId ClassTotals::ClassFor(std::span<const int64_t> key) {
  if (const ClassId known = table_[TablePlaceOf(key)]; known != kNoClass) return known;
  const ClassId id = FreeId();
  if (id == kNoClass) return kNoClass;
  std::ranges::copy(key, keys_.begin() + static_cast<std::ptrdiff_t>(id * key_size_));
  table_[TablePlaceOf(key)] = id;
  return id;
}

ClassTotals::ClassId ClassTotals::FreeId() {
  if (classes_.size() < kMostClasses) {
    classes_.emplace_back().peaks.Grow(blocks_);
    keys_.resize(classes_.size() * key_size_);
    return static_cast<ClassId>(classes_.size() - 1);
  }
  const auto empty = std::ranges::find(classes_, size_t{0}, &Class::nodes);
  if (empty == classes_.end()) return kNoClass;
  // An entry cannot be removed from an open-addressing table, so the table is rebuilt.
  const auto id = static_cast<ClassId>(empty - classes_.begin());
  std::ranges::fill(table_, kNoClass);
  for (size_t other = 0; other < classes_.size(); ++other) {
    const auto other_id = static_cast<ClassId>(other);
    if (other_id != id) table_[TablePlaceOf(this->key(other_id))] = other_id;
  }
  return id;
}

bool ClassTotals::Set(NodeIndex node, std::span<const int64_t> key, int32_t total) {
  CHECK(key.size() == key_size_);
  const ClassId before = class_of_[node];
  if (before != kNoClass && HasKey(before, key)) {
    SetTotal(node, total);
    return true;
  }
  Remove(node);
  const ClassId id = ClassFor(key);
  if (id == kNoClass) return false;
  Class& now = classes_[id];
  if (now.nodes++ == 0) now.example = node;
  now.peaks.Change(node, Peaks::kNone, total);
  totals_[node] = total;
  class_of_[node] = id;
  return true;
}

void ClassTotals::Remove(NodeIndex node) {
  const ClassId id = class_of_[node];
  if (id == kNoClass) return;
  Class& from = classes_[id];
  --from.nodes;
  from.peaks.Change(node, totals_[node], Peaks::kNone);
  totals_[node] = Peaks::kNone;
  class_of_[node] = kNoClass;
}

const Peaks::Peak& ClassTotals::Top(ClassId id) {
  return classes_[id].peaks.Top([&](size_t block) {
    const size_t begin = block * Peaks::kSpan;
    return PeakOf(totals_.data() + begin, class_of_.data() + begin, id);
  });
}

NodeIndex ClassTotals::AnyOf(ClassId id) {
  Class& from = classes_[id];
  CHECK(from.nodes != 0);
  if (class_of_[from.example] != id) from.example = Tie({&id, 1}, 0);
  return from.example;
}

NodeIndex ClassTotals::Tie(std::span<const ClassId> classes, size_t nth) {
  std::array<int32_t, kNoClass + 1> best;  // by class; nodes with this total are wanted
  best.fill(Peaks::kNone);
  for (const ClassId id : classes) best[id] = Top(id).highest;
  const auto skip = [&](auto&& peaks_of, size_t at) {
    for (;; ++at) {
      size_t here = 0;
      for (const ClassId id : classes) {
        const std::vector<Peaks::Peak>& peaks = peaks_of(classes_[id].peaks);
        CHECK(at < peaks.size());
        if (peaks[at].highest == best[id]) here += peaks[at].ties;
      }
      if (nth < here) return at;
      nth -= here;
    }
  };
  const size_t region = skip(
      [](const Peaks& peaks) -> const auto& { return peaks.regions(); }, 0);
  const size_t block = skip(
      [](const Peaks& peaks) -> const auto& { return peaks.blocks(); }, region* Peaks::kSpan);
  for (size_t node = block * Peaks::kSpan;; ++node) {
    if (class_of_[node] == kNoClass || best[class_of_[node]] == Peaks::kNone) continue;
    if (totals_[node] == best[class_of_[node]] && nth-- == 0) return static_cast<NodeIndex>(node);
  }
}

}  // namespace berth::engine
