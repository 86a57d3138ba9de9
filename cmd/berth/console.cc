// berth console: the console of any cluster, served on this machine.
#include <fmt/format.h>

#include <cstdio>

#include "cluster_source.h"
#include "commands.h"
#include "configuration_source.h"
#include "flags.h"
#include "live/foreign_history.h"
#include "live/inspected_cluster.h"
#include "live/live_follower.h"
#include "live/loopback_console.h"
#include "stop_signals.h"

namespace berth::cmd {

namespace {

constexpr char kConsoleUsage[] =
    R"(Serve the console of a running cluster on this machine, whichever scheduler runs there.

Usage:
  berth console [--kubeconfig FILE] [flags]

Only reads: the API server gets GET requests and nothing else. The cluster may have any scheduler. Its decisions are
shown as far as the API reveals them: pods that get a node, and pods that are reported as unschedulable, with the
message. The reasons, node by node and plugin by plugin, are berth's own evaluation of the cluster at that moment, with
the configuration given. The page is served over plain HTTP on 127.0.0.1; its address contains a token that only this
program knows.

Exit status: 0 ended by Ctrl-C or SIGTERM, 1 bad usage, or the cluster cannot be read.
)";

constexpr char kConsoleExamples[] = R"(  berth console
  berth console --kubeconfig admin.conf --context production --port 8080
  berth console --config scheduler.yaml
)";

// For the decisions of the cluster's scheduler.
constexpr size_t kHistoryBytes = size_t{32} << 20;

struct ConsoleOptions {
  ClusterFlags cluster;
  ConfigurationFlags configuration;
  uint64_t port = 0;
};

int RunConsole(const ConsoleOptions& options, const framework::Registry& own_plugins) {
  const Result<SchedulerSetup> setup = LoadSetup(options.configuration, ConfigMapInFiles({}), own_plugins);
  if (!setup) return BadInput("console", setup.error().message);
  for (const std::string& warning : setup->warnings) fmt::print(stderr, "berth console: {}\n", warning);
  const base::SystemClock wall_clock;
  Result<http::RestConfig> rest = ConnectionTo(options.cluster, wall_clock, [](const Error& error) {
    fmt::print(stderr, "berth console: {}\n", error.message);
  });
  if (!rest) return BadInput("console", rest.error().message);

  StopSignals signals;  // before any thread is started
  live::ForeignHistory history(kHistoryBytes);
  live::LiveFollower* running = nullptr;
  live::FollowerOptions following{.configuration = setup->configuration, .gates = setup->gates};
  following.apply = [&](scheduler::Driver& driver, const live::FollowedChange& change) {
    history.Note(driver, change.object, change.deleted, running->follower().synced(), change.arrived);
    change.deleted ? driver.Remove(change.object) : driver.Put(change.object);
  };
  Result<std::unique_ptr<live::LiveFollower>> made =
      live::LiveFollower::Create(*std::move(rest), std::move(following), setup->registry);
  if (!made) return BadInput("console", made.error().message);
  live::LiveFollower& cluster = **made;
  running = &cluster;

  live::InspectedCluster::Sources sources{
      .driver = cluster.follower().driver(),
      .history = history,
      .clock = cluster.clock(),
      .post = [&](std::function<void()> look) { cluster.follower().Post(std::move(look)); },
      .is_synced = [&] { return cluster.follower().synced(); },
      .about = fmt::format("{}, seen through its API; the reasons are berth's own", cluster.server())};
  Result<std::unique_ptr<live::LoopbackConsole>> console = live::LoopbackConsole::Start(
      std::make_unique<live::InspectedCluster>(std::move(sources)), {.port = static_cast<uint16_t>(options.port)});
  if (!console) return BadInput("console", console.error().message);
  fmt::print("The console of {} is at\n  {}\nCtrl-C ends it.\n", cluster.server(), (*console)->url());
  (void)std::fflush(stdout);

  signals.Start([&] { cluster.follower().Stop(); });
  const Result<void> ended = cluster.Run();
  signals.End();
  (*console)->Stop();
  return ended ? kOk : BadInput("console", ended.error().message);
}

}  // namespace

int Console(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  ConsoleOptions options;
  FlagSet flags("berth console", kConsoleUsage, kConsoleExamples);
  options.cluster.AddTo(flags);
  flags.Add(&options.port, "port", 0, "N", "the port on 127.0.0.1 (default a free one)");
  options.configuration.AddTo(flags);
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("console", rest.error().message + "\n" + flags.Hint());
  if (!rest->empty()) {
    return BadInput("console", fmt::format("unexpected argument \"{}\"\n{}", rest->front(), flags.Hint()));
  }
  if (options.port > 65535) {
    return BadInput("console", fmt::format("--port: expected 1 to 65535, found {}", options.port));
  }
  return RunConsole(options, own_plugins);
}

}  // namespace berth::cmd
