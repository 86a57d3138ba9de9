#include "report/capacity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codec/json_writer.h"
#include "report/json_fields.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

std::string_view StopName(sim::CapacityStop stop) {
  switch (stop) {
    case sim::CapacityStop::kUnschedulable:
      return "Unschedulable";
    case sim::CapacityStop::kGated:
      return "SchedulingGated";
    case sim::CapacityStop::kForeign:
      return "NotOurs";
    case sim::CapacityStop::kRefused:
      return "QuotaExceeded";
    case sim::CapacityStop::kLimitReached:
      return "LimitReached";
  }
  return "Unknown";
}

std::string Requirements(const sim::CapacityReport::Share& share) {
  std::string text = fmt::format("{} pod requirements:\n", Cell(share.pod));
  const auto amount = [&](std::string_view name) {
    const api::Quantity* quantity = share.requests.Find(Symbol(name));
    return quantity ? quantity->ToString() : "0";
  };
  text += fmt::format("\t- CPU: {}\n\t- Memory: {}\n", amount("cpu"), amount("memory"));
  for (const auto& [name, quantity] : share.requests) {
    if (name.str() == "cpu" || name.str() == "memory" || quantity.IsZero()) continue;
    text += fmt::format("\t- {}: {}\n", Cell(name.str()), quantity.ToString());
  }
  std::vector<std::string> selector;
  for (const auto& [key, value] : share.node_selector) {
    selector.push_back(Cell(fmt::format("{}={}", key.str(), value.str())));
  }
  if (!selector.empty()) text += fmt::format("\t- NodeSelector: {}\n", fmt::join(selector, ","));
  return text + "\n";
}

// "3 web and 1 db"
std::string Ratio(const sim::CapacityReport& report) {
  std::string text;
  for (size_t i = 0; i < report.shares.size(); ++i) {
    if (i > 0) text += i + 1 == report.shares.size() ? " and " : ", ";
    text += fmt::format("{} {}", report.shares[i].per_round, Cell(report.shares[i].pod));
  }
  return text;
}

void WriteShare(codec::JsonWriter& json, const sim::CapacityReport::Share& share) {
  JsonFields fields(json);
  json.StartObject();
  fields.TextEvenIfEmpty("pod", share.key);
  fields.Count("perRound", share.per_round);
  fields.Count("instances", share.instances);
  json.Key("requests");
  json.StartObject();
  for (const auto& [name, quantity] : share.requests) {
    json.Key(name.str());
    json.String(quantity.ToString());
  }
  json.EndObject();
  if (!share.node_selector.empty()) {
    json.Key("nodeSelector");
    json.StartObject();
    for (const auto& [key, value] : share.node_selector) {
      json.Key(key.str());
      json.String(value.str());
    }
    json.EndObject();
  }
  json.Key("nodes");
  json.StartArray();
  for (const auto& [node, instances] : share.by_node) {
    json.StartObject();
    json.Key("node");
    json.String(node);
    json.Key("instances");
    json.Uint64(instances);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteStop(codec::JsonWriter& json, const sim::CapacityReport& report) {
  json.Key("termination");
  json.StartObject();
  json.Key("reason");
  json.String(StopName(report.stop));
  if (report.stop != sim::CapacityStop::kLimitReached) {
    json.Key("pod");
    json.String(report.shares[report.stopped_share].key);
  }
  json.Key("message");
  json.String(report.message);
  json.EndObject();
}

}  // namespace

std::string ToText(const sim::CapacityReport& report, bool verbose) {
  std::string text;
  if (verbose) {
    for (const sim::CapacityReport::Share& share : report.shares) text += Requirements(share);
  }
  for (const sim::CapacityReport::Share& share : report.shares) {
    text += fmt::format("The cluster can schedule {} instance(s) of the pod {}.\n", share.instances, Cell(share.pod));
  }
  const bool in_rounds = report.shares.size() > 1 || report.shares.front().per_round > 1;
  if (in_rounds) {
    text += fmt::format("\n{} complete round(s) of {}.", report.rounds, Ratio(report));
    if (report.stop != sim::CapacityStop::kLimitReached) {
      text += fmt::format(" The next {} has no place.", Cell(report.shares[report.stopped_share].pod));
    }
    text += '\n';
  }
  if (!report.preempted.empty()) text += fmt::format("\n{} pod(s) had to make room.\n", report.preempted.size());
  text += fmt::format("\nTermination reason: {}: {}\n", StopName(report.stop), Cell(report.message));
  if (verbose && report.instances() > 0) {
    text += "\nPod distribution among nodes:\n";
    for (const sim::CapacityReport::Share& share : report.shares) {
      text += Cell(share.pod) + "\n";
      for (const auto& [node, instances] : share.by_node) {
        text += fmt::format("\t- {}: {} instance(s)\n", Cell(node), instances);
      }
    }
  }
  return text;
}

std::string ToJson(const sim::CapacityReport& report) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  JsonFields fields(json);
  json.StartObject();
  fields.Text("apiVersion", "berth.dev/v1");
  fields.Text("kind", "CapacityReport");
  fields.Count("instances", report.instances());
  fields.Count("rounds", report.rounds);
  WriteStop(json, report);
  fields.List("pods", report.shares, [&](const sim::CapacityReport::Share& share) { WriteShare(json, share); });
  fields.List("preempted", report.preempted, [&](const sim::PodReport& pod) {
    json.StartObject();
    fields.TextEvenIfEmpty("pod", pod.key);
    fields.TextEvenIfEmpty("node", pod.node);
    json.EndObject();
  });
  fields.Texts("warnings", report.warnings);
  fields.Texts("notes", report.notes);
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::report
