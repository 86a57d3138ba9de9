// How many nodes of a kind a workload needs in addition to the existing ones: the smallest number with which all of it
// fits, found by trial.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"

namespace berth::sim {

// The result of a run with that many new nodes.
struct NodeTrial {
  size_t unplaced = 0;  // 0: everything fits
  std::string pod;      // the first pod without a node
  std::string message;  // why, in upstream's words
};

struct NodePlan {
  bool possible = false;
  size_t nodes = 0;  // the smallest number that is enough; when none is, the largest that was tried
  // What was left with one node less, or with that largest number. Empty when no node is needed.
  NodeTrial short_of;
  std::vector<std::string> warnings;  // of reading the input
  std::vector<std::string> notes;
};

// Doubles until everything fits, then bisects: the answer was tried and is enough, and one less was tried and is not.
// Gives up at `limit`. Assumes that more nodes are never worse, which holds except for rare tie-breaks.
Result<NodePlan> PlanNodes(const std::function<Result<NodeTrial>(size_t nodes)>& trial, size_t limit);

}  // namespace berth::sim
