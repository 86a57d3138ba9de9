// berth capacity: how many more instances of a pod fit into a cluster, and what stops the next one.
#include "sim/capacity.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "codec/yaml_writer.h"
#include "commands.h"
#include "configuration_source.h"
#include "extender_calls.h"
#include "fail_on.h"
#include "flags.h"
#include "input/absent_kinds.h"
#include "input/node_template.h"
#include "input/quotas.h"
#include "input_flags.h"
#include "report/capacity_report.h"
#include "report/gate_report.h"
#include "report/node_plan_report.h"
#include "sim/node_plan.h"
#include "sim/simulation.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kCapacityUsage[] =
    R"(Say how many more instances of a pod fit into a cluster, where they go, and what stops the next one.

Usage:
  berth capacity -f FILE... --pod FILE [flags]
  berth capacity --from-cluster --pod FILE[=N] --pod FILE[=M] [flags]
  berth capacity -f FILE... --add-nodes TEMPLATE [--pod FILE --at-least N] [flags]

The cluster is what -f and --from-cluster give, as for berth simulate; its pending pods are scheduled first. Then
instances are scheduled one after the other until one fits nowhere. With several --pod, or FILE=N, they are scheduled in
rounds of N of each, until the first that does not fit.

Instances do not preempt, whatever their priority, unless --preempt is given.

With --add-nodes the question is how many such nodes are needed besides the existing ones: the smallest number with
which --at-least rounds of --pod fit or, without --pod, with which every pending pod of the input has a node. TEMPLATE
describes one node: cpu and memory, and any other resource, label.KEY=VALUE, taint.KEY=VALUE:EFFECT, zones=N.

Exit status: 0 at least one round fits (or --at-least; or some number of nodes is enough), 2 fewer do (or what --fail-on
names), 1 bad usage or input.
)";

constexpr char kCapacityExamples[] = R"(  berth capacity -f cluster.yaml --pod pod.yaml
  berth capacity -f cluster.yaml --pod pod.yaml --verbose
  berth capacity --from-cluster --pod web.yaml=3 --pod db.yaml=1 -o json
  berth capacity -f cluster.yaml.gz --pod pod.yaml --at-least 20 || echo 'too full'
  berth capacity -f cluster.yaml --add-nodes cpu=32,memory=128Gi --pod web.yaml --at-least 500
  berth capacity -f cluster.yaml -f pods.yaml --add-nodes cpu=8,memory=32Gi,zones=3,label.disk=ssd
)";

// More than any cluster has, and still reached soon if nothing limits the pods per node.
constexpr uint64_t kDefaultMax = 1'000'000;

struct CapacityOptions {
  InputFlags input;
  ConfigurationFlags configuration;
  std::vector<std::string> pods;
  std::string add_nodes;
  std::string output = "table";
  uint64_t at_least = 1;
  uint64_t max = kDefaultMax;
  uint64_t seed = 1;
  bool preempt = false;
  bool verbose = false;
  bool extenders = false;
  std::vector<std::string> fail_on;
  std::set<std::string> failures;  // the parsed fail_on
};

struct PodFlag {
  std::string file;
  size_t per_round = 1;
};

// "web.yaml" or "web.yaml=3". A file's own name may contain "="; a number after the last one is the count.
Result<PodFlag> ParsePodFlag(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) return PodFlag{text};
  PodFlag flag{text.substr(0, equals)};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, flag.per_round);
  if (error != std::errc() || stop != end) return PodFlag{text};
  if (flag.per_round > 0) return flag;
  return Error::InvalidArgument(fmt::format("--pod: expected a number of at least 1, found \"{}\"", text));
}

// The pods to make instances of; other objects in their files are added to the cluster.
Result<std::vector<sim::CapacityShare>> ReadShares(const CapacityOptions& options, std::vector<api::Object>& cluster) {
  std::vector<sim::CapacityShare> shares;
  const Result<input::InputChanges> how = options.input.Changes();
  if (!how) return how.error();
  for (const std::string& text : options.pods) {
    const Result<PodFlag> flag = ParsePodFlag(text);
    if (!flag) return flag.error();
    Result<sim::PodTemplate> pod = sim::ReadPodTemplate(flag->file, cluster, *how);
    if (!pod) return Error{pod.error().code, "--pod: " + pod.error().message};
    PrintWarnings(pod->warnings);
    cluster.insert(cluster.end(), pod->others.begin(), pod->others.end());
    shares.push_back({std::move(pod->pod), flag->per_round});
  }
  return shares;
}

