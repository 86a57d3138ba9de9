#include "report/node_plan_report.h"

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "report/json_fields.h"
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
  JsonFields fields(json);
  json.StartObject();
  fields.Text("apiVersion", "berth.dev/v1");
  fields.Text("kind", "NodePlan");
  fields.TextEvenIfEmpty("nodeTemplate", kind);
  fields.TextEvenIfEmpty("wanted", wanted);
  fields.Flag("possible", plan.possible);
  fields.Count("nodes", plan.nodes);
  if (plan.short_of.unplaced > 0) {
    json.Key("shortOf");
    json.StartObject();
    fields.Count("nodes", plan.possible ? plan.nodes - 1 : plan.nodes);
    fields.Count("unplaced", plan.short_of.unplaced);
    fields.TextEvenIfEmpty("pod", plan.short_of.pod);
    fields.TextEvenIfEmpty("message", plan.short_of.message);
    json.EndObject();
  }
  fields.Texts("warnings", plan.warnings);
  fields.Texts("notes", plan.notes);
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::report
