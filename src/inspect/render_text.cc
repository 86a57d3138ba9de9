#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/time.h"
#include "framework/amount_text.h"
#include "inspect/render.h"
#include "report/report.h"
#include "report/table_cells.h"

namespace berth::inspect {

using report::Cell;
using report::OrDash;

namespace {

constexpr size_t kBestShown = 10;

std::string Ago(base::Time then, base::Time now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - then);
  return api::FormatDuration(std::max<base::Duration>(seconds, std::chrono::seconds(0))) + " ago";
}

// To a tenth of a second.
std::string Left(base::Duration left) {
  return api::FormatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(left) / 100 * 100);
}

// Columns as wide as needed; the last one is not padded.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string Text(std::string_view indent = "") const {
    std::vector<size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      text += indent;
      for (size_t i = 0; i < row.size(); ++i) {
        text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
      }
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string Plugins(const std::vector<std::string>& rejecting, const std::vector<std::string>& pending) {
  std::vector<std::string> names;
  for (const std::string& name : rejecting) names.push_back(Cell(name));
  for (const std::string& name : pending) names.push_back(Cell(name) + " (pending)");
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

std::string OutcomeText(const scheduler::AttemptRecord& attempt) {
  if (attempt.ending != scheduler::Ending::kBound) return Cell(attempt.message);
  std::string text = "to " + Cell(attempt.node);
  if (attempt.nominated) return text + ", its nominated node";
  if (!attempt.score) return text + ", the only feasible node";
  text += fmt::format(", score {}, {} of {} nodes feasible", *attempt.score, attempt.feasible, attempt.nodes);
  if (attempt.ties > 1) text += fmt::format(", {} equally good", attempt.ties);
  return text;
}

std::string PreemptionText(const scheduler::AttemptRecord& attempt) {
  if (attempt.nominated_node.empty()) return "";
  std::vector<std::string> victims;
  for (const scheduler::AttemptRecord::Victim& victim : attempt.victims) {
    victims.push_back(fmt::format("{} (priority {})", Cell(victim.pod), victim.priority));
  }
  if (attempt.victim_count > victims.size()) {
    victims.push_back(fmt::format("{} more", attempt.victim_count - victims.size()));
  }
  return fmt::format("      preempted on {}: {}\n", Cell(attempt.nominated_node), fmt::join(victims, ", "));
}

std::string AttemptsText(const PodView& view) {
  if (view.attempts.empty()) return "No attempt to schedule it is on record.\n";
  std::string text = "Attempts, newest first:\n";
  for (const scheduler::AttemptRecord& attempt : view.attempts) {
    text += fmt::format("  #{} {} {}: {}\n", attempt.number, Ago(attempt.ended, view.at), NameOf(attempt.ending),
                        OutcomeText(attempt));
    if (attempt.uid != view.uid)
      text += fmt::format("      of an earlier pod of that name, UID {}\n", Cell(attempt.uid));
    text += PreemptionText(attempt);
  }
  return text;
}

std::string PlaceText(const PodView& view) {
  switch (view.place) {
    case PodPlace::kPlaced:
      return fmt::format("is on {}", Cell(view.node));
    case PodPlace::kBinding:
      return fmt::format("is being bound to {}", Cell(view.node));
    case PodPlace::kWaiting:
      return fmt::format("waits for permission to be bound to {}", Cell(view.node));
    case PodPlace::kGone:
      return "is gone";
    case PodPlace::kActive:
      return "is ready to be tried";
    case PodPlace::kScheduling:
      return "is being tried";
    case PodPlace::kGated:
      return fmt::format("is held back by {}", Cell(view.pending->gating_plugin));
    case PodPlace::kBackoff:
      return "failed and waits for its backoff";
    case PodPlace::kUnschedulable:
      return "is unschedulable";
  }
  return "";
}

std::string WakeUpsText(const PodView& view) {
  std::string text;
  for (const WakeUp& wake_up : view.wake_ups) {
    text += fmt::format("  {}: {}\n", Cell(wake_up.plugin), fmt::join(wake_up.events, ", "));
  }
  return text.empty() ? text : "Events that would have it tried again, by the plugin that rejected it:\n" + text;
}

// The best nodes, with each plugin's score for them.
std::string ScoresText(const explain::Explanation& told) {
  const explain::Explanation best = Trimmed(told, kBestShown);
  std::vector<std::string> head = {"NODE", "TOTAL"};
  for (const explain::WeightedPlugin& plugin : told.score_plugins) head.push_back(Cell(plugin.name));
  Table table(std::move(head));
  for (const explain::NodeVerdict& node : best.nodes) {
    if (!node.feasible()) break;
    std::vector<std::string> row = {Cell(node.node), node.points.empty() ? "-" : std::to_string(node.total)};
    for (const explain::PluginPoints& points : node.points) row.push_back(std::to_string(points.weighted));
    table.Add(std::move(row));
  }
  return table.Text("  ");
}

std::string NowText(const PodView& view) {
  const explain::Explanation& told = *view.now;
  const auto feasible = std::count_if(told.nodes.begin(), told.nodes.end(),
                                      [](const explain::NodeVerdict& node) { return node.feasible(); });
  std::string text;
  if (view.node.empty() && feasible > 0) {
    text = fmt::format("Tried now, it would fit on {} of {} nodes. The best:\n", feasible, told.nodes.size());
    text += ScoresText(told);
  } else {
    text = view.node.empty() ? "Tried now:\n" : "Placed again now, everything else being where it is:\n";
    explain::Explanation shown = told;
    if (view.node.empty()) shown.message = fmt::format("0 of {} nodes are feasible", told.nodes.size());
    text += report::ToText(shown);
    if (feasible > 1) text += ScoresText(told);
  }
  if (told.cut_short) text += "Some of it was left out, because it would have kept the scheduler from its work.\n";
  return text;
}

}  // namespace

