// berth capacity: how many more instances of a pod fit into a cluster, and what stops the next one.
#include "sim/capacity.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "codec/yaml_writer.h"
#include "commands.h"
#include "configuration_source.h"
#include "flags.h"
#include "input_flags.h"
#include "sim/capacity_report.h"
#include "sim/simulation.h"

namespace berth::cmd {

namespace {

constexpr char kUsage[] =
    R"(Say how many more instances of a pod fit into a cluster, where they go, and what stops the next one.

Usage:
  berth capacity -f FILE... --pod FILE [flags]
  berth capacity --from-cluster --pod FILE[=N] --pod FILE[=M] [flags]

The cluster is what -f and --from-cluster give, as for berth simulate; its own pending pods have their turn first. Then
instances are scheduled one after the other until one fits nowhere. With several --pod, or a number behind a file, they
come in rounds of so many of each, and end with the first that does not fit.

Instances do not preempt, whatever their priority, unless --preempt is given.

Exit status: 0 at least one round fits (or --at-least), 2 fewer do, 1 bad usage or input.
)";

constexpr char kExamples[] = R"(  berth capacity -f cluster.yaml --pod pod.yaml
  berth capacity -f cluster.yaml --pod pod.yaml --verbose
  berth capacity --from-cluster --pod web.yaml=3 --pod db.yaml=1 -o json
  berth capacity -f cluster.yaml.gz --pod pod.yaml --at-least 20 || echo 'too full'
)";

// More than any cluster has, and soon enough there when nothing limits the pods of a node.
constexpr uint64_t kDefaultMax = 1'000'000;

struct Options {
  InputFlags input;
  ConfigurationFlags configuration;
  std::vector<std::string> pods;
  std::string output = "table";
  uint64_t at_least = 1;
  uint64_t max = kDefaultMax;
  uint64_t seed = 1;
  bool preempt = false;
  bool verbose = false;
};

int Fail(std::string_view message) {
  fmt::print(stderr, "berth capacity: {}\n", message);
  return kBadInput;
}

struct PodFlag {
  std::string file;
  size_t per_round = 1;
};

// "web.yaml" or "web.yaml=3". A file's own name may have a "=" in it; a number behind the last one is a number.
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

// The pods to make instances of; what else their files hold joins the cluster.
Result<std::vector<sim::CapacityShare>> ReadShares(const Options& options, std::vector<api::Object>& cluster) {
  std::vector<sim::CapacityShare> shares;
  for (const std::string& text : options.pods) {
    const Result<PodFlag> flag = ParsePodFlag(text);
    if (!flag) return flag.error();
    Result<sim::PodTemplate> pod = sim::ReadPodTemplate(flag->file, cluster);
    if (!pod) return Error{pod.error().code, "--pod: " + pod.error().message};
    PrintWarnings(pod->warnings);
    cluster.insert(cluster.end(), pod->others.begin(), pod->others.end());
    shares.push_back({std::move(pod->pod), flag->per_round});
  }
  return shares;
}

int Print(const sim::CapacityReport& report, const Options& options) {
  std::string text;
  if (options.output == "table") {
    text = sim::ToText(report, options.verbose);
  } else {
    text = sim::ToJson(report);
    if (options.output == "yaml") text = codec::JsonToYaml(std::move(text));
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Fail("cannot write to standard output");
  }
  return report.rounds >= options.at_least ? kOk : kUnplaced;
}

int Run(const framework::Registry& own_plugins, const Options& options) {
  const Result<SchedulerSetup> setup = LoadSetup(options.configuration, options.input.files, own_plugins);
  if (!setup) return Fail(setup.error().message);
  PrintWarnings(setup->warnings);
  if (!setup->configuration.extenders.empty()) {
    PrintWarnings({"extenders are not called here; all is decided without them"});
  }
  Result<sim::ClusterInput> input = options.input.Read();
  if (!input) return Fail(input.error().message);
  Result<std::vector<sim::CapacityShare>> shares = ReadShares(options, input->objects);
  if (!shares) return Fail(shares.error().message);

  Result<std::unique_ptr<sim::Simulation>> simulation = sim::Simulation::Create(
      input->objects, setup->configuration, setup->registry, setup->gates, {.seed = options.seed});
  if (!simulation) return Fail(simulation.error().message);
  const sim::SimulationReport before = (*simulation)->Run();
  if (const size_t pending = before.Count(sim::PodOutcome::kPending); pending > 0) {
    PrintWarnings({fmt::format("{} pod(s) of the input have no place themselves; berth simulate says why", pending)});
  }
  const sim::CapacityRequest request{std::move(*shares), options.max, options.preempt};
  return Print(sim::MeasureCapacity(**simulation, request, setup->gates), options);
}

Result<void> Check(const Options& options, const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return Error::InvalidArgument(
        fmt::format("unexpected argument \"{}\"; files are given with -f and --pod", rest.front()));
  }
  if (Result<void> sound = options.input.Check(); !sound) return sound;
  if (options.pods.empty()) return Error::InvalidArgument("no pod: say with --pod what there are to be more of");
  if (options.max == 0) return Error::InvalidArgument("--max: expected at least 1, found 0");
  if (options.max < options.at_least) {
    return Error::InvalidArgument(fmt::format("--max {} is less than --at-least {}", options.max, options.at_least));
  }
  return {};
}

}  // namespace

int Capacity(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  Options options;
  FlagSet flags("berth capacity", kUsage, kExamples);
  options.input.AddTo(flags);
  options.configuration.AddTo(flags);
  flags.Add(&options.pods, "pod", 0, "FILE[=N]",
            "what there are to be more of, and how many of it in a round; repeat for several");
  flags.Add(&options.at_least, "at-least", 0, "N", "exit with status 2 when fewer rounds fit (default 1)");
  flags.Add(&options.max, "max", 0, "N", "stop behind so many rounds (default 1000000)");
  flags.Add(&options.preempt, "preempt", 0, "let instances preempt pods of lower priority");
  flags.AddChoice(&options.output, "output", 'o', {"table", "json", "yaml"}, "how to print (default table)");
  flags.Add(&options.seed, "seed", 0, "N", "breaks ties between equally good nodes (default 1)");
  flags.Add(&options.verbose, "verbose", 'v', "print what an instance requires, and how many go to each node");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return Fail(rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = Check(options, *rest); !sound) {
    return Fail(sound.error().message + "\n" + flags.Hint());
  }
  return Run(own_plugins, options);
}

}  // namespace berth::cmd
