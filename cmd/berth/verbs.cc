#include "verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/printable.h"
#include "base/spelling.h"
#include "commands.h"
#include "report/gate_report.h"
#include "scheduler_flags.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr Verb kVerbs[] = {
    {"scheduler", "schedule the pods of a real cluster; takes kube-scheduler's flags and configuration", Scheduler},
    {"simulate", "schedule pods onto a cluster in memory, and report where each went and why", Simulate},
    {"explain", "explain why a pod has no node, or why it has that node, and what would help", Explain},
    {"console", "serve the console of a real cluster on this machine, whichever scheduler runs there", Console},
    {"capacity", "say how many more instances of a pod fit, and what stops the next one", Capacity},
    {"diff", "say what another configuration, or another input, changes", Diff},
    {"replay", "repeat the decisions in a recording of the scheduler, and compare", Replay},
    {"shadow", "run beside another scheduler, and compare each of its decisions with berth's", Shadow},
    {"record", "record what happens in a cluster, whichever scheduler serves it, for replay and shadow", Record},
    {"snapshot", "write the objects of a real cluster that scheduling reads to a file for simulate", Snapshot},
    {"config", "check, complete and convert scheduler configurations, and list plugins", Config},
    {"bench", "measure how fast pods are scheduled", Bench, "perf"},
    {"completion", "print a completion script for a shell", Completion},
    {"man", "print or write manual pages", Man},
};

// These two take no flags, and are not in the table.
constexpr std::pair<std::string_view, std::string_view> kPlain[] = {{"version", "print the version"},
                                                                    {"help", "this text"}};

// The scheduler's flags are upstream's, and so is the layout of their table.
CommandDescription DescribeScheduler() {
  const HelpCapture capture;
  const std::string text = SchedulerFlags("berth scheduler").Help();
  CHECK(capture.description());
  CommandDescription description = *capture.description();
  description.command = "berth scheduler";
  description.usage = text;
  description.examples =
      "  berth scheduler --config /etc/kubernetes/scheduler.yaml\n"
      "  berth scheduler --kubeconfig scheduler.conf --leader-elect=false -v 2\n";
  return description;
}

CommandDescription Describe(const Verb& verb, std::vector<std::string> arguments) {
  const HelpCapture capture;
  arguments.push_back("--help");
  CHECK(verb.run({}, arguments) == kOk && capture.description());
  return *capture.description();
}

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  for (const auto& [plain, summary] : kPlain) names.push_back(plain);
  const std::string_view meant = base::NearestWord(name, names);
  return fmt::format("unknown verb \"{}\"{}", name, meant.empty() ? "" : fmt::format(", did you mean {}?", meant));
}

std::string HelpOfAll() {
  std::string text =
      "berth schedules Kubernetes pods exactly as kube-scheduler v1.36 does.\n\nUsage:\n  berth VERB "
      "[flags]\n\nVerbs:\n";
  for (const Verb& verb : kVerbs) text += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
  for (const auto& [name, summary] : kPlain) text += fmt::format("  {:<10} {}\n", name, summary);
  return text + R"(
Examples:
  berth simulate -f cluster.yaml -f pods.yaml
  berth capacity -f cluster.yaml --pod pod.yaml
  berth diff --config old.yaml --config new.yaml -f cluster.yaml

`berth help VERB` says more about each.
)";
}

std::vector<VerbDescription> DescribeVerbs() {
  std::vector<VerbDescription> described;
  for (const Verb& verb : kVerbs) {
    described.push_back({std::string(verb.name), std::string(verb.summary),
                         verb.run == Scheduler ? DescribeScheduler() : Describe(verb, {})});
    if (verb.sub_verb.empty()) continue;
    described.push_back({fmt::format("{} {}", verb.name, verb.sub_verb), std::string(verb.summary),
                         Describe(verb, {std::string(verb.sub_verb)})});
  }
  return described;
}

int BadInput(std::string_view verb, std::string_view message) {
  fmt::print(stderr, "berth {}: {}\n", verb, base::PrintableLines(message));
  return kBadInput;
}

int BadInput(std::string_view verb, std::string_view message, std::string_view output) {
  const int status = BadInput(verb, message);
  static constexpr std::string_view kDocuments[] = {"json", "yaml", "github", "markdown", "junit"};
  if (std::find(std::begin(kDocuments), std::end(kDocuments), output) == std::end(kDocuments)) return status;
  std::vector<std::string> errors;
  for (std::string_view rest = message; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    // Indented lines belong to the problem above them.
    if (line.starts_with("    ") && !errors.empty()) {
      errors.back().append("\n").append(line);
    } else if (!line.empty() && !line.ends_with("the input has problems:")) {
      errors.emplace_back(line);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string who = fmt::format("berth {}", verb);
  WriteOut(output == "github"     ? report::ErrorsToGitHub(errors)
           : output == "markdown" ? report::ErrorsToMarkdown(who, errors)
           : output == "junit"    ? report::ErrorsToJUnit(who, errors)
                                  : report::ErrorsToJson(errors, output == "yaml"));
  return status;
}

}  // namespace berth::cmd
