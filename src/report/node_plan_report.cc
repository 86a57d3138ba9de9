#include "report/node_plan_report.h"

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "report/json_texts.h"
#include "report/table_cells.h"

namespace berth::report {

std::string ToText(const sim::NodePlan& plan, const std::string& node_template, const std::string& what) {
  const sim::NodeTrial& left = plan.short_of;
  const std::string kind = Cell(node_template);
  const std::string wanted = Cell(what);
  if (plan.possible && plan.nodes == 0) return fmt::format("No more nodes are needed for {}.\n", wanted);
  std::string text =
      plan.possible
          ? fmt::format("{} more node(s) with {} are needed for {}.\n\nWith one less, ", plan.nodes, kind, wanted)
          : fmt::format("No number of nodes with {} is enough for {}.\n\nWith {} of them, ", kind, wanted, plan.nodes);
  return text + fmt::format("{} {} no place. {}: {}\n", left.unplaced, left.unplaced == 1 ? "has" : "have",
                            Cell(left.pod), Cell(left.message));
}

std::string ToJson(const sim::NodePlan& plan, const std::string& kind, const std::string& wanted) {
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
  WriteTexts(json, "warnings", plan.warnings);
  WriteTexts(json, "notes", plan.notes);
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::report
