#include "shadow/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/time.h"
#include "base/printable.h"
#include "codec/json_writer.h"
#include "report/gate_text.h"
#include "report/json_fields.h"

namespace berth::shadow {

namespace {

constexpr size_t kMaxKept = 5000;
// The rows of a table in a comment or an issue.
constexpr size_t kMarkdownRows = 100;

class ShadowWriter : report::JsonFields {
 public:
  using JsonFields::JsonFields;

  void Write(const ShadowReport& report) {
    json_.StartObject();
    Text("apiVersion", "berth.dev/v1");
    Text("kind", "ShadowReport");
    TextEvenIfEmpty("version", report.version);
    TextEvenIfEmpty("source", report.server);
    Text("configuration", report.configuration);
    TextEvenIfEmpty("begun", api::FormatTime(report.begun));
    TextEvenIfEmpty("ended", api::FormatTime(report.ended));
    Count("nodes", report.nodes);
    json_.Key("summary");
    Summary(report.tally);
    List("leftOut", report.tally.left_out, [&](const auto& left_out) {
      json_.StartObject();
      TextEvenIfEmpty("schedulerName", left_out.first);
      Count("pods", left_out.second);
      json_.EndObject();
    });
    List("differences", report.differences, [&](const Comparison& comparison) { Write(comparison); });
    Count("differencesLeftOut", report.differences_left_out);
    Texts("notes", report.notes);
    json_.EndObject();
  }

 private:
  void Summary(const Tally& tally) {
    json_.StartObject();
    Count("compared", tally.compared);
    Count("bound", tally.bound);
    Count("givenUp", tally.given_up);
    for (const Verdict verdict : kVerdicts) Count(NameOf(verdict), tally.Of(verdict));
    Count("lowerBySampling", tally.lower_by_sampling);
    Count("sameMessages", tally.same_messages);
    json_.EndObject();
  }

  void Write(const Comparison& comparison) {
    json_.StartObject();
    TextEvenIfEmpty("time", api::FormatTime(comparison.time));
    TextEvenIfEmpty("pod", comparison.pod);
    TextEvenIfEmpty("uid", comparison.uid);
    TextEvenIfEmpty("schedulerName", comparison.scheduler);
    TextEvenIfEmpty("verdict", NameOf(comparison.verdict));
    if (comparison.verdict == Verdict::kRaced) TextEvenIfEmpty("withoutRace", NameOf(comparison.without_race));
    if (comparison.bound()) TextEvenIfEmpty("node", comparison.node);
    if (!comparison.bound()) TextEvenIfEmpty("message", comparison.message);
    Count("nodes", comparison.nodes);
    Count("feasibleNodes", comparison.feasible_nodes);
    Texts("best", comparison.best);
    Count("bestCount", comparison.best_count);
    if (comparison.score) Number("score", *comparison.score);
    if (comparison.best_score) Number("bestScore", *comparison.best_score);
    List("plugins", comparison.plugins, [&](const PluginGap& gap) {
      json_.StartObject();
      TextEvenIfEmpty("plugin", gap.plugin);
      Number("chosen", gap.chosen);
      Number("best", gap.best);
      json_.EndObject();
    });
    if (!comparison.reason.empty()) {
      json_.Key("rejection");
      json_.StartObject();
      TextEvenIfEmpty("plugin", comparison.plugin);
      TextEvenIfEmpty("reason", comparison.reason);
      TextEvenIfEmpty("detail", comparison.detail);
      json_.EndObject();
    }
    Texts("events", comparison.events);
    Flag("samplingLikely", comparison.is_sampling_likely);
    Count("trials", comparison.trials);
    json_.EndObject();
  }
};

std::string Share(size_t part, size_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string_view Meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgreed:
      return "the node is among berth's best, or neither finds one";
    case Verdict::kRaced:
      return "agreed, if a few events around that moment are applied or undone";
    case Verdict::kLower:
      return "feasible for berth, but others score higher";
    case Verdict::kPlaceable:
      return "given up, though berth would place it";
    case Verdict::kInfeasible:
      return "not feasible for berth";
  }
  return {};
}

std::vector<std::string> Sentences(const ShadowReport& report) {
  std::vector<std::string> sentences = report.notes;
  if (report.tally.lower_by_sampling > 0) {
    sentences.push_back(
        fmt::format("Sampling is the likely cause of {} of the {} lower ones: with {} nodes and "
                    "percentageOfNodesToScore not at 100, "
                    "the scheduler looks at a part of the nodes for each pod, and berth at all of them",
                    report.tally.lower_by_sampling, report.tally.Of(Verdict::kLower), report.nodes));
  }
  for (const auto& [name, pods] : report.tally.left_out) {
    sentences.push_back(
        fmt::format("{} pods of scheduler \"{}\" were not compared: --scheduler-name adds it", pods, name));
  }
  return sentences;
}

std::string Span(const ShadowReport& report) {
  return fmt::format("{} from {} to {}, {} nodes", report.server, api::FormatTime(report.begun),
                     api::FormatTime(report.ended), report.nodes);
}

}  // namespace

