// berth explain: why a pod has no node, or why it has that one. Also what a program called kubectl-why does.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "codec/yaml_writer.h"
#include "commands.h"
#include "configuration_source.h"
#include "flags.h"
#include "input_flags.h"
#include "live_explain.h"
#include "pod_names.h"
#include "report/report.h"
#include "sim/simulation.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kExplainUsage[] =
    R"(Say why a pod has no node, node by node with the numbers behind it, and the smallest changes with which it would fit.

Usage:
  berth explain POD... -f FILE... [flags]
  berth explain POD... --from-cluster [-n NAMESPACE] [flags]
  berth explain POD... --live [-n NAMESPACE] [flags]
  kubectl why POD... [-n NAMESPACE] [flags]      when the program is installed as kubectl-why

POD is NAMESPACE/NAME, or the NAME of a pod that no other namespace has. Everything that waits in the input is scheduled
in memory, in queue order, as berth simulate does, and the result for these pods is reported. A pod that has a node
already is explained as if it were placed again, with everything else where it is.

With --live, asks the berth scheduler of the cluster: the pod's last attempts, its place in the queue, the events that
would requeue it, and each node's current verdict.

Exit status: 0 all of these pods have a node, 2 one has none, 1 bad usage or input.
)";

constexpr char kExplainExamples[] = R"(  berth explain shop/web-3 -f cluster.yaml
  berth explain web-3 -n shop --from-cluster
  berth snapshot | berth explain web-3 -f - -o json
  kubectl why web-3 -n shop
  kubectl why web-3 -n shop --live
)";

struct ExplainOptions {
  InputFlags input;
  ConfigurationFlags configuration;
  LiveFlags live;
  std::vector<std::string> pods;
  std::string output = "text";
  std::string color = "auto";
  uint64_t seed = 1;
};

std::vector<std::string> PodsOf(const input::ClusterInput& input) {
  std::vector<std::string> pods;
  for (const api::Object& object : input.objects) {
    const auto* pod = object.As<api::Pod>();
    if (pod && !api::IsTerminated(*pod)) pods.push_back(api::KeyOf(pod->metadata));
  }
  for (const input::Rollout& rollout : input.rollouts) {
    for (const auto& pod : rollout.new_pods) pods.push_back(api::KeyOf(pod->metadata));
  }
  return pods;
}

// Removes the named pods from their nodes, and records where they were. Other pending pods stay pending: they must not
// take the freed places.
void Unbind(const std::set<std::string>& named, input::ClusterInput& input) {
  const size_t notes = input.notes.size();
  for (api::Object& object : input.objects) {
    const auto* pod = object.As<api::Pod>();
    if (!pod || pod->spec.node_name.empty() || !named.contains(api::KeyOf(pod->metadata))) continue;
    input.notes.push_back(fmt::format("{} is on {} already; what follows is as if it were placed again",
                                      api::KeyOf(pod->metadata), pod->spec.node_name));
    api::Pod changed = *pod;
    changed.spec.node_name.clear();
    changed.status = {};
    object = api::MakeObject(std::move(changed));
  }
  if (input.notes.size() == notes) return;
  std::erase_if(input.objects, [&](const api::Object& object) {
    const auto* pod = object.As<api::Pod>();
    return pod && pod->spec.node_name.empty() && !named.contains(api::KeyOf(pod->metadata));
  });
  input.rollouts.clear();
  input.refused.clear();
}

std::string Render(const sim::SimulationReport& report, const ExplainOptions& options, bool color) {
  if (options.output == "json") return report::ToJson(report);
  if (options.output == "yaml") return report::ToYaml(report);
  std::string text;
  for (const explain::Explanation& told : report.explanations) {
    text += (text.empty() ? "" : "\n") + report::ToText(told, {.color = color});
  }
  return text;
}

int Run(const framework::Registry& own_plugins, const ExplainOptions& options, bool color) {
  const Result<SchedulerSetup> setup =
      LoadSetup(options.configuration, ConfigMapInFiles(options.input.files), own_plugins);
  if (!setup) return BadInput("explain", setup.error().message, options.output);
  PrintWarnings(setup->warnings);
  Result<input::ClusterInput> input = options.input.Read();
  if (!input) return BadInput("explain", input.error().message, options.output);
  const Result<std::set<std::string>> named =
      ResolvePods(options.pods, PodsOf(*input), options.input.name_space, "is in the input");
  if (!named) return BadInput("explain", named.error().message, options.output);
  const size_t notes = input->notes.size();
  Unbind(*named, *input);
  PrintNotes({input->notes.begin() + static_cast<ptrdiff_t>(notes), input->notes.end()});
  sim::Simulation::Options run{.seed = options.seed};
  run.explain = *named;
  run.runner_ups = true;
  run.rollouts = input->rollouts;
  run.absent = input->absent;
  run.refused = input->refused;
  Result<std::unique_ptr<sim::Simulation>> simulation =
      sim::Simulation::Create(input->objects, setup->configuration, setup->registry, setup->gates, std::move(run));
  if (!simulation) return BadInput("explain", simulation.error().message);
  sim::SimulationReport report = (*simulation)->Run();
  report.warnings = input->warnings;
  report.notes = input->notes;
  if (!WriteOut(Render(report, options, color))) return BadInput("explain", "cannot write to standard output");
  const bool placed = std::all_of(report.explanations.begin(), report.explanations.end(),
                                  [](const explain::Explanation& told) { return !told.node.empty(); });
  return placed ? kOk : kUnplaced;
}

}  // namespace

int Explain(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  ExplainOptions options;
  FlagSet flags("berth explain", kExplainUsage, kExplainExamples);
  options.input.AddTo(flags);
  options.configuration.AddTo(flags);
  options.live.AddTo(flags);
  flags.AddChoice(&options.output, "output", 'o', {"text", "json", "yaml"}, "how to print (default text)");
  flags.AddChoice(&options.color, "color", 0, {"auto", "always", "never"}, "when to use colours (default auto)");
  flags.Add(&options.seed, "seed", 0, "N",
            "breaks ties between equally good nodes; same seed, same answer (default 1)");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("explain", rest.error().message + "\n" + flags.Hint());
  if (rest->empty()) return BadInput("explain", "no pod: say which one to explain\n" + flags.Hint());
  options.pods = *rest;
  if (const Result<void> sound = options.live.Check(); !sound)
    return BadInput("explain", sound.error().message + "\n" + flags.Hint());
  if (options.live.live) {
    if (!options.input.files.empty()) return BadInput("explain", "--live: expected no -f, it asks a running scheduler");
    return RunLiveExplain(options.live, options.input.cluster, options.input.name_space, options.pods, options.output);
  }
  if (const Result<void> sound = options.input.Check(); !sound)
    return BadInput("explain", sound.error().message + "\n" + flags.Hint());
  const Result<bool> color = WantsColor(options.color, stdout);
  if (!color) return BadInput("explain", color.error().message);
  return Run(own_plugins, options, *color);
}

int KubectlWhy(const framework::Registry& own_plugins, std::vector<std::string> arguments) {
  const bool has_input = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.starts_with("-f") || argument.starts_with("--filename") || argument == "--from-cluster" ||
           argument == "--live" || argument == "--live=true";
  });
  // A kubectl plugin is about the cluster that kubectl talks to.
  if (!has_input) arguments.push_back("--from-cluster");
  return Explain(own_plugins, arguments);
}

}  // namespace berth::cmd