std::string ToText(const QueueView& view) {
  std::string text;
  for (const QueueView::Lane& lane : view.lanes) {
    text += fmt::format("{}: {}\n", NameOf(lane.place), report::Counted(lane.total, "pod"));
    if (lane.pods.empty()) continue;
    Table table({"POSITION", "POD", "PRIORITY", "ATTEMPTS", "SINCE", "LEFT", "REJECTED BY"});
    for (const PendingPod& pod : lane.pods) {
      table.Add({std::to_string(pod.position), Cell(pod.pod), std::to_string(pod.priority),
                 std::to_string(pod.attempts), Ago(pod.since, view.at), pod.left ? Left(*pod.left) : "-",
                 pod.gating_plugin.empty() ? Plugins(pod.plugins, pod.pending_plugins) : Cell(pod.gating_plugin)});
    }
    text += table.Text("  ");
  }
  return text;
}

std::string ToText(const DecisionsView& view) {
  Table table({"WHEN", "POD", "ATTEMPT", "OUTCOME", "DETAIL"});
  for (const scheduler::AttemptRecord& attempt : view.attempts) {
    table.Add({Ago(attempt.ended, view.at), Cell(attempt.name_space + "/" + attempt.name),
               std::to_string(attempt.number), std::string(NameOf(attempt.ending)), OutcomeText(attempt)});
  }
  return table.Text();
}

std::string ToText(const NodesView& view) {
  Table table({"NODE", "CPU", "MEMORY", "PODS", "STATE"});
  const auto pair = [](std::string_view resource, int64_t requested, int64_t allocatable) {
    return framework::AmountText(resource, requested) + " of " + framework::AmountText(resource, allocatable);
  };
  for (const NodesView::Node& node : view.nodes) {
    std::vector<std::string> state;
    if (node.node->spec.unschedulable) state.push_back("unschedulable");
    for (const api::Taint& taint : node.node->spec.taints) state.push_back(Cell(taint.ToString()));
    table.Add({Cell(node.node->metadata.name), pair("cpu", node.requested.milli_cpu, node.allocatable.milli_cpu),
               pair("memory", node.requested.memory, node.allocatable.memory),
               fmt::format("{} of {}", node.pods, node.allocatable.allowed_pod_number),
               state.empty() ? "-" : fmt::format("{}", fmt::join(state, ", "))});
  }
  std::string text = table.Text();
  for (const NodesView::Node& node : view.nodes) {
    for (const framework::PodInfoPtr& pod : node.on_it) text += fmt::format("  {}\n", Cell(pod->Key()));
  }
  if (view.nodes.size() < view.total) text += fmt::format("{} of {} nodes\n", view.nodes.size(), view.total);
  return text;
}

std::string ToText(const PodView& view) {
  std::string text = fmt::format("{} {}", Cell(view.pod), PlaceText(view));
  if (view.pending && view.pending->left) text += fmt::format(", {} left at most", Left(*view.pending->left));
  if (!view.nominated_node.empty()) text += fmt::format("; preemption promised it {}", Cell(view.nominated_node));
  text += "\n";
  if (view.profile != view.scheduler_name && !view.scheduler_name.empty()) {
    text += fmt::format("It is scheduled by {}; what follows is the judgement of the profile {}.\n",
                        Cell(view.scheduler_name), Cell(view.profile));
  }
  text += AttemptsText(view) + WakeUpsText(view);
  return view.now ? text + NowText(view) : text;
}

}  // namespace berth::inspect
