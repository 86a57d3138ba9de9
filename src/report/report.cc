#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/table_cells.h"

namespace berth::report {

namespace {

// "; gpu.example.com: gpu-0, gpu-1"
std::string DevicesText(const sim::PodReport& pod) {
  std::string text;
  std::string_view driver;
  for (const sim::PodDevice& device : pod.devices) {
    text += device.driver == driver ? ", " : fmt::format("; {}: ", device.driver);
    text += device.device;
    driver = device.driver;
  }
  return text;
}

std::string Detail(const sim::PodReport& pod) {
  switch (pod.outcome) {
    case sim::PodOutcome::kScheduled:
      if (pod.preempting) return "its nominated node" + DevicesText(pod);
      return (pod.scored ? fmt::format("score {}, {} nodes feasible", pod.score, pod.feasible_nodes)
                         : "the only feasible node") +
             DevicesText(pod);
    case sim::PodOutcome::kPreempted:
      return fmt::format("made room for {}", pod.preempted_by);
    default:
      return pod.message;
  }
}

Tint TintOf(sim::PodOutcome outcome) {
  switch (outcome) {
    case sim::PodOutcome::kScheduled:
      return Tint::kGreen;
    case sim::PodOutcome::kPending:
      return Tint::kRed;
    case sim::PodOutcome::kGated:
      return Tint::kYellow;
    case sim::PodOutcome::kForeign:
      return Tint::kDim;
    case sim::PodOutcome::kPreempted:
      return Tint::kMagenta;
  }
  return Tint::kNone;
}

// "6 of 8 pods scheduled onto 5 nodes, 2 pending; 3 pods were bound before."
std::string Summary(const sim::SimulationReport& report) {
  std::string text = fmt::format("{} of {} scheduled onto {}", report.Count(sim::PodOutcome::kScheduled),
                                 Counted(report.pods.size(), "pod"), Counted(report.nodes, "node"));
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(report.Count(sim::PodOutcome::kPending), "pending");
  add(report.Count(sim::PodOutcome::kGated), "gated");
  add(report.Count(sim::PodOutcome::kForeign), "of other schedulers");
  add(report.preempted.size(), "preempted");
  if (!report.lost.empty()) text += fmt::format(", {} on nodes that the input lacks", report.lost.size());
  return text + fmt::format("; {} bound before.\n",
                            Counted(report.bound_before, "pod") + (report.bound_before == 1 ? " was" : " were"));
}

// "Rollout of Deployment shop/web: 3 of 3 pods are of the new template."
std::string RolloutText(const sim::RolloutReport& rollout) {
  const std::string kept =
      rollout.old_left == 0 ? "" : fmt::format("; it stands still, and {} of the old one stay", rollout.old_left);
  return fmt::format("Rollout of {}: {} of {} of the new template have a node{}.\n", Cell(rollout.workload),
                     rollout.updated, Counted(rollout.wanted, "pod"), kept);
}

// Pods that ran before and were preempted are not among the pending ones; they come last.
std::vector<const sim::PodReport*> RowsOf(const sim::SimulationReport& report) {
  std::vector<const sim::PodReport*> rows;
  std::set<std::string_view> listed;
  for (const sim::PodReport& pod : report.pods) {
    rows.push_back(&pod);
    listed.insert(pod.key);
  }
  for (const sim::PodReport& pod : report.preempted) {
    if (!listed.contains(pod.key)) rows.push_back(&pod);
  }
  return rows;
}

std::string PodTable(const sim::SimulationReport& report, const TableStyle& style) {
  const std::vector<const sim::PodReport*> rows = RowsOf(report);
  size_t pod_width = 3, node_width = 4, second_width = 9;
  for (const sim::PodReport* pod : rows) {
    pod_width = std::max(pod_width, pod->key.size());
    node_width = std::max(node_width, pod->node.size());
    second_width = std::max(second_width, pod->runner_up.size());
  }
  const auto second = [&](std::string_view node, std::string_view margin) {
    return style.wide ? fmt::format("{:<{}}  {:<6}  ", node, second_width, margin) : std::string();
  };
  const std::string header = fmt::format("{:<{}}  {:<{}}  {:<9}  {}{}", "POD", pod_width, "NODE", node_width, "OUTCOME",
                                         second("RUNNER-UP", "MARGIN"), "DETAIL");
  std::string table = Tinted(header, Tint::kBold, style) + "\n";
  for (const sim::PodReport* pod : rows) {
    const bool has_second = !pod->runner_up.empty();
    table += fmt::format(
        "{:<{}}  {:<{}}  {}  {}{}\n", Cell(pod->key), pod_width, OrDash(pod->node), node_width,
        Tinted(fmt::format("{:<9}", NameOf(pod->outcome)), TintOf(pod->outcome), style),
        second(OrDash(pod->runner_up), has_second ? fmt::format("{}", pod->score - pod->runner_up_score) : "-"),
        Cell(Detail(*pod)));
  }
  return table;
}

}  // namespace

std::string Tinted(std::string text, Tint tint, const TableStyle& style) {
  if (!style.color || tint == Tint::kNone) return text;
  constexpr std::string_view kCodes[] = {"", "1", "2", "31", "32", "33", "35"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(tint)], text);
}

std::string_view NameOf(sim::PodOutcome outcome) {
  switch (outcome) {
    case sim::PodOutcome::kScheduled:
      return "Scheduled";
    case sim::PodOutcome::kPending:
      return "Pending";
    case sim::PodOutcome::kGated:
      return "Gated";
    case sim::PodOutcome::kForeign:
      return "NotOurs";
    case sim::PodOutcome::kPreempted:
      return "Preempted";
  }
  return "Unknown";
}

std::string ToTable(const sim::SimulationReport& report, const TableStyle& style) {
  std::string text = PodTable(report, style) + "\n" + Summary(report);
  for (const sim::RolloutReport& rollout : report.rollouts) text += RolloutText(rollout);
  const std::string fullness = ToTable(report.utilisation, style);
  if (!fullness.empty()) text += "\n" + fullness;
  for (const explain::Explanation& explanation : report.explanations) text += "\n" + ToText(explanation, style);
  return text;
}

}  // namespace berth::report
