#include "plugins/volume_binding/pin_index.h"

#include <algorithm>

namespace berth::plugins {
namespace {

const Symbol& Hostname() {
  static const Symbol key("kubernetes.io/hostname");
  return key;
}

const api::NodeSelectorRequirement* FindIn(const api::NodeSelectorTerm& term, const Symbol& key) {
  for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
    if (requirement.op == "In" && requirement.key == key) return &requirement;
  }
  return nullptr;
}

// The values of `key`, if every term requires one of a few.
std::optional<Pin> PinOn(const Symbol& key, const std::vector<api::NodeSelectorTerm>& terms) {
  Pin pin{key, {}};
  for (const api::NodeSelectorTerm& term : terms) {
    const api::NodeSelectorRequirement* found = FindIn(term, key);
    if (found == nullptr) return std::nullopt;
    pin.values.insert(pin.values.end(), found->values.begin(), found->values.end());
  }
  std::sort(pin.values.begin(), pin.values.end());
  pin.values.erase(std::unique(pin.values.begin(), pin.values.end()), pin.values.end());
  return pin;
}

}  // namespace

std::optional<Pin> PinOf(const std::optional<api::VolumeNodeAffinity>& affinity) {
  if (!affinity || !affinity->required || affinity->required->node_selector_terms.empty()) return std::nullopt;
  const std::vector<api::NodeSelectorTerm>& terms = affinity->required->node_selector_terms;
  if (std::optional<Pin> pin = PinOn(Hostname(), terms)) return pin;
  for (const api::NodeSelectorRequirement& requirement : terms.front().match_expressions) {
    if (requirement.op != "In") continue;
    if (std::optional<Pin> pin = PinOn(requirement.key, terms)) return pin;
  }
  return std::nullopt;
}

std::optional<Pin> PinOf(const api::LabelSelector& selector) {
  if (const Symbol* host = selector.match_labels.Find(Hostname())) return Pin{Hostname(), {*host}};
  for (const auto& [key, value] : selector.match_labels) return Pin{key, {value}};
  for (const api::LabelSelectorRequirement& requirement : selector.match_expressions) {
    if (requirement.op == "In") return Pin{requirement.key, requirement.values};
  }
  return std::nullopt;
}

void PinIndex::Add(const std::optional<Pin>& pin, uint32_t id) {
  if (!pin) return others_.push_back(id);
  for (const Symbol& value : pin->values) {
    std::vector<uint32_t>& ids = pinned_[pin->key][value];
    if (ids.empty() || ids.back() != id) ids.push_back(id);  // a value may be written twice
  }
}

}  // namespace berth::plugins
