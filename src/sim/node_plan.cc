#include "sim/node_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::sim {

Result<NodePlan> PlanNodes(const std::function<Result<NodeTrial>(size_t nodes)>& trial, size_t limit) {
  size_t too_few = 0;  // tried and not enough
  Result<NodeTrial> tried = trial(0);
  if (!tried) return tried.error();
  NodePlan plan{.possible = tried->unplaced == 0};
  if (plan.possible) return plan;
  plan.short_of = std::move(*tried);
  for (size_t nodes = 1; !plan.possible && too_few < limit; nodes *= 2) {
    nodes = std::min(nodes, limit);
    tried = trial(nodes);
    if (!tried) return tried.error();
    plan.nodes = nodes;
    plan.possible = tried->unplaced == 0;
    if (plan.possible) break;
    too_few = nodes;
    plan.short_of = std::move(*tried);
  }
  while (plan.possible && plan.nodes - too_few > 1) {
    const size_t middle = too_few + (plan.nodes - too_few) / 2;
    tried = trial(middle);
    if (!tried) return tried.error();
    if (tried->unplaced == 0) {
      plan.nodes = middle;
    } else {
      too_few = middle;
      plan.short_of = std::move(*tried);
    }
  }
  return plan;
}

}  // namespace berth::sim
