// How nodes differ for plugins that answer by topology domain. Nodes that agree in every trait get the same verdict and
// the same raw score, so that one of them can be asked on behalf of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_columns.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"

namespace berth::framework {

// One number per node, found by its index.
struct NodeTrait {
  enum class Kind : uint8_t {
    kNumber,    // numbers[node]
    kPresence,  // whether numbers[node] is not LabelColumn::kAbsent
    kEntry,     // entries[numbers[node] + 1]
    kMark,      // marks[numbers[node] + 1]
  };
  Kind kind = Kind::kNumber;
  // Traits of equal kind and tag mean the same from one cycle to the next: the address of a label column, or a small
  // number of the plugin's own.
  uint64_t tag = 0;
  const int32_t* numbers = nullptr;
  const int64_t* entries = nullptr;
  const uint8_t* marks = nullptr;

  static NodeTrait Number(uint64_t tag, const std::vector<int32_t>& numbers) {
    return {Kind::kNumber, tag, numbers.data(), nullptr, nullptr};
  }
  static NodeTrait DomainOf(const LabelColumn& column) { return Number(TagOf(column), column.value_id); }
  static NodeTrait PresenceOf(const LabelColumn& column) {
    return {Kind::kPresence, TagOf(column), column.value_id.data(), nullptr, nullptr};
  }
  // For columns in which no two nodes share a value: what is known about the node's domain, instead of which domain it
  // is.
  static NodeTrait EntryOf(const LabelColumn& column, const int64_t* entries) {
    return {Kind::kEntry, TagOf(column), column.value_id.data(), entries, nullptr};
  }
  static NodeTrait MarkOf(const LabelColumn& column, const uint8_t* marks) {
    return {Kind::kMark, TagOf(column), column.value_id.data(), nullptr, marks};
  }

  int64_t Of(NodeIndex node) const {
    const int32_t number = numbers[node];
    switch (kind) {
      case Kind::kNumber:
        return number;
      case Kind::kPresence:
        return number != LabelColumn::kAbsent;
      case Kind::kEntry:
        return entries[number + 1];
      case Kind::kMark:
        return marks[number + 1];
    }
    return 0;
  }
  bool MeansTheSameAs(const NodeTrait& other) const { return kind == other.kind && tag == other.tag; }

 private:
  static uint64_t TagOf(const LabelColumn& column) { return reinterpret_cast<uintptr_t>(&column); }
};

// Feasible nodes that agree in every trait.
struct NodeClass {
  NodeIndex any = 0;  // one of them
  size_t nodes = 0;
};

// For plugins with IncrementalState. While Node objects do not change, the traits of a node change only when pods are
// added to that node or removed from it.
class TellsNodesApart {
 public:
  virtual ~TellsNodesApart() = default;
  // Appends the traits that Filter (Score) depends on, according to `state`; valid until it changes. False: Filter
  // (Score) depends on more than traits.
  virtual bool FilterTraits(const CycleState& state, std::vector<NodeTrait>& traits) const = 0;
  virtual bool ScoreTraits(const CycleState& state, std::vector<NodeTrait>& traits) const = 0;
  // As IncrementalState::ChooseAmong. Afterwards ScoreList is valid for these nodes only.
  virtual bool ChooseAmongClasses(CycleState&, const PodInfo&, std::span<const NodeClass> /*feasible*/) const {
    return false;
  }
  // As ScorePlugin::NormalizeRange, with one node of each class, all feasible.
  virtual bool NormalizeClasses(const CycleState& state, const PodInfo& pod, std::span<const NodeIndex> nodes,
                                std::span<const int64_t> scores, std::span<uint8_t> points) const = 0;
};

}  // namespace berth::framework
