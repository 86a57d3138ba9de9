// PinIndex: which of many selectors can match a set of labels, without trying each. A selector that requires one of a
// few values of some label (a volume's hostname, say) is found by that value; the others have to be tried.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/labels.h"
#include "api/selector.h"
#include "api/storage.h"
#include "base/symbol.h"

namespace berth::plugins {

// A selector can match only with one of these values.
struct Pin {
  Symbol key;
  std::vector<Symbol> values;
};

// Unset when no label is required in all cases.
std::optional<Pin> PinOf(const std::optional<api::VolumeNodeAffinity>& affinity);
std::optional<Pin> PinOf(const api::LabelSelector& selector);

class PinIndex {
 public:
  void Add(const std::optional<Pin>& pin, uint32_t id);

  // Calls visit(id) for every selector that may match, and for some that do not; in no particular order.
  template <class Visit>
  void ForEachNear(const api::Labels& labels, Visit&& visit) const {
    for (const auto& [key, by_value] : pinned_) {
      const Symbol* value = labels.Find(key);
      if (value == nullptr) continue;
      const auto found = by_value.find(*value);
      if (found == by_value.end()) continue;
      for (const uint32_t id : found->second) visit(id);
    }
    for (const uint32_t id : others_) visit(id);
  }

 private:
  std::unordered_map<Symbol, std::unordered_map<Symbol, std::vector<uint32_t>>> pinned_;  // by key, by value
  std::vector<uint32_t> others_;
};

}  // namespace berth::plugins
