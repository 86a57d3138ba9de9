#include "replay_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/time.h"
#include "base/printable.h"
#include "codec/json_writer.h"

namespace berth::cmd {

namespace {

std::string Plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool AllSame(const std::vector<ReplayedRecording>& replayed) {
  return std::none_of(replayed.begin(), replayed.end(), [](const auto& one) { return one.difference.has_value(); });
}

std::string CountsText(const replay::Counts& counts) {
  return fmt::format("{}, {}: {} bound, {} unschedulable, {}", Plural(counts.inputs, "input"),
                     Plural(counts.decisions, "decision"), counts.bound, counts.unschedulable,
                     Plural(counts.preemptions, "preemption"));
}

// In a cell of a table.
std::string Cell(std::string_view text) {
  std::string cell = base::PrintableLines(text);
  for (size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
  std::replace(cell.begin(), cell.end(), '\n', ' ');
  return cell;
}

}  // namespace

std::string ToText(const std::vector<ReplayedRecording>& replayed, std::string_view version) {
  std::string text;
  for (const ReplayedRecording& one : replayed) {
    text += fmt::format("Recorded by berth {} from {} to {}, {}{}\n", one.header.program_version,
                        api::FormatTime(one.counts.first), api::FormatTime(one.counts.last), Plural(one.files, "file"),
                        one.torn ? "; the last one ends in the middle of a block" : "");
    text += fmt::format("Replayed by berth {}: {}\n", version, CountsText(one.counts));
    if (one.counts.opaque_work > 0) {
      text += fmt::format("Plugins had {} of their own run between cycles, which a recording cannot repeat\n",
                          Plural(one.counts.opaque_work, "function"));
    }
    if (!one.difference) {
      text += "Every decision is the same: node, score, message, victims.\n\n";
      continue;
    }
    text += fmt::format("The first difference is in input {} at {}, a {}{}:\n  recorded  {}\n  replayed  {}\n\n",
                        one.difference->input, api::FormatTime(one.difference->time), one.difference->what,
                        one.difference->pod.empty() ? "" : " about " + one.difference->pod,
                        base::PrintableLines(one.difference->recorded), base::PrintableLines(one.difference->replayed));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string ToJson(const std::vector<ReplayedRecording>& replayed, std::string_view version) {
  std::string out;
  codec::JsonWriter writer(out, /*pretty=*/true);
  const auto text = [&](std::string_view key, std::string_view value) {
    writer.Key(key);
    writer.String(value);
  };
  const auto number = [&](std::string_view key, uint64_t value) {
    writer.Key(key);
    writer.Uint64(value);
  };
  writer.StartObject();
  text("apiVersion", "berth.dev/v1");
  text("kind", "ReplayReport");
  text("version", version);
  writer.Key("same");
  writer.Bool(AllSame(replayed));
  writer.Key("recordings");
  writer.StartArray();
  for (const ReplayedRecording& one : replayed) {
    writer.StartObject();
    text("recordedVersion", one.header.program_version);
    text("from", api::FormatTime(one.counts.first));
    text("to", api::FormatTime(one.counts.last));
    number("files", one.files);
    writer.Key("torn");
    writer.Bool(one.torn);
    number("inputs", one.counts.inputs);
    number("decisions", one.counts.decisions);
    number("bound", one.counts.bound);
    number("unschedulable", one.counts.unschedulable);
    number("preemptions", one.counts.preemptions);
    if (one.difference) {
      writer.Key("difference");
      writer.StartObject();
      number("input", one.difference->input);
      text("time", api::FormatTime(one.difference->time));
      text("what", one.difference->what);
      text("pod", one.difference->pod);
      text("recorded", one.difference->recorded);
      text("replayed", one.difference->replayed);
      writer.EndObject();
    }
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return out + "\n";
}

std::string ToMarkdown(const std::vector<ReplayedRecording>& replayed, std::string_view version) {
  replay::Counts sum;
  for (const ReplayedRecording& one : replayed) {
    sum.inputs += one.counts.inputs;
    sum.decisions += one.counts.decisions;
    sum.bound += one.counts.bound;
    sum.unschedulable += one.counts.unschedulable;
    sum.preemptions += one.counts.preemptions;
  }
  std::string text = fmt::format("# Equivalence report\n\nberth {} has decided {} again, from {}.\n\n", version,
                                 Plural(sum.decisions, "recorded decision"), Plural(sum.inputs, "input"));
  text += AllSame(replayed) ? "**Every decision is the same**, bit for bit: node, score, message, victims.\n\n"
                            : "**Not every decision is the same.** What follows a difference was not compared.\n\n";
  text += "| recorded by | from | to | inputs | decisions | bound | unschedulable | preemptions | result |\n";
  text += "|---|---|---|---|---|---|---|---|---|\n";
  for (const ReplayedRecording& one : replayed) {
    text += fmt::format("| berth {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", Cell(one.header.program_version),
                        api::FormatTime(one.counts.first), api::FormatTime(one.counts.last), one.counts.inputs,
                        one.counts.decisions, one.counts.bound, one.counts.unschedulable, one.counts.preemptions,
                        one.difference ? "differs" : "same");
  }
  for (const ReplayedRecording& one : replayed) {
    if (!one.difference) continue;
    text += fmt::format("\n## Input {} at {}\n\n| | {} {} |\n|---|---|\n| recorded | {} |\n| replayed | {} |\n",
                        one.difference->input, api::FormatTime(one.difference->time), one.difference->what,
                        Cell(one.difference->pod), Cell(one.difference->recorded), Cell(one.difference->replayed));
  }
  return text;
}

}  // namespace berth::cmd
