#include "report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "report/gate_text.h"
#include "report/report.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

// Per table; a comment has no room for more, and nobody would read them.
constexpr size_t kRowsShown = 200;

bool IsUnplaced(const sim::PodReport& pod) { return pod.outcome != sim::PodOutcome::kScheduled; }

std::string ReasonOf(const sim::PodReport& pod) {
  if (pod.outcome == sim::PodOutcome::kPreempted) return fmt::format("made room for {}", pod.preempted_by);
  return pod.message;
}

std::string WhoseOf(const std::string& owner) { return owner.empty() ? "Pod" : owner; }

std::string SummaryOf(const sim::SimulationReport& report) {
  const size_t placed = report.Count(sim::PodOutcome::kScheduled);
  std::string text = fmt::format("{} of {} scheduled onto {}", placed, Counted(report.pods.size(), "pod"),
                                 Counted(report.nodes, "node"));
  if (!report.preempted.empty()) text += fmt::format(", {} preempted", report.preempted.size());
  if (!report.lost.empty()) text += fmt::format(", {} on nodes that the input lacks", report.lost.size());
  return text;
}

// Pods without a node and pods that were preempted, in one list: each of them once.
std::vector<const sim::PodReport*> Troubled(const sim::SimulationReport& report) {
  std::vector<const sim::PodReport*> found;
  for (const sim::PodReport& pod : report.pods) {
    if (IsUnplaced(pod)) found.push_back(&pod);
  }
  for (const sim::PodReport& pod : report.lost) found.push_back(&pod);
  for (const sim::PodReport& pod : report.preempted) {
    const bool told = std::any_of(found.begin(), found.end(), [&](const auto* other) { return other->key == pod.key; });
    if (!told) found.push_back(&pod);
  }
  return found;
}

// In a report, a pod without a node is a failure even where it does not fail the pipeline.
bool IsFailure(const sim::PodReport& pod, const FailOn& fail_on) {
  return pod.outcome != sim::PodOutcome::kPreempted || fail_on.contains("preempted");
}

std::string RolloutRows(const std::vector<sim::RolloutReport>& rollouts) {
  if (rollouts.empty()) return {};
  std::string text = "\n| Rollout | New pods with a node | Old pods left | |\n|---|---|---|---|\n";
  for (const sim::RolloutReport& rollout : rollouts) {
    text += fmt::format("| {} | {} of {} | {} | {} |\n", MarkdownText(rollout.workload), rollout.updated,
                        rollout.wanted, rollout.old_left, rollout.complete() ? "complete" : "**stands still**");
  }
  return text;
}

// The warnings of both sides, each once: most come from what both have in common.
std::vector<std::string> WarningsOf(const sim::Comparison& comparison) {
  std::vector<std::string> all = comparison.before.warnings;
  for (const std::string& warning : comparison.after.warnings) {
    if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  }
  return all;
}

// It is new, or had a node, and has none now.
bool LosesItsPlace(const sim::PodDifference& difference) {
  return difference.unplaced() && (difference.change == sim::PodChange::kAdded || !difference.node_before.empty());
}

bool IsFailure(const sim::PodDifference& difference, const FailOn& fail_on) {
  using Change = sim::PodChange;
  return fail_on.contains("changed") || LosesItsPlace(difference) ||
         (fail_on.contains("preempted") && difference.change == Change::kPreempted) ||
         (fail_on.contains("moved") && difference.change == Change::kMoved);
}

// Failed, passed with preempted pods, or passed.
std::string_view Mark(bool failed, bool preempts) { return failed ? "❌" : preempts ? "⚠️" : "✅"; }

// Adds rows until there are too many, or they get too long, and then how many are left out.
void AddRows(size_t count, size_t max_size, const std::function<std::string(size_t)>& row, std::string& text) {
  size_t shown = 0;
  for (; shown < std::min(count, kRowsShown); ++shown) {
    const std::string next = row(shown);
    if (text.size() + next.size() > max_size) break;
    text += next;
  }
  if (shown < count) text += fmt::format("\n… and {} more.\n", count - shown);
}

std::string DifferenceRow(const sim::PodDifference& row) {
  const std::string was = row.replaces.empty() ? "" : fmt::format("was {}. ", row.replaces);
  const std::string change(NameOf(row.change));
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", MarkdownText(row.pod), MarkdownText(row.owner),
                     row.unplaced() ? "**" + change + "**" : change, MarkdownText(OrDash(row.node_before)),
                     MarkdownText(OrDash(row.node_after)), MarkdownText(was + row.detail));
}

std::vector<std::string> NewWarnings(const sim::Comparison& comparison) {
  std::vector<std::string> found;
  const std::vector<std::string>& old = comparison.before.warnings;
  for (const std::string& warning : comparison.after.warnings) {
    if (std::find(old.begin(), old.end(), warning) == old.end()) found.push_back(warning);
  }
  return found;
}

}  // namespace

