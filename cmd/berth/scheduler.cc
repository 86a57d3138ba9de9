// berth scheduler: schedules a real cluster in place of kube-scheduler, with its flags.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "cluster_policy.h"
#include "commands.h"
#include "config/dump.h"
#include "config/resolve.h"
#include "configuration_source.h"
#include "file_watch.h"
#include "http/api_transport.h"
#include "http/rest_config.h"
#include "last_resort.h"
#include "live/cache_debugger.h"
#include "live/config_reload.h"
#include "live/dump.h"
#include "live/inspection.h"
#include "live/live_scheduler.h"
#include "metrics/process_metrics.h"
#include "scheduler_flags.h"
#include "scheduler_recording.h"
#include "scheduler_serving.h"

namespace berth::cmd {

namespace {

// Upstream's version, for tools that compare versions.
constexpr const char* kUpstreamVersion = "v1.36.4";

int Fail(const std::string& message) {
  fmt::print(stderr, "Error: {}\n", message);
  return kBadInput;
}

Result<void> SetUpLog(const LoggingOptions& options) {
  std::string vmodule;
  for (const auto& [pattern, level] : options.vmodule.items) {
    vmodule += fmt::format("{}{}={}", vmodule.empty() ? "" : ",", pattern, level);
  }
  base::LogOptions log;
  log.format = options.format == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
  log.verbosity = static_cast<int>(options.verbosity.level);
  log.vmodule = vmodule;
  log.split_stream = options.format == "json" ? options.json_split_stream : options.text_split_stream;
  return base::ConfigureLog(std::move(log));
}

// Reads the ConfigMap of a Policy from the cluster that the flags and the file name.
Result<std::string> ReadPolicy(const SchedulerOptions& options, const config::PolicySource& source,
                               config::ClientConnection connection) {
  if (options.config_file.empty() && options.Given("kubeconfig")) connection.kubeconfig = options.deprecated.kubeconfig;
  const base::SystemClock clock;
  Result<http::RestConfig> rest =
      http::BuildRestConfig(connection, options.master, http::UserAgent("kube-scheduler", BERTH_VERSION), clock);
  if (!rest) return rest.error();
  http::ApiTransport transport(*std::move(rest));
  return ReadPolicyConfigMap(transport, source);
}

// The configuration from the flags and the file.
Result<SchedulerSetup> Load(const SchedulerOptions& options, const framework::Registry& own_plugins) {
  ConfigurationFlags source;
  source.config = options.config_file;
  source.plugin_folders = options.plugin_dirs;
  source.policy_config_file = options.policy_config_file;
  source.policy_configmap = options.policy_configmap;
  source.policy_configmap_namespace = options.policy_configmap_namespace;
  source.use_legacy_policy_config = options.use_legacy_policy_config;
  source.algorithm_provider = options.algorithm_provider;
  Result<std::string> gates = KubeGates(options.feature_gates);
  if (!gates) return gates.error();
  source.feature_gates = *std::move(gates);
  const ConfigMapReader read = [&](const config::PolicySource& policy, const config::ClientConnection& connection) {
    return ReadPolicy(options, policy, connection);
  };
  Result<SchedulerSetup> setup = LoadSetup(source, read, own_plugins);
  if (!setup) return setup;
  if (Result<void> applied = ApplyOptions(options, setup->configuration); !applied) return applied.error();
  if (Result<void> applied = config::ApplyExtenders(setup->configuration); !applied) return applied.error();
  return setup;
}

Result<void> WriteConfiguration(const std::string& file, const config::KubeSchedulerConfiguration& configuration) {
  const Result<void> written = base::WriteFile(file, config::DumpYaml(config::WithUsedArgsOnly(configuration)));
  if (!written) return Error::Unavailable(fmt::format("{}: cannot be written: {}", file, written.error().message));
  LOG_INFO(0, "Wrote configuration", {"file", file});
  return {};
}

std::string Hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

metrics::BuildInfo Build() {
  return {.major = "1",
          .minor = "36",
          .git_version = fmt::format("{}+berth-{}", kUpstreamVersion, BERTH_VERSION),
          .git_commit = "",
          .git_tree_state = "",
          .build_date = "",
          .go_version = "C++20",
          .compiler = "gcc " __VERSION__,
          .platform = "linux/amd64"};
}

std::vector<metrics::FeatureState> FeatureStates(const config::FeatureGates& gates) {
  constexpr const char* kStages[] = {"ALPHA", "BETA", "", "DEPRECATED"};  // by FeatureStage
  std::vector<metrics::FeatureState> states;
  for (const config::FeatureGate& gate : config::KnownFeatureGates()) {
    states.push_back({std::string(gate.name), kStages[static_cast<int>(gate.stage)], gates.Enabled(gate.name)});
  }
  return states;
}

serving::Pages MakePages(live::LiveScheduler& scheduler, metrics::Registry& metrics, const SchedulerFlags& flags,
                         const config::KubeSchedulerConfiguration& configuration, const live::ConfigReload& reload,
                         live::Inspection& inspection, const std::atomic<bool>& stopping) {
  serving::Pages pages;
  pages.build = Build();
  pages.binary_version = "1.36.4";
  pages.emulation_version = "1.36";
  pages.metrics = &metrics;
  const serving::HealthCheck leadership{"leaderElection", [&scheduler]() -> std::optional<std::string> {
                                          const Result<void> well = scheduler.CheckLeadership();
                                          if (well) return std::nullopt;
                                          return well.error().message;
                                        }};
  const serving::HealthCheck synced{"sched-handler-sync", [&scheduler]() -> std::optional<std::string> {
                                      // A new leader is not ready either until it has caught up.
                                      const std::string missing = scheduler.MissingKinds();
                                      if (missing.empty() && scheduler.synced()) return std::nullopt;
                                      if (missing.empty()) return "waiting for handlers to sync";
                                      return "waiting for handlers to sync: " + missing;
                                    }};
  const serving::HealthCheck shutdown{"shutdown", [&stopping]() -> std::optional<std::string> {
                                        if (!stopping) return std::nullopt;
                                        return "process is shutting down";
                                      }};
  if (configuration.leader_election.leader_elect) {
    pages.healthz.push_back(leadership);
    pages.readyz.push_back(leadership);
  }
  // A page without checks has ping implicitly; with one, ping must be added.
  pages.livez.push_back({"ping", []() -> std::optional<std::string> { return std::nullopt; }});
  pages.livez.push_back({"scheduling-progress", [&scheduler]() -> std::optional<std::string> {
                           const Result<void> well = scheduler.CheckProgress();
                           if (well) return std::nullopt;
                           return well.error().message;
                         }});
  pages.readyz.push_back(shutdown);
  pages.readyz.push_back(synced);
  if (const client::LeaseCandidacy* candidacy = scheduler.candidacy()) {
    pages.readyz.push_back({"informer-sync", [candidacy]() -> std::optional<std::string> {
                              if (candidacy->synced()) return std::nullopt;
                              return "1 informers not started yet: [*v1beta1.LeaseCandidate]";
                            }});
  }
  pages.readyz.push_back({"config-reload", []() -> std::optional<std::string> { return std::nullopt; },
                          [&reload] {
                            const std::string problem = reload.problem();
                            return problem.empty() ? problem : "the last file was refused: " + problem;
                          }});
  pages.is_leader = [&scheduler] { return scheduler.is_leader(); };
  pages.pod_resources = [&scheduler](serving::PodResourceWriter& writer) {
    live::WritePodResources(scheduler, writer);
  };
  pages.debug = [&inspection](const serving::HttpRequest& request) { return inspection.Serve(request); };
  pages.configuration = [&reload] { return reload.RunningJson(); };
  pages.flags = [&flags] {
    std::map<std::string, std::string> values;
    for (const auto& [name, value] : flags.Values()) values[name] = value;
    return values;
  };
  return pages;
}

// Waits for signals on its own thread; they are blocked in every other thread.
class SignalThread {
 public:
  explicit SignalThread(std::function<void(int)> on_signal) {
    thread_ = std::thread([this, on_signal = std::move(on_signal)] {
      while (true) {
        int signal = 0;
        if (::sigwait(&set_, &signal) != 0 || done_) return;
        on_signal(signal);
      }
    });
  }
  ~SignalThread() {
    done_ = true;
    ::pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

  // Call it before any thread is started.
  static sigset_t Block() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    return set;
  }

