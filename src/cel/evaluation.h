// Evaluation: the state of one run of a program: memory, loop variables, and the cost so far.
//
// Cost is counted as upstream's cost tracker counts it, quirks included. That one keeps a stack of the values of
// evaluated nodes, looks arguments up there by node id, and drops everything above them; so a node that was skipped may
// find the value of an earlier iteration of a loop. The same stack is kept here, with an index by id so that a lookup
// does not search.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cel/arena.h"
#include "cel/value.h"

namespace berth::cel {

class DeviceInput;
class FoldNode;

inline constexpr uint64_t kCostLimit = 1000000;

// One running loop.
struct Frame {
  const FoldNode* fold = nullptr;
  Value accumulator;
  Value first;
  Value second;
  bool initialized = false;
  bool mutable_accumulator = false;
};

struct KeyLess {
  bool operator()(const Value& a, const Value& b) const { return CompareKeys(a, b) < 0; }
};
using KeyedValues = std::map<Value, Value, KeyLess>;

class Evaluation {
 public:
  Evaluation() : arena_(kMaxBytes) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Before each run: makes room for the node ids and loops of the program.
  void Begin(int max_id, int folds, const Value& variable);

  Arena& arena() { return arena_; }
  uint64_t cost() const { return cost_; }
  const Value& variable() const { return variable_; }
  Frame*& frame(int fold) { return frames_[static_cast<size_t>(fold)]; }

  void AddCost(uint64_t cost) { cost_ += cost; }
  // Ends the observation of a node: its value is on the stack from now on.
  void Push(int id, const Value& value) {
    const int position = static_cast<int>(stack_.size());
    int& head = heads_[static_cast<size_t>(id)];
    stack_.push_back({value, id, head});
    head = position;
    if (cost_ > kCostLimit) throw Cancelled{kCostLimitExceeded};
  }
  void Drop(int id) {
    const int position = heads_[static_cast<size_t>(id)];
    if (position >= 0) Truncate(static_cast<size_t>(position));
  }
  // Removes the values of the arguments from the stack, the last first. False if one of them is missing.
  bool DropArguments(std::span<const int> ids, Value* values);

  // Counts work that upstream does not count, so that no single call can run forever.
  void Work(uint64_t steps) {
    work_ += steps;
    if (work_ > kMaxWork) throw Cancelled{kCostLimitExceeded};
  }

  KeyedValues* NewKeyedValues() { return keyed_.emplace_back(std::make_unique<KeyedValues>()).get(); }

 private:
  // Far above what the cost limit allows a reasonable expression; upstream has no such limits and would run out of
  // memory or time.
  static constexpr size_t kMaxBytes = size_t{256} << 20;
  static constexpr uint64_t kMaxWork = 100000000;

  struct Entry {
    Value value;
    int id;
    int previous;  // position of the entry below with the same id
  };
  void Truncate(size_t size) {
    while (stack_.size() > size) {
      heads_[static_cast<size_t>(stack_.back().id)] = stack_.back().previous;
      stack_.pop_back();
    }
  }

  Arena arena_;
  Value variable_;
  uint64_t cost_ = 0;
  uint64_t work_ = 0;
  std::vector<Entry> stack_;
  std::vector<int> heads_;
  std::vector<Frame*> frames_;
  std::vector<std::unique_ptr<KeyedValues>> keyed_;
};

// Ends an evaluation where upstream panics: "internal error: …".
[[noreturn]] void Panic(Evaluation& evaluation, std::string_view text);

}  // namespace berth::cel