// What exit status 2 may report, if it happened.
struct Findings {
  bool too_few = false;
  size_t unplaced = 0;     // pods of the input that could not be placed themselves
  bool preempted = false;  // a pod was evicted
};

std::string Render(const report::GateVerdict& verdict, std::string json, std::string_view format) {
  if (format == "table") return verdict.text;
  if (format == "markdown") return report::ToMarkdown(verdict);
  if (format == "junit") return report::ToJUnit(verdict);
  if (format == "github") return report::ToGitHub(verdict);
  return format == "yaml" ? codec::JsonToYaml(std::move(json)) : json;
}

int Print(std::string text, std::string json, const std::vector<std::string>& warnings, const CapacityOptions& options,
          const Findings& found) {
  const std::set<std::string>& on = options.failures;
  const bool failed = (found.too_few && on.contains("too-few")) || (found.unplaced > 0 && on.contains("unplaced")) ||
                      (found.preempted && on.contains("preempted")) || (!warnings.empty() && on.contains("warnings"));
  const report::GateVerdict verdict{"berth capacity", !failed, std::move(text), warnings};
  if (!WriteOut(Render(verdict, std::move(json), options.output))) {
    return BadInput("capacity", "cannot write to standard output");
  }
  return failed ? kUnplaced : kOk;
}

// What all runs share.
struct World {
  SchedulerSetup setup;
  ExtenderCalls extenders;
  std::vector<api::Object> objects;
  std::vector<input::Rollout> rollouts;
  std::vector<input::RefusedPod> refused;
  std::set<api::Kind> absent;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::vector<sim::CapacityShare> shares;
};

Result<World> ReadWorld(const framework::Registry& own_plugins, const CapacityOptions& options) {
  Result<SchedulerSetup> setup = LoadSetup(options.configuration, ConfigMapInFiles(options.input.files), own_plugins);
  if (!setup) return setup.error();
  PrintWarnings(setup->warnings);
  Result<ExtenderCalls> extenders = ExtenderCalls::Make(setup->configuration, options.extenders);
  if (!extenders) return extenders.error();
  Result<input::ClusterInput> input = options.input.Read(WatchesResources(setup->registry));
  if (!input) return input.error();
  Result<std::vector<sim::CapacityShare>> shares = ReadShares(options, input->objects);
  if (!shares) return shares.error();
  return World{.setup = std::move(*setup),
               .extenders = *std::move(extenders),
               .objects = std::move(input->objects),
               .rollouts = std::move(input->rollouts),
               .refused = std::move(input->refused),
               .absent = std::move(input->absent),
               .warnings = std::move(input->warnings),
               .notes = std::move(input->notes),
               .shares = std::move(*shares)};
}

Result<std::unique_ptr<sim::Simulation>> SimulateWith(const World& world, const std::vector<api::Object>& objects,
                                                      const CapacityOptions& options) {
  return sim::Simulation::Create(objects, world.setup.configuration, world.setup.registry, world.setup.gates,
                                 {.seed = options.seed,
                                  .absent = world.absent,
                                  .rollouts = world.rollouts,
                                  .refused = world.refused,
                                  .extenders = world.extenders.extenders()});
}

sim::CapacityRequest RequestFor(const World& world, size_t rounds, const CapacityOptions& options) {
  const auto rules = std::make_shared<input::NamespaceRules>(input::RulesOf(world.objects));
  return {world.shares, rounds, options.preempt, [rules](const api::Pod& pod) { return rules->Admit(pod); }};
}

size_t UnplacedIn(const sim::SimulationReport& report) {
  return report.pods.size() - report.Count(sim::PodOutcome::kScheduled) + report.lost.size();
}

