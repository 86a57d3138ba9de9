// berth simulate: schedules the pending pods of a cluster, given as files or read from a running one, in memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "commands.h"
#include "configuration_source.h"
#include "extender_calls.h"
#include "fail_on.h"
#include "flags.h"
#include "input/absent_kinds.h"
#include "input_flags.h"
#include "pod_names.h"
#include "report/gate_report.h"
#include "report/report.h"
#include "sim/simulation.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kSimulateUsage[] =
    R"(Schedule the pending pods of a cluster in memory, and say where each went or why it did not.

Usage:
  berth simulate -f FILE... [flags]
  berth simulate --from-cluster [-f FILE...] [flags]

Files hold Kubernetes objects as YAML or JSON (several documents, or what `kubectl get -o yaml` prints; gzip is fine).
Pods with spec.nodeName stay where they are; the others are scheduled in queue order, with preemption. Volumes are bound
and provisioned as the control plane would. Preempted pods are not recreated.

With --from-cluster, objects are read from a running cluster, and from files as well if any are given. The API server
gets GET requests and nothing else. `berth snapshot` writes the same objects to a file.

An object that a later -f repeats is applied over the earlier one, as kubectl apply would: for example the manifests of
a pull request over a cluster. A workload whose template has changed is rolled out: its pods are replaced as its strategy
says, or at once with --replace. A dump must be complete, like that of berth snapshot: objects refer to each other.

With --explain, reports each node's verdict with its numbers, and the smallest changes with which the pod would fit: for
every pod that stays pending, or for the pods named (NAMESPACE/NAME, or the NAME of a pod that no other namespace has),
and then nothing else.

Exit status: 0 all pending pods have a node, 2 some pod has none (or what --fail-on says), 1 bad usage or input.
)";

constexpr char kSimulateExamples[] = R"(  berth simulate -f cluster.yaml -f pods.yaml
  berth snapshot | berth simulate -f - -f deployment.yaml -o json
  berth simulate -f cluster.yaml -f pods.yaml --config scheduler.yaml --seed 7
  berth simulate -f cluster.yaml -f pods.yaml --explain shop/web-3
  berth simulate --from-cluster --explain
  berth simulate --from-cluster --kubeconfig admin.conf --context production -f new-pods.yaml
)";

constexpr std::string_view kFormats[] = {"table", "wide", "json", "yaml", "html", "markdown", "junit", "github"};

struct SimulateOptions {
  InputFlags input;
  ConfigurationFlags configuration;
  std::string output;  // empty: a table
  std::string color = "auto";
  std::vector<std::string> fail_on;
  std::vector<std::string> explain;  // "": all pods that stay pending
  uint64_t seed = 1;
  bool verify_incremental = false;
  bool extenders = false;
  std::vector<std::string> arguments;  // all of them, as they were typed
};

std::vector<std::string> PendingPods(const input::ClusterInput& input) {
  std::vector<std::string> pending;
  for (const api::Object& object : input.objects) {
    const auto pod = object.Share<api::Pod>();
    if (pod && pod->spec.node_name.empty() && !api::IsTerminated(*pod)) pending.push_back(api::KeyOf(pod->metadata));
  }
  for (const input::RefusedPod& refused : input.refused) pending.push_back(api::KeyOf(refused.pod->metadata));
  for (const input::Rollout& rollout : input.rollouts) {
    for (const auto& pod : rollout.new_pods) pending.push_back(api::KeyOf(pod->metadata));
  }
  return pending;
}

size_t CountNodes(const input::ClusterInput& input) {
  return static_cast<size_t>(std::count_if(input.objects.begin(), input.objects.end(), [](const api::Object& object) {
    return object.Share<api::Node>() != nullptr;
  }));
}

// Which pods to explain: the names on the command line, in full. A page has the tables of all pods unless there are too
// many.
Result<std::set<std::string>> PodsToExplain(const SimulateOptions& options, const input::ClusterInput& input) {
  const std::vector<std::string> pending = PendingPods(input);
  std::set<std::string> resolved;
  if (options.output == "html" && report::FitsOnPage(pending.size(), CountNodes(input))) {
    resolved.insert(pending.begin(), pending.end());
  }
  const Result<std::set<std::string>> named =
      ResolvePods(options.explain, pending, options.input.name_space, "is pending in the input");
  if (!named) return Error{named.error().code, "--explain: " + named.error().message};
  resolved.insert(named->begin(), named->end());
  return resolved;
}

// If pods were asked about, only they are printed, unless an output format was requested too.
bool IsAboutPods(const SimulateOptions& options) {
  return options.output.empty() && std::any_of(options.explain.begin(), options.explain.end(),
                                               [](const std::string& name) { return !name.empty(); });
}

std::string ExplanationsOnly(const sim::SimulationReport& report, bool color) {
  std::string text;
  for (const explain::Explanation& told : report.explanations) {
    text += (text.empty() ? "" : "\n") + report::ToText(told, {.color = color});
  }
  return text;
}

std::string Render(const sim::SimulationReport& report, const report::PageContext& page, const std::string& format,
                   const report::FailOn& fail_on, bool color) {
  if (format == "json") return report::ToJson(report);
  if (format == "yaml") return report::ToYaml(report);
  if (format == "html") return report::ToHtml(report, page);
  if (format == "markdown") return report::ToMarkdown(report, fail_on);
  if (format == "junit") return report::ToJUnit(report, fail_on);
  if (format == "github") return report::ToGitHub(report, fail_on);
  return report::ToTable(report, {.wide = format == "wide", .color = color});
}

