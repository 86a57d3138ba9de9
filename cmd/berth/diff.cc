// berth diff: how another configuration, or another state of the cluster, changes where pods are placed.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "codec/yaml_writer.h"
#include "commands.h"
#include "configuration_source.h"
#include "extender_calls.h"
#include "fail_on.h"
#include "flags.h"
#include "input_flags.h"
#include "report/comparison_report.h"
#include "report/gate_report.h"
#include "sim/comparison.h"
#include "sim/simulation.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kDiffUsage[] =
    R"(Schedule the same pods twice, with two configurations or on two states of a cluster, and report which end up
elsewhere.

Usage:
  berth diff --config BEFORE --config AFTER -f FILE... [flags]    two configurations
  berth diff --config AFTER -f FILE... [flags]                    the defaults, and a configuration
  berth diff --base FILE... -f FILE... [--config FILE] [flags]    two inputs

Both runs are simulations in memory, with the same seed. Pods are the same when they have the same namespace and name; those of
a workload that was rolled out, whose names differ, are matched by their workload.
Differences are listed pod by pod, then how evenly nodes and zones are filled before and after.

Exit status: 0 the runs were compared (with --fail-on: and nothing that it names happened), 2 something did, 1 bad usage
or input.
)";

constexpr char kDiffExamples[] = R"(  berth diff --config old.yaml --config new.yaml -f cluster.yaml.gz
  berth diff --config new.yaml --from-cluster
  berth diff --base yesterday.yaml.gz -f today.yaml.gz --config scheduler.yaml -o json
  berth diff --base cluster.yaml -f cluster.yaml -f more-pods.yaml --fail-on unplaced
)";

struct DiffOptions {
  InputFlags input;
  std::vector<std::string> base;
  std::vector<std::string> configs;
  std::string feature_gates;
  std::vector<std::string> plugin_folders;
  std::vector<std::string> fail_on;
  std::set<std::string> failures;  // the parsed fail_on
  std::string output = "table";
  uint64_t seed = 1;
  bool extenders = false;
};

// One of the two runs: its inputs, and its name for people.
struct Side {
  std::string name;
  std::string config;  // empty: the defaults
  InputFlags input;
};

// "old.yaml and pods.yaml"
std::string Listed(const std::vector<std::string>& files) {
  std::string text;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0) text += i + 1 == files.size() ? " and " : ", ";
    text += files[i] == "-" ? "standard input" : files[i];
  }
  return text;
}

std::pair<Side, Side> SidesOf(const DiffOptions& options) {
  Side before, after;
  after.config = options.configs.empty() ? std::string() : options.configs.back();
  // A single configuration is used for both inputs; with a single input it is compared with the defaults.
  if (options.configs.size() == 2 || !options.base.empty()) {
    before.config = options.configs.empty() ? std::string() : options.configs.front();
  }
  after.input = options.input;
  before.input = options.input;
  if (!options.base.empty()) {
    // Flags about reading apply to both; what-ifs apply to the second run.
    before.input = {};
    before.input.files = options.base;
    before.input.strict = options.input.strict;
    before.input.replace = options.input.replace;
    before.input.validate = options.input.validate;
    before.input.max_input = options.input.max_input;
    before.input.name_space = options.input.name_space;
    before.name = Listed(options.base);
    after.name = Listed(options.input.files);
    if (options.input.from_cluster) after.name += after.name.empty() ? "the cluster" : " and the cluster";
    after.name += options.input.WhatIfText();
  }
  if (options.base.empty() || before.config != after.config) {
    for (Side* side : {&before, &after}) {
      const std::string config = side->config.empty() ? "the default configuration" : side->config;
      side->name += side->name.empty() ? config : " under " + config;
    }
  }
  return {std::move(before), std::move(after)};
}

Result<sim::RunOutcome> Run(const Side& side, const DiffOptions& options, const framework::Registry& own_plugins,
                            const input::ClusterInput& input) {
  ConfigurationFlags configuration;
  configuration.config = side.config;
  configuration.feature_gates = options.feature_gates;
  configuration.plugin_folders = options.plugin_folders;
  const Result<SchedulerSetup> setup = LoadSetup(configuration, ConfigMapInFiles(side.input.files), own_plugins);
  if (!setup) return setup.error();
  PrintWarnings(setup->warnings);
  const Result<ExtenderCalls> extenders = ExtenderCalls::Make(setup->configuration, options.extenders);
  if (!extenders) return extenders.error();
  Result<std::unique_ptr<sim::Simulation>> simulation =
      sim::Simulation::Create(input.objects, setup->configuration, setup->registry, setup->gates,
                              {.seed = options.seed,
                               .absent = input.absent,
                               .rollouts = input.rollouts,
                               .refused = input.refused,
                               .extenders = extenders->extenders()});
  if (!simulation) return simulation.error();
  const sim::SimulationReport report = (*simulation)->Run();
  return sim::OutcomeOf(**simulation, report);
}

