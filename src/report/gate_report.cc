#include "report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "codec/json_writer.h"
#include "codec/yaml_writer.h"
#include "report/report.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

// A comment on a pull request is refused beyond 65,536 characters.
constexpr size_t kRowsShown = 200;
// GitHub shows ten annotations of a kind and step.
constexpr size_t kAnnotations = 10;

// Text for Markdown in which nothing is markup: neither a link, an image, a mention, nor an element.
std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : base::Printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '|':
        out += "&#124;";
        break;
      case '@':
        out += "&#64;";
        break;
      case '#':
        out += "&#35;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string XmlText(std::string_view text) {
  std::string out;
  for (const char c : base::Printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// GitHub's own escapes: of the text of a command, and of its properties.
std::string CommandText(std::string_view text, bool property = false) {
  std::string out;
  for (const char c : base::Printable(text)) {
    if (c == '%') {
      out += "%25";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Command(std::string_view level, std::string_view title, std::string_view text) {
  return fmt::format("::{} title={}::{}\n", level, CommandText(title, true), CommandText(text));
}

bool IsUnplaced(const sim::PodReport& pod) { return pod.outcome != sim::PodOutcome::kScheduled; }

std::string ReasonOf(const sim::PodReport& pod) {
  if (pod.outcome == sim::PodOutcome::kPreempted) return fmt::format("made room for {}", pod.preempted_by);
  return pod.message;
}

std::string SummaryOf(const sim::SimulationReport& report) {
  const size_t placed = report.Count(sim::PodOutcome::kScheduled);
  std::string text = fmt::format("{} of {} scheduled onto {}", placed, Counted(report.pods.size(), "pod"),
                                 Counted(report.nodes, "node"));
  if (!report.preempted.empty()) text += fmt::format(", {} preempted", report.preempted.size());
  if (report.lost_bound > 0) text += fmt::format(", {} on nodes that the input lacks", report.lost_bound);
  return text;
}

std::string FoldedWarnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return {};
  std::string text = fmt::format("\n<details><summary>{}</summary>\n\n", Counted(warnings.size(), "warning"));
  for (const std::string& warning : warnings) text += fmt::format("- {}\n", MarkdownText(warning));
  return text + "\n</details>\n";
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

std::string RowsLeftOut(size_t rows) {
  return rows <= kRowsShown ? "" : fmt::format("\n… and {} more.\n", rows - kRowsShown);
}

}  // namespace

std::string ToMarkdown(const sim::SimulationReport& report) {
  std::vector<const sim::PodReport*> unplaced, placed;
  for (const sim::PodReport& pod : report.pods) (IsUnplaced(pod) ? unplaced : placed).push_back(&pod);
  const bool fine = unplaced.empty() && report.lost_bound == 0;
  std::string text = fmt::format("### {} berth simulate\n\n{}.\n", fine ? "✅" : "❌", SummaryOf(report));
  text += RolloutRows(report.rollouts);
  if (!unplaced.empty()) {
    text += "\n| Pod | Workload | Outcome | Why |\n|---|---|---|---|\n";
    for (size_t i = 0; i < std::min(unplaced.size(), kRowsShown); ++i) {
      const sim::PodReport& pod = *unplaced[i];
      text += fmt::format("| {} | {} | {} | {} |\n", MarkdownText(pod.key), MarkdownText(pod.owner),
                          NameOf(pod.outcome), MarkdownText(ReasonOf(pod)));
    }
    text += RowsLeftOut(unplaced.size());
  }
  if (!placed.empty()) {
    text += fmt::format("\n<details><summary>{} scheduled</summary>\n\n| Pod | Workload | Node |\n|---|---|---|\n",
                        Counted(placed.size(), "pod"));
    for (size_t i = 0; i < std::min(placed.size(), kRowsShown); ++i) {
      text += fmt::format("| {} | {} | {} |\n", MarkdownText(placed[i]->key), MarkdownText(placed[i]->owner),
                          MarkdownText(placed[i]->node));
    }
    text += RowsLeftOut(placed.size()) + "\n</details>\n";
  }
  return text + FoldedWarnings(report.warnings);
}

std::string ToMarkdown(const sim::Comparison& comparison) {
  std::string text = fmt::format("### {} berth diff\n\n", comparison.leaves_unplaced() ? "❌" : "✅");
  text += comparison.changed()
              ? fmt::format("{} of {} differ", comparison.differences.size(), Counted(comparison.compared, "pod"))
              : fmt::format("No difference: {} compared", Counted(comparison.compared, "pod"));
  text +=
      fmt::format(" between {} and {}.\n", MarkdownText(comparison.before.name), MarkdownText(comparison.after.name));
  if (comparison.changed()) {
    text += "\n| Pod | Workload | Change | Before | After | Why |\n|---|---|---|---|---|---|\n";
    const auto& rows = comparison.differences;
    for (size_t i = 0; i < std::min(rows.size(), kRowsShown); ++i) {
      const std::string was = rows[i].replaces.empty() ? "" : fmt::format("was {}. ", rows[i].replaces);
      text += fmt::format(
          "| {} | {} | {} | {} | {} | {} |\n", MarkdownText(rows[i].pod), MarkdownText(rows[i].owner),
          rows[i].unplaced() ? "**" + std::string(NameOf(rows[i].change)) + "**" : std::string(NameOf(rows[i].change)),
          MarkdownText(OrDash(rows[i].node_before)), MarkdownText(OrDash(rows[i].node_after)),
          MarkdownText(was + rows[i].detail));
    }
    text += RowsLeftOut(rows.size());
  }
  text += "\n<details><summary>How full the nodes are</summary>\n\n| Resource | Before | After |\n|---|---|---|\n";
  for (const sim::Balance& before : comparison.before.balance) {
    const auto& all = comparison.after.balance;
    const auto after = std::find_if(all.begin(), all.end(),
                                    [&](const sim::Balance& other) { return other.resource == before.resource; });
    text += fmt::format("| {} | {} | {} |\n", MarkdownText(before.resource), Percent(before.total),
                        after == all.end() ? "-" : Percent(after->total));
  }
  return text + "\n</details>\n";
}

std::string ToJUnit(const sim::SimulationReport& report) {
  const auto failures = std::count_if(report.pods.begin(), report.pods.end(), IsUnplaced);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites>\n  <testsuite name=\"berth simulate\" tests=\"{}\" failures=\"{}\">\n",
                      report.pods.size(), failures);
  for (const sim::PodReport& pod : report.pods) {
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", XmlText(pod.owner.empty() ? "Pod" : pod.owner),
                        XmlText(pod.key));
    if (!IsUnplaced(pod)) {
      text += fmt::format("><system-out>{}</system-out></testcase>\n", XmlText(pod.node));
      continue;
    }
    text += fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n", NameOf(pod.outcome),
                        XmlText(ReasonOf(pod)));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string ToGitHub(const sim::SimulationReport& report) {
  std::string text;
  size_t shown = 0, left_out = 0;
  for (const sim::PodReport& pod : report.pods) {
    if (!IsUnplaced(pod)) continue;
    if (++shown > kAnnotations - 1) {
      ++left_out;
      continue;
    }
    const std::string whose = pod.owner.empty() ? "" : fmt::format(" ({})", pod.owner);
    text += Command("error", fmt::format("{} has no node", pod.key), ReasonOf(pod) + whose);
  }
  if (left_out > 0) text += Command("error", "berth simulate", fmt::format("{} more pods have no node", left_out));
  for (const std::string& warning : report.warnings) text += Command("warning", "berth simulate", warning);
  return text + Command("notice", "berth simulate", SummaryOf(report));
}

std::string ToGitHub(const sim::Comparison& comparison) {
  std::string text;
  size_t shown = 0;
  for (const sim::PodDifference& difference : comparison.differences) {
    const bool before = difference.node_before.empty() && difference.change != sim::PodChange::kAdded;
    if (!difference.unplaced() || before || ++shown > kAnnotations) continue;
    text += Command("error", fmt::format("{} has no node", difference.pod), difference.detail);
  }
  for (const std::string& warning : comparison.after.warnings) text += Command("warning", "berth diff", warning);
  return text +
         Command("notice", "berth diff",
                 fmt::format("{} of {} differ", comparison.differences.size(), Counted(comparison.compared, "pod")));
}

std::string ErrorsToGitHub(const std::vector<std::string>& errors) {
  std::string text;
  for (size_t i = 0; i < std::min(errors.size(), kAnnotations); ++i) text += Command("error", "berth", errors[i]);
  return text;
}

std::string ErrorsToJson(const std::vector<std::string>& errors, bool as_yaml) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  json.Key("apiVersion");
  json.String("berth.dev/v1");
  json.Key("kind");
  json.String("Problems");
  json.Key("errors");
  json.StartArray();
  for (const std::string& error : errors) json.String(error);
  json.EndArray();
  json.EndObject();
  out += "\n";
  return as_yaml ? codec::JsonToYaml(std::move(out)) : out;
}

}  // namespace berth::report
