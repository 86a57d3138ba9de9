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

std::string CountsText(const replay::Counts& counts) {
  return fmt::format("{}, {}: {} bound, {} unschedulable, {}", Plural(counts.inputs, "input"),
                     Plural(counts.decisions, "decision"), counts.bound, counts.unschedulable,
                     Plural(counts.preemptions, "preemption"));
}

// Text for a table cell.
std::string Cell(std::string_view text) {
  std::string cell = base::PrintableLines(text);
  for (size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
  std::replace(cell.begin(), cell.end(), '\n', ' ');
  return cell;
}

std::string EndText(const ReplayedRecording& one) {
  if (one.torn) return "; the last one ends in the middle of a block";
  return one.open ? "; the last one was not closed: its scheduler was killed, or still records" : "";
}

// What could not be repeated, one sentence each.
std::vector<std::string> Caveats(const replay::Counts& counts) {
  std::vector<std::string> caveats;
  if (counts.opaque_work > 0) {
    caveats.push_back(fmt::format("Plugins had {} of their own run between cycles, which a recording cannot repeat",
                                  Plural(counts.opaque_work, "function")));
  }
  if (counts.cycles_not_run > 0) {
    caveats.push_back(
        fmt::format("{} asked the API for objects that are not recorded, and ended as they did then without being run",
                    Plural(counts.cycles_not_run, "binding cycle")));
  }
  if (counts.withheld_objects > 0) {
    caveats.push_back(fmt::format("Of {} only the metadata is recorded", Plural(counts.withheld_objects, "Secret")));
  }
  return caveats;
}

std::string_view ResultText(const ReplayedRecording& one) {
  if (one.difference) return "differs";
  return one.counts.decisions > 0 ? "same" : "nothing compared";
}

}  // namespace

ReplayVerdict VerdictOf(const std::vector<ReplayedRecording>& replayed) {
  uint64_t compared = 0;
  for (const ReplayedRecording& one : replayed) {
    if (one.difference) return ReplayVerdict::kDiffers;
    compared += one.counts.decisions;
  }
  return compared > 0 ? ReplayVerdict::kSame : ReplayVerdict::kNothingCompared;
}

std::string ToText(const std::vector<ReplayedRecording>& replayed, std::string_view version) {
  std::string text;
  for (const ReplayedRecording& one : replayed) {
    text += fmt::format("Recorded by berth {} from {} to {}, {}{}\n", one.header.program_version,
                        api::FormatTime(one.counts.first), api::FormatTime(one.counts.last), Plural(one.files, "file"),
                        EndText(one));
    text += fmt::format("Replayed by berth {}: {}\n", version, CountsText(one.counts));
    for (const std::string& caveat : Caveats(one.counts)) text += caveat + "\n";
    if (!one.difference) {
      text += one.counts.decisions > 0 ? "Every decision is the same: node, score, message, victims.\n\n"
                                       : "There is no decision in it, so nothing was compared.\n\n";
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
  writer.Bool(VerdictOf(replayed) == ReplayVerdict::kSame);
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
    writer.Key("open");
    writer.Bool(one.open);
    number("inputs", one.counts.inputs);
    number("decisions", one.counts.decisions);
    number("bound", one.counts.bound);
    number("unschedulable", one.counts.unschedulable);
    number("preemptions", one.counts.preemptions);
    number("functionsNotRepeated", one.counts.opaque_work);
    number("bindingCyclesNotRun", one.counts.cycles_not_run);
    number("objectsWithheld", one.counts.withheld_objects);
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
  switch (VerdictOf(replayed)) {
    case ReplayVerdict::kSame:
      text += "**Every decision is the same**, bit for bit: node, score, message, victims.\n\n";
      break;
    case ReplayVerdict::kDiffers:
      text += "**Not every decision is the same.** What follows a difference was not compared.\n\n";
      break;
    case ReplayVerdict::kNothingCompared:
      text += "**Nothing was compared**: there is no decision in what was replayed.\n\n";
  }
  text += "| recorded by | from | to | inputs | decisions | bound | unschedulable | preemptions | result |\n";
  text += "|---|---|---|---|---|---|---|---|---|\n";
  for (const ReplayedRecording& one : replayed) {
    text += fmt::format("| berth {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", Cell(one.header.program_version),
                        api::FormatTime(one.counts.first), api::FormatTime(one.counts.last), one.counts.inputs,
                        one.counts.decisions, one.counts.bound, one.counts.unschedulable, one.counts.preemptions,
                        ResultText(one));
  }
  for (const ReplayedRecording& one : replayed) {
    for (const std::string& caveat : Caveats(one.counts)) text += fmt::format("\n{}.\n", caveat);
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