void ShadowReport::Keep(const Comparison& comparison) {
  if (comparison.verdict == Verdict::kAgreed) return;
  if (differences.size() < kMaxKept) {
    differences.push_back(comparison);
  } else {
    ++differences_left_out;
  }
}

std::string ToJson(const ShadowReport& report) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  ShadowWriter(json).Write(report);
  return out + "\n";
}

std::string ToText(const ShadowReport& report) {
  std::string text = Span(report) + "\n\nVERDICT     PODS   SHARE  MEANING\n";
  for (const Verdict verdict : kVerdicts) {
    text += fmt::format("{:<10} {:>5} {:>7}  {}\n", NameOf(verdict), report.tally.Of(verdict),
                        Share(report.tally.Of(verdict), report.tally.compared), Meaning(verdict));
  }
  text += fmt::format("\n{} compared: {} bound, {} given up ({} with the same message).\n", report.tally.compared,
                      report.tally.bound, report.tally.given_up, report.tally.same_messages);
  for (const std::string& sentence : Sentences(report)) text += base::PrintableLines(sentence) + ".\n";
  return text;
}

std::string ToMarkdown(const ShadowReport& report) {
  using report::MarkdownText;
  std::string text = fmt::format("## berth shadow\n\n{}, berth {}\n\n| verdict | pods | share | |\n|---|--:|--:|---|\n",
                                 MarkdownText(Span(report)), MarkdownText(report.version));
  for (const Verdict verdict : kVerdicts) {
    text += fmt::format("| {} | {} | {} | {} |\n", NameOf(verdict), report.tally.Of(verdict),
                        Share(report.tally.Of(verdict), report.tally.compared), Meaning(verdict));
  }
  text += fmt::format("\n{} compared: {} bound, {} given up ({} with the same message).\n", report.tally.compared,
                      report.tally.bound, report.tally.given_up, report.tally.same_messages);
  for (const std::string& sentence : Sentences(report)) text += fmt::format("\n{}.\n", MarkdownText(sentence));
  for (const Verdict verdict : {Verdict::kInfeasible, Verdict::kPlaceable, Verdict::kLower, Verdict::kRaced}) {
    if (report.tally.Of(verdict) == 0) continue;
    text += fmt::format("\n### {}\n\n| time | what |\n|---|---|\n", NameOf(verdict));
    size_t rows = 0;
    for (const Comparison& comparison : report.differences) {
      if (comparison.verdict != verdict || rows++ >= kMarkdownRows) continue;
      text += fmt::format("| {} | {} |\n", api::FormatTime(comparison.time), MarkdownText(comparison.Text()));
    }
    if (report.tally.Of(verdict) > kMarkdownRows) {
      text += fmt::format("\nand {} more.\n", report.tally.Of(verdict) - kMarkdownRows);
    }
  }
  return text;
}

std::string ToMetrics(const Tally& tally, size_t waiting) {
  std::string text =
      "# HELP berth_shadow_comparisons_total Decisions of the other scheduler, by what berth makes of them.\n"
      "# TYPE berth_shadow_comparisons_total counter\n";
  for (const Verdict verdict : kVerdicts) {
    text += fmt::format("berth_shadow_comparisons_total{{verdict=\"{}\"}} {}\n", NameOf(verdict), tally.Of(verdict));
  }
  text += fmt::format(
      "# HELP berth_shadow_lower_by_sampling_total Lower ones for which sampling is the likely cause.\n"
      "# TYPE berth_shadow_lower_by_sampling_total counter\nberth_shadow_lower_by_sampling_total {}\n"
      "# HELP berth_shadow_waiting_changes Changes of the cluster that have not been looked at yet.\n"
      "# TYPE berth_shadow_waiting_changes gauge\nberth_shadow_waiting_changes {}\n",
      tally.lower_by_sampling, waiting);
  return text;
}

}  // namespace berth::shadow