// What a page shows about its inputs.
report::PageContext PageContextOf(const SimulateOptions& options, const input::ClusterInput& input,
                                  const SchedulerSetup& setup, const sim::Simulation& simulation) {
  report::PageContext page{.cluster = &simulation.cluster(), .objects = input.objects, .gates = setup.gates};
  page.command = {"berth", "simulate"};
  page.command.insert(page.command.end(), options.arguments.begin(), options.arguments.end());
  if (options.input.from_cluster) page.inputs.emplace_back("a running cluster");
  for (const std::string& file : options.input.files) page.inputs.push_back(file == "-" ? "standard input" : file);
  for (const std::string& nodes : options.input.nodes) page.inputs.push_back("nodes " + nodes);
  page.version = BERTH_VERSION;
  return page;
}

int Run(const framework::Registry& own_plugins, const SimulateOptions& options, const std::set<std::string>& failures,
        bool color) {
  const Result<SchedulerSetup> setup =
      LoadSetup(options.configuration, ConfigMapInFiles(options.input.files), own_plugins);
  if (!setup) return BadInput("simulate", setup.error().message);
  PrintWarnings(setup->warnings);
  const Result<ExtenderCalls> extenders = ExtenderCalls::Make(setup->configuration, options.extenders);
  if (!extenders) return BadInput("simulate", extenders.error().message);
  const Result<input::ClusterInput> input = options.input.Read(WatchesResources(setup->registry));
  if (!input) return BadInput("simulate", input.error().message, options.output);
  Result<std::set<std::string>> explained = PodsToExplain(options, *input);
  if (!explained) return BadInput("simulate", explained.error().message, options.output);

  const base::SystemClock clock;
  ProgressLine progress(stderr, IsTerminal(stderr), clock, "pods");
  sim::Simulation::Options run{.seed = options.seed, .verify_incremental = options.verify_incremental};
  run.extenders = extenders->extenders();
  run.rollouts = input->rollouts;
  run.absent = input->absent;
  run.refused = input->refused;
  run.explain = *std::move(explained);
  run.explain_pending = std::find(options.explain.begin(), options.explain.end(), "") != options.explain.end();
  if (options.output == "html" && report::MayExplainPending(PendingPods(*input).size(), CountNodes(*input))) {
    run.explain_pending = true;
  }
  run.runner_ups = (!options.output.empty() && options.output != "table") || !run.explain.empty();
  run.progress = [&](size_t tried, size_t total) { progress.Update(tried, total); };
  Result<std::unique_ptr<sim::Simulation>> simulation =
      sim::Simulation::Create(input->objects, setup->configuration, setup->registry, setup->gates, std::move(run));
  if (!simulation) return BadInput("simulate", simulation.error().message);
  sim::SimulationReport report = (*simulation)->Run();
  progress.Erase();
  report.warnings = input->warnings;
  report.notes = input->notes;
  const std::string text = IsAboutPods(options) ? ExplanationsOnly(report, color)
                                                : Render(report, PageContextOf(options, *input, *setup, **simulation),
                                                         options.output, failures, color);
  if (!WriteOut(text)) {
    return BadInput("simulate", "cannot write to standard output");
  }
  return report::Fails(report, failures) ? kUnplaced : kOk;
}

}  // namespace

int Simulate(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  SimulateOptions options{.arguments = arguments};
  const std::string dump = fmt::format("  {} > cluster.yaml\n", input::DumpCommand());
  FlagSet flags("berth simulate", kSimulateUsage, kSimulateExamples + dump);
  options.input.AddTo(flags);
  options.configuration.AddTo(flags);
  flags.AddChoice(&options.output, "output", 'o', {std::begin(kFormats), std::end(kFormats)},
                  "how to print (default table)");
  flags.AddOptional(&options.explain, "explain", "POD",
                    "say why, node by node: of this pod, or of every pod that stays pending; repeat for several");
  flags.Add(&options.fail_on, "fail-on", 0, "LIST",
            "when to exit with status 2: unplaced, preempted, warnings; several with commas, or never (default "
            "unplaced)");
  flags.AddChoice(&options.color, "color", 0, {"auto", "always", "never"}, "when to use colours (default auto)");
  flags.Add(&options.seed, "seed", 0, "N",
            "breaks ties between equally good nodes; same seed, same answer (default 1)");
  AddExtendersFlag(flags, &options.extenders);
  flags.Add(&options.verify_incremental, "verify-incremental", 0,
            "compare every decision with one computed from scratch");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("simulate", rest.error().message + "\n" + flags.Hint());
  if (!rest->empty())
    return BadInput("simulate", fmt::format("unexpected argument \"{}\"; files are given with -f", rest->front()));
  if (const Result<void> sound = options.input.Check(); !sound)
    return BadInput("simulate", sound.error().message + "\n" + flags.Hint());
  const Result<std::set<std::string>> failures =
      ParseFailOn(options.fail_on, "unplaced", {"unplaced", "preempted", "warnings"});
  if (!failures) return BadInput("simulate", failures.error().message);
  const Result<bool> color = WantsColor(options.color, stdout);
  if (!color) return BadInput("simulate", color.error().message);
  return Run(own_plugins, options, *failures, *color);
}

}  // namespace berth::cmd