bool Fails(const sim::SimulationReport& report, const FailOn& fail_on) {
  // A pod on a node that does not exist does not count as placed.
  const bool unplaced = report.Count(sim::PodOutcome::kScheduled) != report.pods.size() || !report.lost.empty();
  return (fail_on.contains("unplaced") && unplaced) || (fail_on.contains("preempted") && !report.preempted.empty()) ||
         (fail_on.contains("warnings") && !report.warnings.empty());
}

bool Fails(const sim::Comparison& comparison, const FailOn& fail_on) {
  return (fail_on.contains("changed") && comparison.changed()) ||
         (fail_on.contains("unplaced") && comparison.leaves_unplaced()) ||
         (fail_on.contains("preempted") && comparison.preempts()) ||
         (fail_on.contains("moved") && comparison.moves()) ||
         (fail_on.contains("warnings") && !NewWarnings(comparison).empty());
}

std::string ToMarkdown(const sim::SimulationReport& report, const FailOn& fail_on) {
  const std::vector<const sim::PodReport*> troubled = Troubled(report);
  std::vector<const sim::PodReport*> placed;
  for (const sim::PodReport& pod : report.pods) {
    if (!IsUnplaced(pod)) placed.push_back(&pod);
  }
  const bool failed = Fails(report, fail_on) || Fails(report, {"unplaced"});
  std::string text =
      fmt::format("### {} berth simulate\n\n{}.\n", Mark(failed, !report.preempted.empty()), SummaryOf(report));
  text += RolloutRows(report.rollouts);
  if (!troubled.empty()) {
    text += "\n| Pod | Workload | Outcome | Why |\n|---|---|---|---|\n";
    AddRows(
        troubled.size(), kMaxComment * 2 / 3,
        [&](size_t i) {
          return fmt::format("| {} | {} | {} | {} |\n", MarkdownText(troubled[i]->key),
                             MarkdownText(troubled[i]->owner), NameOf(troubled[i]->outcome),
                             MarkdownText(ReasonOf(*troubled[i])));
        },
        text);
  }
  if (!placed.empty()) {
    text += fmt::format("\n<details><summary>{} scheduled</summary>\n\n| Pod | Workload | Node |\n|---|---|---|\n",
                        Counted(placed.size(), "pod"));
    AddRows(
        placed.size(), kMaxComment * 5 / 6,
        [&](size_t i) {
          return fmt::format("| {} | {} | {} |\n", MarkdownText(placed[i]->key), MarkdownText(placed[i]->owner),
                             MarkdownText(placed[i]->node));
        },
        text);
    text += "\n</details>\n";
  }
  return text + FoldedWarnings(report.warnings);
}

std::string ToMarkdown(const sim::Comparison& comparison, const FailOn& fail_on) {
  const bool failed = Fails(comparison, fail_on) || comparison.leaves_unplaced();
  std::string text = fmt::format("### {} berth diff\n\n", Mark(failed, comparison.preempts()));
  text += comparison.changed()
              ? fmt::format("{} of {} differ", comparison.differences.size(), Counted(comparison.compared, "pod"))
              : fmt::format("No difference: {} compared", Counted(comparison.compared, "pod"));
  text +=
      fmt::format(" between {} and {}.\n", MarkdownText(comparison.before.name), MarkdownText(comparison.after.name));
  if (comparison.changed()) {
    // The worst comes first, as not all may be shown.
    std::vector<const sim::PodDifference*> rows;
    for (const sim::PodDifference& difference : comparison.differences) rows.push_back(&difference);
    std::stable_partition(rows.begin(), rows.end(), [](const auto* row) { return LosesItsPlace(*row); });
    text += "\n| Pod | Workload | Change | Before | After | Why |\n|---|---|---|---|---|---|\n";
    AddRows(
        rows.size(), kMaxComment * 5 / 6, [&](size_t i) { return DifferenceRow(*rows[i]); }, text);
  }
  text += "\n<details><summary>How full the nodes are</summary>\n\n| Resource | Before | After |\n|---|---|---|\n";
  for (const sim::Balance& before : comparison.before.balance) {
    const auto& all = comparison.after.balance;
    const auto after = std::find_if(all.begin(), all.end(),
                                    [&](const sim::Balance& other) { return other.resource == before.resource; });
    text += fmt::format("| {} | {} | {} |\n", MarkdownText(before.resource), Percent(before.total),
                        after == all.end() ? "-" : Percent(after->total));
  }
  return text + "\n</details>\n" + FoldedWarnings(WarningsOf(comparison));
}

std::string ToJUnit(const sim::SimulationReport& report, const FailOn& fail_on) {
  std::string cases;
  size_t tests = 0, failures = 0;
  for (const sim::PodReport& pod : report.pods) {
    if (IsUnplaced(pod)) continue;
    ++tests;
    cases += PassedCase(WhoseOf(pod.owner), pod.key, pod.node);
  }
  for (const sim::PodReport* pod : Troubled(report)) {
    const bool failed = IsFailure(*pod, fail_on);
    ++tests;
    failures += failed;
    cases += failed ? FailedCase(WhoseOf(pod->owner), pod->key, NameOf(pod->outcome), ReasonOf(*pod))
                    : SkippedCase(WhoseOf(pod->owner), pod->key, ReasonOf(*pod));
  }
  if (fail_on.contains("warnings")) {
    for (const std::string& warning : report.warnings) {
      ++tests;
      ++failures;
      cases += FailedCase("berth simulate", "warning", "Warning", warning);
    }
  }
  return JUnitSuite("berth simulate", tests, failures, cases);
}

