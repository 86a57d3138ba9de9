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

// Of both sides, each once: most are of what both have in common.
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

std::string JUnitSuite(std::string_view name, size_t tests, size_t failures, std::string_view cases) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\">\n"
      "{}  </testsuite>\n</testsuites>\n",
      XmlText(name), tests, failures, cases);
}

std::string PassedCase(std::string_view whose, std::string_view name, std::string_view text) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"><system-out>{}</system-out></testcase>\n",
                     XmlText(whose), XmlText(name), XmlText(text));
}

std::string FailedCase(std::string_view whose, std::string_view name, std::string_view type, std::string_view why) {
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{}\">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
      XmlText(whose), XmlText(name), XmlText(type), XmlText(why));
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

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
  return text + "\n</details>\n" + FoldedWarnings(WarningsOf(comparison));
}

std::string ToJUnit(const sim::SimulationReport& report) {
  const auto failures = std::count_if(report.pods.begin(), report.pods.end(), IsUnplaced);
  std::string cases;
  for (const sim::PodReport& pod : report.pods) {
    const std::string whose = pod.owner.empty() ? "Pod" : pod.owner;
    cases += IsUnplaced(pod) ? FailedCase(whose, pod.key, NameOf(pod.outcome), ReasonOf(pod))
                             : PassedCase(whose, pod.key, pod.node);
  }
  return JUnitSuite("berth simulate", report.pods.size(), static_cast<size_t>(failures), cases);
}

std::string ToJUnit(const sim::Comparison& comparison) {
  std::string cases;
  size_t failures = 0;
  for (const sim::PodDifference& difference : comparison.differences) {
    const std::string whose = difference.owner.empty() ? "Pod" : difference.owner;
    failures += LosesItsPlace(difference);
    cases += LosesItsPlace(difference)
                 ? FailedCase(whose, difference.pod, NameOf(difference.change), difference.detail)
                 : PassedCase(whose, difference.pod,
                              fmt::format("{}: {} → {}", NameOf(difference.change), OrDash(difference.node_before),
                                          OrDash(difference.node_after)));
  }
  const size_t same = comparison.compared - std::min(comparison.compared, comparison.differences.size());
  cases += PassedCase("berth diff", "pods without a difference", Counted(same, "pod"));
  return JUnitSuite("berth diff", comparison.differences.size() + 1, failures, cases);
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
  size_t shown = 0, left_out = 0;
  for (const sim::PodDifference& difference : comparison.differences) {
    if (!LosesItsPlace(difference)) continue;
    if (++shown > kAnnotations - 1) {
      ++left_out;
      continue;
    }
    text += Command("error", fmt::format("{} has no node", difference.pod), difference.detail);
  }
  if (left_out > 0) text += Command("error", "berth diff", fmt::format("{} more pods have no node", left_out));
  for (const std::string& warning : WarningsOf(comparison)) text += Command("warning", "berth diff", warning);
  shown = 0;
  for (const sim::PodDifference& difference : comparison.differences) {
    if (LosesItsPlace(difference) || ++shown > kAnnotations - 1) continue;
    text += Command(
        "notice", fmt::format("{}: {}", difference.pod, NameOf(difference.change)),
        fmt::format("{} → {} {}", OrDash(difference.node_before), OrDash(difference.node_after), difference.detail));
  }
  return text +
         Command("notice", "berth diff",
                 fmt::format("{} of {} differ", comparison.differences.size(), Counted(comparison.compared, "pod")));
}

std::string ToMarkdown(const Verdict& verdict) {
  std::string text = fmt::format("### {} {}\n\n<pre>", verdict.passed ? "✅" : "❌", verdict.verb);
  for (std::string_view rest = verdict.text; !rest.empty();) {
    const std::string_view line = FirstLine(rest);
    text += XmlText(line) + "\n";
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return text + "</pre>\n" + FoldedWarnings(verdict.warnings);
}

std::string ToJUnit(const Verdict& verdict) {
  const std::string_view answer = FirstLine(verdict.text);
  return JUnitSuite(verdict.verb, 1, verdict.passed ? 0 : 1,
                    verdict.passed ? PassedCase(verdict.verb, "answer", answer)
                                   : FailedCase(verdict.verb, "answer", "Failed", answer));
}

std::string ToGitHub(const Verdict& verdict) {
  std::string text;
  for (const std::string& warning : verdict.warnings) text += Command("warning", verdict.verb, warning);
  return text + Command(verdict.passed ? "notice" : "error", verdict.verb, FirstLine(verdict.text));
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