 private:
  const sigset_t set_ = Block();
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// The kubelet gives a pod 30 seconds by default.
constexpr std::chrono::seconds kTerminationPatience(25);

void AddProgramMetrics(metrics::Registry& metrics, const config::FeatureGates& gates) {
  metrics::AddBuildInfo(metrics, Build());
  metrics::AddVersionInfo(metrics, {.binary = "1.36.4", .emulation = "1.36", .min_compat = "1.35"});
  metrics::AddFeatureStates(metrics, FeatureStates(gates));
  metrics::AddMetaMetrics(metrics);
  metrics::AddProcessMetrics(metrics);
}

live::LiveOptions LiveOptionsOf(const SchedulerOptions& options, const SchedulerSetup& setup, http::RestConfig rest,
                                const base::Clock& clock) {
  live::LiveOptions live;
  live.configuration = setup.configuration;
  live.gates = setup.gates;
  live.rest = std::move(rest);
  live.hostname = Hostname();
  live.loop.seed = options.Given("seed") ? options.seed : static_cast<uint64_t>(clock.Now().time_since_epoch().count());
  live.loop.verify_incremental = options.verify_incremental;
  live.loop.annotate_results = options.annotate_results;
  live.loop.journal_bytes = static_cast<size_t>(options.explain_memory.bytes);
  live.loop.max_unschedulable = options.deprecated.pod_max_in_unschedulable_pods_duration;
  return live;
}

// All of these must outlive the reload.
live::ConfigReload::Options ReloadOptions(const SchedulerOptions& options, const framework::Registry& own_plugins,
                                          live::LiveScheduler& scheduler) {
  return {.load = [&options, &own_plugins]() -> Result<live::LoadedConfiguration> {
            if (options.config_file.empty()) return Error::InvalidArgument("there is no --config to read again");
            Result<SchedulerSetup> again = Load(options, own_plugins);
            if (!again) return again.error();
            for (const std::string& warning : again->warnings) LOG_WARNING(warning);
            return live::LoadedConfiguration{std::move(again->configuration), std::move(again->registry)};
          },
          .announce = [&scheduler](const std::string& type, const std::string& reason,
                                   const std::string& note) { scheduler.Announce(type, reason, note); }};
}

int RunScheduler(const SchedulerFlags& flags, const SchedulerSetup& setup, const framework::Registry& own_plugins) {
  const SchedulerOptions& options = flags.options();
  const base::SystemClock clock;
  metrics::Registry metrics;
  live::CredentialPlugins plugins(metrics, clock);
  Result<http::RestConfig> rest = http::BuildRestConfig(setup.configuration.client_connection, options.master,
                                                        http::UserAgent("kube-scheduler", BERTH_VERSION), clock,
                                                        plugins.Watching(http::RealSurroundings()));
  if (!rest) return Fail(rest.error().message);
  plugins.Follow(rest->credentials);

  // No thread has been started so far.
  SignalThread::Block();
  ::signal(SIGPIPE, SIG_IGN);  // a broken connection is an error to handle, not the end of the process
  AddProgramMetrics(metrics, setup.gates);
  live::LiveOptions live = LiveOptionsOf(options, setup, *std::move(rest), clock);
  const Result<std::unique_ptr<replay::Recorder>> recorder = StartRecording(options, live, clock);
  if (!recorder) return Fail(recorder.error().message);
  live.loop.tap = recorder->get();
  LastResort last_resort(kTerminationPatience);
  live.on_stop = [&last_resort] { last_resort.Arm(); };
  auto scheduler = live::LiveScheduler::Create(std::move(live), setup.registry, metrics, clock);
  if (!scheduler) return Fail(scheduler.error().message);

  live::ConfigReload reload(setup.configuration, (*scheduler)->loop(), metrics, clock,
                            ReloadOptions(options, own_plugins, **scheduler));
  live::Inspection inspection((*scheduler)->loop(), {.is_leader = [&] { return (*scheduler)->is_leader(); }});
  std::atomic<bool> stopping = false;
  Result<SchedulerServing> serving =
      StartServing(options, MakePages(**scheduler, metrics, flags, setup.configuration, reload, inspection, stopping),
                   clock, plugins);
  if (!serving) return Fail(serving.error().message);

  live::CacheDebugger debugger((*scheduler)->client(), (*scheduler)->io(), (*scheduler)->loop());
  const SignalThread signals([&](int signal) {
    if (signal == SIGUSR2) return debugger.CompareAndDump();
    if (signal == SIGHUP) return reload.Reload();
    LOG_INFO(0, "Requested to terminate, exiting");
    // A second signal ends the process at once, as upstream does.
    if (stopping.exchange(true)) LastResort::Exit("Requested to terminate again");
    (*scheduler)->Stop();
  });
  std::optional<FileWatch> watch;
  if (options.watch_config && !options.config_file.empty()) {
    watch.emplace(options.config_file, [&] { reload.Reload(); });
  }

  LOG_INFO(0, "Starting Kubernetes Scheduler",
           {"version", fmt::format("{}+berth-{}", kUpstreamVersion, BERTH_VERSION)});
  const Result<void> ended = (*scheduler)->Run();
  stopping = true;
  if (serving->server) serving->server->Stop();
  return ended ? kOk : kBadInput;
}

}  // namespace

int Scheduler(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  SchedulerFlags flags("berth scheduler");
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed) return Fail(parsed.error().message);
  const SchedulerOptions& options = flags.options();
  if (options.help) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (options.version.text != "false") {
    fmt::print("Kubernetes {} (berth {})\n", kUpstreamVersion, BERTH_VERSION);
    return kOk;
  }
  if (const Result<void> logging = SetUpLog(options.logging); !logging) return Fail(logging.error().message);
  for (const std::string& warning : flags.warnings()) LOG_WARNING(warning);
  Result<SchedulerSetup> setup = Load(options, own_plugins);
  if (!setup) return Fail(setup.error().message);
  for (const std::string& warning : setup->warnings) LOG_WARNING(warning);
  if (!options.write_config_to.empty()) {
    const Result<void> written = WriteConfiguration(options.write_config_to, setup->configuration);
    return written ? kOk : Fail(written.error().message);
  }
  return RunScheduler(flags, *setup, own_plugins);
}

}  // namespace berth::cmd