int Measure(const World& world, const CapacityOptions& options) {
  Result<std::unique_ptr<sim::Simulation>> simulation = SimulateWith(world, world.objects, options);
  if (!simulation) return BadInput("capacity", simulation.error().message);
  const sim::SimulationReport before = (*simulation)->Run();
  std::vector<std::string> warnings = world.warnings;
  const size_t unplaced = UnplacedIn(before);
  if (unplaced > 0) {
    warnings.push_back(
        fmt::format("{} pod(s) of the input have no place themselves; berth simulate says why", unplaced));
    PrintWarnings({warnings.back()});
  }
  sim::CapacityReport report =
      sim::MeasureCapacity(**simulation, RequestFor(world, options.max, options), world.setup.gates);
  report.warnings = std::move(warnings);
  report.notes = world.notes;
  return Print(report::ToText(report, options.verbose), report::ToJson(report), report.warnings, options,
               {.too_few = report.rounds < options.at_least,
                .unplaced = unplaced,
                .preempted = !before.preempted.empty() || !report.preempted.empty()});
}

// Whether everything can be placed with these objects. Other results are added to `found`.
Result<sim::NodeTrial> TryNodes(const World& world, const std::vector<api::Object>& objects,
                                const CapacityOptions& options, Findings& found) {
  Result<std::unique_ptr<sim::Simulation>> simulation = SimulateWith(world, objects, options);
  if (!simulation) return simulation.error();
  const sim::SimulationReport report = (*simulation)->Run();
  found.unplaced = UnplacedIn(report);
  found.preempted = !report.preempted.empty();
  sim::NodeTrial trial;
  if (world.shares.empty()) {
    trial.unplaced = report.Count(sim::PodOutcome::kPending);
    for (const sim::PodReport& pod : report.pods) {
      if (pod.outcome != sim::PodOutcome::kPending) continue;
      trial.pod = pod.key;
      trial.message = pod.message;
      break;
    }
    return trial;
  }
  const sim::CapacityReport placed =
      sim::MeasureCapacity(**simulation, RequestFor(world, options.at_least, options), world.setup.gates);
  found.preempted = found.preempted || !placed.preempted.empty();
  if (placed.stop == sim::CapacityStop::kLimitReached) return trial;
  for (const sim::CapacityReport::Share& share : placed.shares) {
    trial.unplaced += share.per_round * options.at_least - share.instances;
  }
  trial.pod = placed.shares[placed.stopped_share].pod;
  trial.message = placed.message;
  return trial;
}

// "500 instance(s) of the pod web and …", or the pending pods; and the number of these pods.
std::pair<std::string, size_t> Wanted(const World& world, const CapacityOptions& options) {
  std::string text;
  size_t pods = 0;
  for (const sim::CapacityShare& share : world.shares) {
    const size_t instances = share.per_round * options.at_least;
    text +=
        fmt::format("{}{} instance(s) of the pod {}", text.empty() ? "" : " and ", instances, share.pod->metadata.name);
    pods += instances;
  }
  if (!world.shares.empty()) return {text, pods};
  for (const api::Object& object : world.objects) {
    const api::Pod* pod = object.As<api::Pod>();
    if (pod && pod->spec.node_name.empty() && !api::IsTerminated(*pod)) ++pods;
  }
  for (const input::Rollout& rollout : world.rollouts) pods += rollout.new_pods.size();
  pods += world.refused.size();
  return {fmt::format("the {} pending pod(s) of the input", pods), pods};
}

int Plan(const World& world, const CapacityOptions& options) {
  Result<input::NodeTemplate> node = input::ParseNodeTemplate(options.add_nodes);
  if (!node) return BadInput("capacity", "--add-nodes: " + node.error().message);
  std::vector<const api::Node*> existing;
  std::set<std::pair<api::Kind, std::string>> known;  // what a template must not create again
  for (const api::Object& object : world.objects) {
    if (const api::Node* there = object.As<api::Node>()) existing.push_back(there);
    known.emplace(object.kind(), object.metadata().name);
  }
  std::vector<std::string> warnings = world.warnings;
  if (world.absent.contains(api::Kind::kDaemonSet)) {
    warnings.push_back(
        fmt::format("the input has pods of DaemonSets but no DaemonSet at all: what they take of each new "
                    "node is not counted. All that berth reads of a cluster: {}",
                    input::DumpCommand()));
    PrintWarnings({warnings.back()});
  }
  std::map<size_t, Findings> found;  // by number of nodes
  const auto trial = [&](size_t count) -> Result<sim::NodeTrial> {
    std::vector<api::Object> objects = world.objects;
    node->count = count;
    std::vector<api::Node> nodes = input::MakeNodes(*node, existing);
    for (api::Object& daemon : input::DaemonPodsOn(nodes, world.objects)) objects.push_back(std::move(daemon));
    for (api::Object& device : input::MakeDevices(*node, nodes)) {
      if (!known.contains({device.kind(), device.metadata().name})) objects.push_back(std::move(device));
    }
    for (api::Node& made : nodes) objects.push_back(api::MakeObject(std::move(made)));
    return TryNodes(world, objects, options, found[count]);
  };
  // One node per pod: more cannot help.
  const auto [wanted, pods] = Wanted(world, options);
  Result<sim::NodePlan> plan = sim::PlanNodes(trial, pods);
  if (!plan) return BadInput("capacity", plan.error().message);
  Findings& last = found[plan->nodes];
  last.too_few = !plan->possible;
  // Pods that are gated, or belong to another scheduler, or DaemonSet pods that are too large for the new nodes.
  if (plan->possible && last.unplaced > 0) {
    warnings.push_back(
        fmt::format("{} other pod(s) have no place with these nodes either; berth simulate says why", last.unplaced));
    PrintWarnings({warnings.back()});
  }
  plan->warnings = std::move(warnings);
  plan->notes = world.notes;
  return Print(report::ToText(*plan, options.add_nodes, wanted), report::ToJson(*plan, options.add_nodes, wanted),
               plan->warnings, options, last);
}