std::string ToJUnit(const sim::Comparison& comparison, const FailOn& fail_on) {
  std::string cases;
  size_t tests = comparison.differences.size() + 1, failures = 0;
  for (const sim::PodDifference& difference : comparison.differences) {
    const bool failed = IsFailure(difference, fail_on);
    failures += failed;
    const std::string where = fmt::format("{}: {} → {}", NameOf(difference.change), OrDash(difference.node_before),
                                          OrDash(difference.node_after));
    const std::string whose = WhoseOf(difference.owner);
    cases += failed ? FailedCase(whose, difference.pod, NameOf(difference.change),
                                 difference.detail.empty() ? where : difference.detail)
                    : PassedCase(whose, difference.pod, where);
  }
  if (fail_on.contains("warnings")) {
    for (const std::string& warning : NewWarnings(comparison)) {
      ++tests;
      ++failures;
      cases += FailedCase("berth diff", "warning", "Warning", warning);
    }
  }
  const size_t same = comparison.compared - std::min(comparison.compared, comparison.differences.size());
  cases += PassedCase("berth diff", "pods without a difference", Counted(same, "pod"));
  return JUnitSuite("berth diff", tests, failures, cases);
}

namespace {

// One command each, up to what GitHub shows of a kind; the rest are combined into one.
class Annotations {
 public:
  Annotations(std::string_view verb, std::string& text) : verb_(verb), text_(text) {}

  void Add(std::string_view level, std::string_view title, std::string_view why) {
    if (++count_[std::string(level)] >= kAnnotations) return;
    text_ += GitHubCommand(level, title, why);
  }
  void Finish(std::string_view noun) {
    for (const auto& [level, count] : count_) {
      if (count < kAnnotations) continue;
      text_ += GitHubCommand(level, verb_, fmt::format("{} more {}", count - kAnnotations + 1, noun));
    }
    count_.clear();
  }

 private:
  const std::string_view verb_;
  std::string& text_;
  std::map<std::string, size_t> count_;
};

}  // namespace

std::string ToGitHub(const sim::SimulationReport& report, const FailOn& fail_on) {
  std::string text;
  Annotations annotations("berth simulate", text);
  for (const sim::PodReport* pod : Troubled(report)) {
    const std::string whose = pod->owner.empty() ? "" : fmt::format(" ({})", pod->owner);
    const bool preempted = pod->outcome == sim::PodOutcome::kPreempted;
    annotations.Add(IsFailure(*pod, fail_on) ? "error" : "warning",
                    fmt::format("{} {}", pod->key, preempted ? "is preempted" : "has no node"), ReasonOf(*pod) + whose);
  }
  annotations.Finish("pods");
  const std::string_view level = fail_on.contains("warnings") ? "error" : "warning";
  for (const std::string& warning : report.warnings) text += GitHubCommand(level, "berth simulate", warning);
  return text + GitHubCommand("notice", "berth simulate", SummaryOf(report));
}

std::string ToGitHub(const sim::Comparison& comparison, const FailOn& fail_on) {
  std::string text;
  Annotations annotations("berth diff", text);
  for (const sim::PodDifference& difference : comparison.differences) {
    if (!IsFailure(difference, fail_on)) continue;
    annotations.Add("error",
                    LosesItsPlace(difference) ? fmt::format("{} has no node", difference.pod)
                                              : fmt::format("{}: {}", difference.pod, NameOf(difference.change)),
                    difference.detail.empty()
                        ? fmt::format("{} → {}", OrDash(difference.node_before), OrDash(difference.node_after))
                        : difference.detail);
  }
  annotations.Finish("pods");
  const std::vector<std::string> fresh = NewWarnings(comparison);
  for (const std::string& warning : WarningsOf(comparison)) {
    const bool failed = fail_on.contains("warnings") && std::find(fresh.begin(), fresh.end(), warning) != fresh.end();
    text += GitHubCommand(failed ? "error" : "warning", "berth diff", warning);
  }
  for (const sim::PodDifference& difference : comparison.differences) {
    if (IsFailure(difference, fail_on)) continue;
    annotations.Add(
        "notice", fmt::format("{}: {}", difference.pod, NameOf(difference.change)),
        fmt::format("{} → {} {}", OrDash(difference.node_before), OrDash(difference.node_after), difference.detail));
  }
  annotations.Finish("pods differ");
  return text + GitHubCommand(
                    "notice", "berth diff",
                    fmt::format("{} of {} differ", comparison.differences.size(), Counted(comparison.compared, "pod")));
}

}  // namespace berth::report
