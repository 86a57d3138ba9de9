#include "report/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codec/json_writer.h"
#include "report/json_fields.h"
#include "report/table_cells.h"

namespace berth::report {
namespace {

std::string PodTable(const std::vector<sim::PodDifference>& differences) {
  size_t pod = 3, before = 6, after = 5;
  for (const sim::PodDifference& difference : differences) {
    pod = std::max(pod, difference.pod.size());
    before = std::max(before, difference.node_before.size());
    after = std::max(after, difference.node_after.size());
  }
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d,
                        std::string_view e) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<9}  {}", a, pod, b, before, c, after, d, e);
    text.resize(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string table = line("POD", "BEFORE", "AFTER", "CHANGE", "DETAIL");
  for (const sim::PodDifference& difference : differences) {
    const std::string was = difference.replaces.empty() ? "" : fmt::format("was {}", difference.replaces);
    const std::string_view between = was.empty() || difference.detail.empty() ? "" : "; ";
    table += line(Cell(difference.pod), OrDash(difference.node_before), OrDash(difference.node_after),
                  NameOf(difference.change), Cell(was + std::string(between) + difference.detail));
  }
  return table;
}

std::string BalanceTable(const sim::Comparison& comparison) {
  size_t width = 8;
  for (const sim::Balance& balance : comparison.before.balance) width = std::max(width, balance.resource.size());
  for (const sim::Balance& balance : comparison.after.balance) width = std::max(width, balance.resource.size());
  std::string table = fmt::format("{:<{}}          TOTAL  LOWEST  MEDIAN  HIGHEST  STDDEV\n", "RESOURCE", width);
  const auto line = [&](std::string_view resource, std::string_view side, const sim::Balance& balance) {
    table += fmt::format("{:<{}}  {:<6}  {:>5}  {:>6}  {:>6}  {:>7}  {:>5.1f}%\n", resource, width, side,
                         Percent(balance.total), Percent(balance.lowest), Percent(balance.median),
                         Percent(balance.highest), balance.deviation * 100);
  };
  for (const sim::Balance& balance : comparison.before.balance) {
    line(Cell(balance.resource), "before", balance);
    for (const sim::Balance& other : comparison.after.balance) {
      if (other.resource == balance.resource) line("", "after", other);
    }
  }
  for (const sim::Balance& balance : comparison.after.balance) {
    const auto same = [&](const sim::Balance& other) { return other.resource == balance.resource; };
    const std::vector<sim::Balance>& known = comparison.before.balance;
    if (std::none_of(known.begin(), known.end(), same)) line(balance.resource, "after", balance);
  }
  return table;
}

std::string ZoneText(std::string_view name, const sim::ComparisonSide& side) {
  std::string text;
  for (const sim::ZoneUse& zone : side.zones) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", zone.zone.empty() ? "no zone" : Cell(zone.zone), zone.pods);
  }
  return fmt::format("  {:<6}  {}; skew {}\n", name, text, side.zone_skew);
}

// "2 of 14 pods change: 1 moved, 1 pending."
std::string Summary(const sim::Comparison& comparison) {
  if (!comparison.changed()) {
    return fmt::format("No difference: {} end{} up the same.\n", Counted(comparison.compared, "pod"),
                       comparison.compared == 1 ? "s" : "");
  }
  std::string text;
  for (const sim::PodChange change :
       {sim::PodChange::kMoved, sim::PodChange::kPlaced, sim::PodChange::kPending, sim::PodChange::kPreempted,
        sim::PodChange::kHeld, sim::PodChange::kReason, sim::PodChange::kAdded, sim::PodChange::kRemoved}) {
    const size_t count = comparison.Count(change);
    if (count == 0) continue;
    std::string name(NameOf(change));
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                        change == sim::PodChange::kReason ? "for another reason" : name);
  }
  return fmt::format("{} of {} differ{}: {}.\n", comparison.differences.size(), Counted(comparison.compared, "pod"),
                     comparison.compared == 1 ? "s" : "", text);
}

void WriteSide(codec::JsonWriter& json, std::string_view key, const sim::ComparisonSide& side) {
  JsonFields fields(json);
  const auto share = [&](std::string_view name, double value) {
    json.Key(name);
    json.Double(std::round(value * 1e6) / 1e6);
  };
  json.Key(key);
  json.StartObject();
  fields.TextEvenIfEmpty("source", side.name);
  fields.Count("nodes", side.nodes);
  fields.Count("placed", side.placed);
  fields.Count("pending", side.pending);
  fields.Count("preempted", side.preempted);
  fields.List("balance", side.balance, [&](const sim::Balance& balance) {
    json.StartObject();
    fields.TextEvenIfEmpty("resource", balance.resource);
    share("total", balance.total);
    share("lowest", balance.lowest);
    share("median", balance.median);
    share("highest", balance.highest);
    share("standardDeviation", balance.deviation);
    json.EndObject();
  });
  fields.List("zones", side.zones, [&](const sim::ZoneUse& zone) {
    json.StartObject();
    fields.TextEvenIfEmpty("zone", zone.zone);
    fields.Count("nodes", zone.nodes);
    fields.Count("pods", zone.pods);
    json.EndObject();
  });
  fields.Count("zoneSkew", side.zone_skew);
  fields.Texts("warnings", side.warnings);
  fields.Texts("notes", side.notes);
  json.EndObject();
}

void WriteDifference(codec::JsonWriter& json, const sim::PodDifference& difference) {
  JsonFields fields(json);
  json.StartObject();
  fields.Text("pod", difference.pod);
  fields.Text("owner", difference.owner);
  fields.Text("replaces", difference.replaces);
  fields.Text("change", NameOf(difference.change));
  fields.Text("nodeBefore", difference.node_before);
  fields.Text("nodeAfter", difference.node_after);
  fields.Text("detail", difference.detail);
  json.EndObject();
}

}  // namespace

std::string ToTable(const sim::Comparison& comparison) {
  std::string text =
      fmt::format("before: {}\nafter:  {}\n\n", Cell(comparison.before.name), Cell(comparison.after.name));
  if (comparison.changed()) text += PodTable(comparison.differences) + "\n";
  text += BalanceTable(comparison) + "\n";
  if (!comparison.before.zones.empty() || !comparison.after.zones.empty()) {
    text += "Pods in each zone:\n" + ZoneText("before", comparison.before) + ZoneText("after", comparison.after) + "\n";
  }
  return text + Summary(comparison);
}

std::string ToJson(const sim::Comparison& comparison) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  JsonFields fields(json);
  fields.Text("apiVersion", "berth.dev/v1");
  fields.Text("kind", "ComparisonReport");
  fields.Count("compared", comparison.compared);
  WriteSide(json, "before", comparison.before);
  WriteSide(json, "after", comparison.after);
  fields.List("differences", comparison.differences,
              [&](const sim::PodDifference& difference) { WriteDifference(json, difference); });
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::report