Result<void> Check(const CapacityOptions& options, const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return Error::InvalidArgument(
        fmt::format("unexpected argument \"{}\"; files are given with -f and --pod", rest.front()));
  }
  if (Result<void> sound = options.input.Check(); !sound) return sound;
  if (options.pods.empty() && options.add_nodes.empty()) {
    return Error::InvalidArgument("no pod: give the pod to count with --pod");
  }
  if (options.add_nodes.starts_with("count=") || options.add_nodes.find(",count=") != std::string::npos) {
    return Error::InvalidArgument("--add-nodes: count is what is asked for, so it cannot be given");
  }
  if (options.max == 0) return Error::InvalidArgument("--max: expected at least 1, found 0");
  if (options.max < options.at_least) {
    return Error::InvalidArgument(fmt::format("--max {} is less than --at-least {}", options.max, options.at_least));
  }
  return {};
}

}  // namespace

int Capacity(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  CapacityOptions options;
  FlagSet flags("berth capacity", kCapacityUsage, kCapacityExamples);
  options.input.AddTo(flags);
  options.configuration.AddTo(flags);
  flags.Add(&options.add_nodes, "add-nodes", 0, "TEMPLATE",
            "how many nodes like this (cpu=32,memory=128Gi) would be enough, rather than how many pods fit");
  flags.Add(&options.pods, "pod", 0, "FILE[=N]",
            "the pod to count, and how many of it make a round (default 1); repeat for several");
  flags.Add(&options.at_least, "at-least", 0, "N", "exit with status 2 when fewer rounds fit (default 1)");
  flags.Add(&options.max, "max", 0, "N", "stop after N rounds (default 1000000)");
  flags.Add(&options.preempt, "preempt", 0, "let instances preempt pods of lower priority");
  flags.Add(&options.fail_on, "fail-on", 0, "LIST",
            "when to exit with status 2: too-few (fewer rounds fit, or no number of nodes is enough), unplaced (a "
            "pod of the input has no node itself), preempted, warnings; several with commas, or never (default "
            "too-few)");
  flags.AddChoice(&options.output, "output", 'o', {"table", "json", "yaml", "markdown", "junit", "github"},
                  "how to print (default table)");
  flags.Add(&options.seed, "seed", 0, "N", "breaks ties between equally good nodes (default 1)");
  AddExtendersFlag(flags, &options.extenders);
  flags.Add(&options.verbose, "verbose", 'v', "print what an instance requires, and how many go to each node");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("capacity", rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = Check(options, *rest); !sound) {
    return BadInput("capacity", sound.error().message + "\n" + flags.Hint());
  }
  Result<std::set<std::string>> failures =
      ParseFailOn(options.fail_on, "too-few", {"too-few", "unplaced", "preempted", "warnings"});
  if (!failures) return BadInput("capacity", failures.error().message);
  options.failures = std::move(*failures);
  const Result<World> world = ReadWorld(own_plugins, options);
  if (!world) return BadInput("capacity", world.error().message, options.output);
  return options.add_nodes.empty() ? Measure(*world, options) : Plan(*world, options);
}

}  // namespace berth::cmd
