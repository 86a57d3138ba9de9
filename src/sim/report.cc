#include "sim/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/json_writer.h"

namespace berth::sim {

namespace {

std::string_view NameOf(PodOutcome outcome) {
  switch (outcome) {
    case PodOutcome::kScheduled:
      return "Scheduled";
    case PodOutcome::kPending:
      return "Pending";
    case PodOutcome::kGated:
      return "Gated";
    case PodOutcome::kForeign:
      return "NotOurs";
    case PodOutcome::kPreempted:
      return "Preempted";
  }
  return "Unknown";
}

std::string Detail(const PodReport& pod) {
  switch (pod.outcome) {
    case PodOutcome::kScheduled:
      if (pod.preempting) return "its nominated node";
      return pod.scored ? fmt::format("score {}, {} nodes feasible", pod.score, pod.feasible_nodes)
                        : "the only feasible node";
    case PodOutcome::kPreempted:
      return fmt::format("made room for {}", pod.preempted_by);
    default:
      return pod.message;
  }
}

std::string Counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

void WritePod(codec::JsonWriter& json, const PodReport& pod) {
  json.StartObject();
  const auto text = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    json.Key(key);
    json.String(value);
  };
  text("pod", pod.key);
  text("outcome", NameOf(pod.outcome));
  text("node", pod.node);
  text("message", pod.message);
  text("nominatedNode", pod.nominated_node);
  text("preemptedBy", pod.preempted_by);
  if (pod.outcome == PodOutcome::kScheduled) {
    json.Key("feasibleNodes");
    json.Uint64(pod.feasible_nodes);
    if (pod.scored) {
      json.Key("score");
      json.Int64(pod.score);
    }
  }
  json.EndObject();
}

// "6 of 8 pods scheduled onto 5 nodes, 2 pending; 3 pods were bound before."
std::string Summary(const SimulationReport& report) {
  std::string text = fmt::format("{} of {} scheduled onto {}", report.Count(PodOutcome::kScheduled),
                                 Counted(report.pods.size(), "pod"), Counted(report.nodes, "node"));
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(report.Count(PodOutcome::kPending), "pending");
  add(report.Count(PodOutcome::kGated), "gated");
  add(report.Count(PodOutcome::kForeign), "of other schedulers");
  add(report.preempted.size(), "preempted");
  return text + fmt::format("; {} bound before.\n",
                            Counted(report.bound_before, "pod") + (report.bound_before == 1 ? " was" : " were"));
}

}  // namespace

std::string ToTable(const SimulationReport& report) {
  std::vector<const PodReport*> rows;
  for (const PodReport& pod : report.pods) rows.push_back(&pod);
  // Pods that ran before and had to go are not among the pending ones; show them at the end.
  for (const PodReport& pod : report.preempted) {
    const bool listed = std::any_of(report.pods.begin(), report.pods.end(),
                                    [&](const PodReport& other) { return other.key == pod.key; });
    if (!listed) rows.push_back(&pod);
  }
  size_t pod_width = 3, node_width = 4;
  for (const PodReport* pod : rows) {
    pod_width = std::max(pod_width, pod->key.size());
    node_width = std::max(node_width, pod->node.size());
  }
  std::string table =
      fmt::format("{:<{}}  {:<{}}  {:<9}  {}\n", "POD", pod_width, "NODE", node_width, "OUTCOME", "DETAIL");
  for (const PodReport* pod : rows) {
    table += fmt::format("{:<{}}  {:<{}}  {:<9}  {}\n", pod->key, pod_width, OrDash(pod->node), node_width,
                         NameOf(pod->outcome), Detail(*pod));
  }
  return table + "\n" + Summary(report);
}

std::string ToJson(const SimulationReport& report) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  json.Key("apiVersion");
  json.String("berth.dev/v1");
  json.Key("kind");
  json.String("SimulationReport");
  json.Key("summary");
  json.StartObject();
  const auto count = [&](std::string_view key, size_t value) {
    json.Key(key);
    json.Uint64(value);
  };
  count("nodes", report.nodes);
  count("boundBefore", report.bound_before);
  count("scheduled", report.Count(PodOutcome::kScheduled));
  count("pending", report.Count(PodOutcome::kPending));
  count("gated", report.Count(PodOutcome::kGated));
  count("notOurs", report.Count(PodOutcome::kForeign));
  count("preempted", report.preempted.size());
  json.EndObject();
  json.Key("pods");
  json.StartArray();
  for (const PodReport& pod : report.pods) WritePod(json, pod);
  json.EndArray();
  json.Key("preempted");
  json.StartArray();
  for (const PodReport& pod : report.preempted) WritePod(json, pod);
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

}  // namespace berth::sim