Error OnSide(std::string_view side, const Error& error) {
  return {error.code, fmt::format("{}: {}", side, error.message)};
}

Result<sim::Comparison> CompareSides(const DiffOptions& options, const framework::Registry& own_plugins) {
  auto [before, after] = SidesOf(options);
  const bool keep_custom = !own_plugins.entries().empty() || !options.plugin_folders.empty();
  const Result<input::ClusterInput> new_input = after.input.Read(keep_custom);
  if (!new_input) return options.base.empty() ? new_input.error() : OnSide("after", new_input.error());
  // Standard input and a running cluster can be read only once.
  const Result<input::ClusterInput> old_input = options.base.empty() ? new_input : before.input.Read(keep_custom);
  if (!old_input) return OnSide("before", old_input.error());
  const Result<sim::RunOutcome> old_outcome = Run(before, options, own_plugins, *old_input);
  if (!old_outcome) return OnSide("before", old_outcome.error());
  const Result<sim::RunOutcome> new_outcome = Run(after, options, own_plugins, *new_input);
  if (!new_outcome) return OnSide("after", new_outcome.error());
  sim::Comparison comparison = sim::Compare(*old_outcome, std::move(before.name), *new_outcome, std::move(after.name));
  comparison.before.warnings = old_input->warnings;
  comparison.before.notes = old_input->notes;
  comparison.after.warnings = new_input->warnings;
  comparison.after.notes = new_input->notes;
  return comparison;
}

Result<void> Check(const DiffOptions& options, const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return Error::InvalidArgument(
        fmt::format("unexpected argument \"{}\"; files are given with -f, --base and --config", rest.front()));
  }
  if (Result<void> sound = options.input.Check(); !sound) return sound;
  if (options.configs.size() > 2) {
    return Error::InvalidArgument(fmt::format("--config: expected at most two, found {}", options.configs.size()));
  }
  if (options.base.empty() && options.configs.empty()) {
    return Error::InvalidArgument(
        "nothing to compare: give one or two files with --config, or another input with --base");
  }
  return {};
}

std::string Render(const sim::Comparison& comparison, std::string_view format, const report::FailOn& fail_on) {
  if (format == "markdown") return report::ToMarkdown(comparison, fail_on);
  if (format == "junit") return report::ToJUnit(comparison, fail_on);
  if (format == "github") return report::ToGitHub(comparison, fail_on);
  if (format == "table") return report::ToTable(comparison);
  std::string json = report::ToJson(comparison);
  return format == "yaml" ? codec::JsonToYaml(std::move(json)) : json;
}

int Print(const sim::Comparison& comparison, const DiffOptions& options) {
  if (!WriteOut(Render(comparison, options.output, options.failures))) {
    return BadInput("diff", "cannot write to standard output");
  }
  return report::Fails(comparison, options.failures) ? kUnplaced : kOk;
}

}  // namespace

int Diff(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  DiffOptions options;
  FlagSet flags("berth diff", kDiffUsage, kDiffExamples);
  options.input.AddTo(flags);
  flags.Add(&options.base, "base", 0, "FILE", "objects of the first run, if they differ; repeat for several");
  flags.Add(&options.configs, "config", 0, "FILE", "KubeSchedulerConfiguration; twice: before and after");
  flags.Add(&options.feature_gates, "feature-gates", 0, "A=true,B=false", "feature gates, as kube-scheduler's");
  AddPluginFolders(flags, &options.plugin_folders);
  AddExtendersFlag(flags, &options.extenders);
  flags.Add(
      &options.fail_on, "fail-on", 0, "LIST",
      "when to exit with status 2: changed (any pod differs), unplaced (one is left without a node that had "
      "one, or is new), preempted, moved, warnings (new ones of the input); several with commas, or never (default "
      "never)");
  flags.AddChoice(&options.output, "output", 'o', {"table", "json", "yaml", "markdown", "junit", "github"},
                  "how to print (default table)");
  flags.Add(&options.seed, "seed", 0, "N", "breaks ties between equally good nodes, in both runs (default 1)");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("diff", rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = Check(options, *rest); !sound) {
    return BadInput("diff", sound.error().message + "\n" + flags.Hint());
  }
  Result<std::set<std::string>> failures =
      ParseFailOn(options.fail_on, "never", {"changed", "unplaced", "preempted", "moved", "warnings"});
  if (!failures) return BadInput("diff", failures.error().message);
  options.failures = std::move(*failures);
  const Result<sim::Comparison> comparison = CompareSides(options, own_plugins);
  return comparison ? Print(*comparison, options) : BadInput("diff", comparison.error().message, options.output);
}

}  // namespace berth::cmd
