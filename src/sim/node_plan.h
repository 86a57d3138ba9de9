// How many nodes of a kind a workload needs besides those that are there: the smallest number with which all of it has
// a place, found by trying.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"

namespace berth::sim {

// What a run with so many new nodes came to.
struct NodeTrial {
  size_t unplaced = 0;  // 0: everything has a place
  std::string pod;      // the first that has none
  std::string message;  // why, in upstream's words
};

struct NodePlan {
  bool possible = false;
  size_t nodes = 0;  // the smallest number that will do; when none does, the largest that was tried
  // What was left with one node less, or with that largest number. Empty when no node is needed.
  NodeTrial short_of;
  std::vector<std::string> warnings;  // of reading the input
  std::vector<std::string> notes;
};

// Grows until everything has a place, then bisects: the answer was tried and will do, and one less was tried and will
// not. `limit` is where it gives up. More nodes are taken to be never worse, as they are but for rare tie-breaks.
Result<NodePlan> PlanNodes(const std::function<Result<NodeTrial>(size_t nodes)>& trial, size_t limit);

}  // namespace berth::sim
