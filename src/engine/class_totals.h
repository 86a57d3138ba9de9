// ClassTotals: nodes grouped into classes, each node with a total; for each class, the highest total and the nodes that
// have it.
//
// A class is identified by a key, a few numbers; nodes with equal keys are in one class. A node may change its class
// along with its total. The best of several classes is then found without looking at nodes; what the caller adds to all
// totals of a class is not stored here. Each class has its own Peaks over one shared array of totals, so that the best
// nodes of several classes can be enumerated in index order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/peaks.h"
#include "framework/node_info.h"

namespace berth::engine {

class ClassTotals {
 public:
  using ClassId = uint8_t;
  // Peaks take an eighth of a byte per node and class, and comparing classes looks at all of them.
  static constexpr size_t kMostClasses = 128;

  // Drops everything. Keys are `key_size` numbers long.
  void Reset(size_t slots, size_t key_size);
  // Makes room for more nodes.
  void Grow(size_t slots);

  // Adds the node, or changes its class and total. False, with the node in no class, when there would be too many
  // classes.
  bool Set(framework::NodeIndex node, std::span<const int64_t> key, int32_t total);
  void Remove(framework::NodeIndex node);
  // For a node that stays in its class.
  void SetTotal(framework::NodeIndex node, int32_t total) {
    if (totals_[node] == total) return;
    classes_[class_of_[node]].peaks.Change(node, totals_[node], total);
    totals_[node] = total;
  }
  void Prefetch(framework::NodeIndex node) const {
    __builtin_prefetch(&totals_[node]);
    __builtin_prefetch(&class_of_[node]);
  }

  // Ids are below this; a class may have no nodes left.
  size_t classes() const { return classes_.size(); }
  size_t nodes(ClassId id) const { return classes_[id].nodes; }
  std::span<const int64_t> key(ClassId id) const {
    return std::span<const int64_t>(keys_).subspan(id * key_size_, key_size_);
  }
  // For a class that has nodes: any of them, the highest total, and how many nodes have it.
  framework::NodeIndex AnyOf(ClassId id);
  int32_t highest(ClassId id) { return Top(id).highest; }
  size_t ties(ClassId id) { return Top(id).ties; }
  // The nth, in index order, of the nodes that have the highest total of their class, over these classes.
  framework::NodeIndex Tie(std::span<const ClassId> classes, size_t nth);

  // kNoClass for a node that is in none.
  static constexpr ClassId kNoClass = 255;
  ClassId class_of(framework::NodeIndex node) const { return class_of_[node]; }

 private:
  struct Class {
    size_t nodes = 0;
    framework::NodeIndex example = 0;  // one of its nodes, if still in the class
    Peaks peaks;
  };
  static constexpr size_t kTableSize = 4 * kMostClasses;

  const Peaks::Peak& Top(ClassId id);
  // The class with this key, created if needed; kNoClass when there are too many.
  ClassId ClassFor(std::span<const int64_t> key);
  size_t TablePlaceOf(std::span<const int64_t> key) const;
  bool HasKey(ClassId id, std::span<const int64_t> key) const;
  // An id for a new class: a fresh one or, when there are too many, that of a class without nodes.
  ClassId FreeId();

  size_t blocks_ = 0;
  size_t key_size_ = 0;
  std::vector<int32_t> totals_;    // by node index, up to a whole number of blocks
  std::vector<ClassId> class_of_;  // likewise
  std::vector<Class> classes_;     // by id
  std::vector<int64_t> keys_;      // by id, key_size_ numbers each
  std::vector<ClassId> table_;     // ids by hash of their key, open addressing
};

}  // namespace berth::engine
