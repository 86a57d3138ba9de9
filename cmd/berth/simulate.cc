// berth simulate: schedules the pending pods of a cluster, given as files or read from a running one, in memory.
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "configuration_source.h"
#include "flags.h"
#include "input_flags.h"
#include "sim/report.h"
#include "sim/simulation.h"

namespace berth::cmd {

namespace {

constexpr char kUsage[] =
    R"(Schedule the pending pods of a cluster in memory, and say where each went or why it did not.

Usage:
  berth simulate -f FILE... [flags]
  berth simulate --from-cluster [-f FILE...] [flags]

Files hold Kubernetes objects as YAML or JSON (several documents, or what `kubectl get -o yaml` prints; gzip is fine).
Pods with spec.nodeName stay where they are; the others are scheduled in queue order, with preemption. Volumes are bound
and provisioned as the control plane would. Pods that make room are gone: nothing recreates them.

With --from-cluster, objects are read from a running cluster, and from files besides when there are any. It is only
read: the API server gets GET requests and nothing else. `berth snapshot` writes the same objects to a file.

Exit status: 0 all pending pods have a place, 2 some pod has none, 1 bad usage or input.
)";

constexpr char kExamples[] = R"(  berth simulate -f cluster.yaml -f pods.yaml
  kubectl get nodes,pods -A -o yaml | berth simulate -f - -o json
  berth simulate -f cluster.yaml -f pods.yaml --config scheduler.yaml --seed 7
  berth simulate --from-cluster
  berth simulate --from-cluster --kubeconfig admin.conf --context production -f new-pods.yaml
)";

struct Options {
  InputFlags input;
  ConfigurationFlags configuration;
  std::string output = "table";
  uint64_t seed = 1;
  bool verify_incremental = false;
};

int Fail(std::string_view message) {
  fmt::print(stderr, "berth simulate: {}\n", message);
  return kBadInput;
}

int Run(const framework::Registry& own_plugins, const Options& options) {
  const Result<SchedulerSetup> setup = LoadSetup(options.configuration, options.input.files, own_plugins);
  if (!setup) return Fail(setup.error().message);
  PrintWarnings(setup->warnings);
  if (!setup->configuration.extenders.empty()) {
    PrintWarnings({"extenders are not called in a simulation; all is decided without them"});
  }
  const Result<sim::ClusterInput> input = options.input.Read();
  if (!input) return Fail(input.error().message);

  Result<std::unique_ptr<sim::Simulation>> simulation =
      sim::Simulation::Create(input->objects, setup->configuration, setup->registry, setup->gates,
                              {.seed = options.seed, .verify_incremental = options.verify_incremental});
  if (!simulation) return Fail(simulation.error().message);
  const sim::SimulationReport report = (*simulation)->Run();
  const std::string text = options.output == "json" ? sim::ToJson(report) : sim::ToTable(report);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Fail("cannot write to standard output");
  }
  return report.Count(sim::PodOutcome::kScheduled) == report.pods.size() ? kOk : kUnplaced;
}

}  // namespace

int Simulate(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  Options options;
  FlagSet flags("berth simulate", kUsage, kExamples);
  options.input.AddTo(flags);
  options.configuration.AddTo(flags);
  flags.Add(&options.output, "output", 'o', "FORMAT", "table or json (default table)");
  flags.Add(&options.seed, "seed", 0, "N",
            "breaks ties between equally good nodes; same seed, same answer (default 1)");
  flags.Add(&options.verify_incremental, "verify-incremental", 0, "compare every decision with a from-scratch one");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return Fail(rest.error().message + "\n" + flags.Hint());
  if (!rest->empty()) return Fail(fmt::format("unexpected argument \"{}\"; files are given with -f", rest->front()));
  if (const Result<void> sound = options.input.Check(); !sound)
    return Fail(sound.error().message + "\n" + flags.Hint());
  if (options.output != "table" && options.output != "json") {
    return Fail(fmt::format("--output: expected table or json, found \"{}\"", options.output));
  }
  return Run(own_plugins, options);
}

}  // namespace berth::cmd
