#include "sim/node_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/json_writer.h"

namespace berth::sim {

Result<NodePlan> PlanNodes(const std::function<Result<NodeTrial>(size_t nodes)>& trial, size_t limit) {
  size_t too_few = 0;  // was tried, and will not do
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

std::string ToText(const NodePlan& plan, const std::string& kind, const std::string& wanted) {
  const NodeTrial& left = plan.short_of;
  if (plan.possible && plan.nodes == 0) return fmt::format("No more nodes are needed for {}.\n", wanted);
  std::string text =
      plan.possible
          ? fmt::format("{} more node(s) with {} are needed for {}.\n\nWith one less, ", plan.nodes, kind, wanted)
          : fmt::format("No number of nodes with {} is enough for {}.\n\nWith {} of them, ", kind, wanted, plan.nodes);
  return text + fmt::format("{} have no place. {}: {}\n", left.unplaced, left.pod, left.message);
}

std::string ToJson(const NodePlan& plan, const std::string& kind, const std::string& wanted) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  const auto text = [&](std::string_view key, std::string_view value) {
    json.Key(key);
    json.String(value);
  };
  json.StartObject();
  text("apiVersion", "berth.dev/v1");
  text("kind", "NodePlan");
  text("nodeTemplate", kind);
  text("wanted", wanted);
  json.Key("possible");
  json.Bool(plan.possible);
  json.Key("nodes");
  json.Uint64(plan.nodes);
  if (plan.short_of.unplaced > 0) {
    json.Key("shortOf");
    json.StartObject();
    json.Key("nodes");
    json.Uint64(plan.possible ? plan.nodes - 1 : plan.nodes);
    json.Key("unplaced");
    json.Uint64(plan.short_of.unplaced);
    text("pod", plan.short_of.pod);
    text("message", plan.short_of.message);
    json.EndObject();
  }
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::sim
