// berth shadow: runs beside another scheduler and compares each of its decisions with berth's. Only reads.
#include "shadow/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "api/time.h"
#include "base/file.h"
#include "base/printable.h"
#include "cluster_source.h"
#include "commands.h"
#include "config/load.h"
#include "configuration_source.h"
#include "fail_on.h"
#include "flags.h"
#include "live/live_follower.h"
#include "shadow/report.h"
#include "shadow_recording.h"
#include "stop_signals.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kShadowUsage[] =
    R"(Run beside another scheduler, and compare each of its decisions with berth's. Nothing is written to the cluster.

Usage:
  berth shadow [flags]                        until Ctrl-C, or as long as --for says
  berth shadow --recording FOLDER [flags]     the same for what `berth record` or `berth scheduler --record` has written

Whenever a pod is bound, or given up (PodScheduled=False), berth decides at the same point of the history:
  agreed      the node is among berth's best nodes; or neither finds one
  raced       agreed, if a few events around that moment are applied or undone; they are named
  lower       feasible for berth, but others score higher: by how much, and which plugins make the difference
  placeable   given up, though berth would place it
  infeasible  the node is not feasible for berth: which filter says so, with the numbers

Give the other scheduler's configuration with --config. It needs permission to list and watch what scheduling reads:
deploy/shadow/rbac.yaml.

Exit status: 0 nothing that --fail-on names was seen, 2 something was, 1 bad usage, missing permissions, or
no cluster to read.
)";

constexpr char kShadowExamples[] = R"(  berth shadow --kubeconfig shadow.conf --config /etc/kubernetes/scheduler.yaml
  berth shadow --for 1h --fail-on infeasible,placeable --report shadow.html --report shadow.json
  berth shadow --recording /var/lib/berth/recording -o markdown
)";

// As in kube-scheduler: smaller clusters are never sampled.
constexpr size_t kFewestSampledNodes = 100;
constexpr base::Duration kMetricsEvery = std::chrono::seconds(10);

struct ShadowOptions {
  ClusterFlags cluster;
  ConfigurationFlags configuration;
  std::string recording;
  std::string duration;
  std::string behind = "2s";
  std::vector<std::string> fail_on;
  std::vector<std::string> reports;
  std::vector<std::string> scheduler_names;
  std::string metrics_file;
  std::string output = "text";
  bool all = false;

  std::optional<base::Duration> limit;
  base::Duration delay{};
  std::set<std::string> failures;
};

Result<void> CheckShadow(ShadowOptions& options, const std::vector<std::string>& rest) {
  if (!rest.empty()) return Error::InvalidArgument(fmt::format("unexpected argument \"{}\"", rest.front()));
  Result<std::optional<base::Duration>> limit = ParseFor(options.duration);
  if (!limit) return limit.error();
  options.limit = *limit;
  const Result<base::Duration> delay = api::ParseDuration(options.behind);
  if (!delay || *delay < base::Duration::zero() || *delay > std::chrono::minutes(1)) {
    return Error::InvalidArgument(
        fmt::format("--behind: expected a time of up to 1m, like 2s, found \"{}\"", options.behind));
  }
  options.delay = *delay;
  Result<std::set<std::string>> failures =
      ParseFailOn(options.fail_on, "infeasible", {"infeasible", "placeable", "lower", "raced"});
  if (!failures) return failures.error();
  options.failures = *std::move(failures);
  for (const std::string& report : options.reports) {
    const std::string extension = std::filesystem::path(report).extension().string();
    if (extension != ".html" && extension != ".md" && extension != ".json") {
      return Error::InvalidArgument(
          fmt::format("--report: expected a file that ends in .html, .md or .json, found \"{}\"", report));
    }
  }
  if (!options.recording.empty() && (options.cluster.any() || options.limit)) {
    return Error::InvalidArgument("--recording is of the past: give it without --kubeconfig, --context and --for");
  }
  return {};
}

// Whether a scheduler with this configuration evaluates only some of the nodes, once there are enough.
bool Samples(const config::KubeSchedulerConfiguration& configuration) {
  const int32_t common = configuration.percentage_of_nodes_to_score.value_or(0);
  return std::any_of(configuration.profiles.begin(), configuration.profiles.end(), [&](const config::Profile& profile) {
    return profile.percentage_of_nodes_to_score.value_or(common) != 100;
  });
}

// Printed while it runs: a line for each difference, and on a terminal the counts below them.
class LiveTable {
 public:
  LiveTable(std::FILE* out, bool all) : out_(out), all_(all), is_terminal_(IsTerminal(out)) {}
  ~LiveTable() { Erase(); }

  void Print(const shadow::Comparison& comparison) {
    if (!all_ && comparison.verdict == shadow::Verdict::kAgreed) return;
    PrintLine(fmt::format("{} {}", api::FormatTime(comparison.time), base::Printable(comparison.Text())));
  }
  void PrintLine(const std::string& line) {
    Erase();
    fmt::print(out_, "{}\n", line);
    std::fflush(out_);
  }
  void ShowCounts(const shadow::Shadow& shadow) {
    if (!is_terminal_) return;
    std::string line = shadow.tally().Text();
    if (shadow.waiting() > 0) line += fmt::format("; {} changes behind", shadow.waiting());
    if (line == shown_) return;
    Erase();
    fmt::print(out_, "{}", line);
    std::fflush(out_);
    shown_ = std::move(line);
  }
  void Erase() {
    if (!shown_.empty()) fmt::print(out_, "\r\x1b[K");
    shown_.clear();
  }

 private:
  std::FILE* const out_;
  const bool all_;
  const bool is_terminal_;
  std::string shown_;
};

Result<void> WriteWhole(const std::string& path, const std::string& text) {
  // A reader sees either the old file or the new one.
  const std::string fresh = path + ".new";
  if (const Result<void> written = base::WriteFile(fresh, text); !written) {
    return Error::Unavailable(fmt::format("cannot write {}: {}", fresh, written.error().message));
  }
  std::error_code failed;
  std::filesystem::rename(fresh, path, failed);
  if (failed) return Error::Unavailable(fmt::format("cannot write {}: {}", path, failed.message()));
  return {};
}

Result<void> WriteReports(const ShadowOptions& options, const shadow::ShadowReport& report) {
  for (const std::string& path : options.reports) {
    const std::string extension = std::filesystem::path(path).extension().string();
    const std::string text = extension == ".html" ? shadow::ToHtml(report)
                             : extension == ".md" ? shadow::ToMarkdown(report)
                                                  : shadow::ToJson(report);
    if (Result<void> written = WriteWhole(path, text); !written) return written;
  }
  return {};
}

class ShadowRun {
 public:
  ShadowRun(const ShadowOptions& options, const SchedulerSetup& setup)
      : options_(options), setup_(setup), table_(options.output == "text" ? stdout : stderr, options.all) {
    report_.version = BERTH_VERSION;
    report_.configuration = options.configuration.config;
    report_.samples = Samples(setup.configuration);
  }

  Result<void> Follow() {
    StopSignals signals;
    const base::SystemClock wall;
    Result<http::RestConfig> rest = ConnectionTo(options_.cluster, wall, [](const Error& error) {
      fmt::print(stderr, "berth shadow: {}\n", base::PrintableLines(error.message));
    });
    if (!rest) return rest.error();
    report_.server = rest->server;
    live::FollowerOptions follow;
    follow.configuration = setup_.configuration;
    follow.gates = setup_.gates;
    follow.apply = [this](scheduler::Driver&, const live::FollowedChange& change) {
      shadow_->Add({change.arrived, change.deleted, change.object});
      if (!synced_at_) shadow_->Begin();
    };
    follow.on_synced = [this] { OnSynced(); };
    follow.on_turn = [this] { OnTurn(); };
    Result<std::unique_ptr<live::LiveFollower>> made =
        live::LiveFollower::Create(*std::move(rest), std::move(follow), setup_.registry);
    if (!made) return made.error();
    live_ = made->get();
    MakeShadow(live_->follower().driver());
    signals.Start([this] { live_->follower().Stop(); });
    Result<void> ran = live_->Run();
    if (ran && synced_at_) {
      shadow_->Finish();
      Complete(live_->follower().Now());
    } else if (ran) {
      ran = Error::Unavailable("it was ended before the cluster had been read");
    }
    signals.End();
    return ran;
  }

  Result<void> Read() {
    report_.server = options_.recording;
    Result<std::unique_ptr<ShadowedRecording>> recording = ShadowedRecording::Create(setup_);
    if (!recording) return recording.error();
    MakeShadow((*recording)->driver());
    Result<RecordedTimes> times = (*recording)->Feed(options_.recording, *shadow_);
    if (!times) return times.error();
    synced_at_ = times->first;
    Complete(times->last);
    return {};
  }

  int Conclude() {
    table_.Erase();
    if (Result<void> written = WriteReports(options_, report_); !written) {
      return BadInput("shadow", "--report: " + written.error().message);
    }
    const std::string text = options_.output == "json"       ? shadow::ToJson(report_)
                             : options_.output == "markdown" ? shadow::ToMarkdown(report_)
                                                             : "\n" + shadow::ToText(report_);
    if (!WriteOut(text)) return BadInput("shadow", "cannot write to standard output");
    for (const std::string& name : options_.failures) {
      if (report_.tally.Of(*shadow::VerdictOf(name)) > 0) return kUnplaced;
    }
    return kOk;
  }

 private:
  void MakeShadow(scheduler::Driver& driver) {
    shadow::Shadow::Options options;
    options.scheduler_names = {options_.scheduler_names.begin(), options_.scheduler_names.end()};
    options.behind = options_.delay;
    options.samples_from_nodes = report_.samples ? kFewestSampledNodes : 0;
    options.on_compared = [this](const shadow::Comparison& comparison) {
      report_.Keep(comparison);
      table_.Print(comparison);
    };
    driver_ = &driver;
    shadow_ = std::make_unique<shadow::Shadow>(driver, std::move(options));
  }

  void OnSynced() {
    synced_at_ = live_->follower().Now();
    const cluster::Cluster& cluster = std::as_const(*driver_).cluster();
    table_.PrintLine(
        fmt::format("Following {}: {} nodes, {} pods", live_->server(), cluster.nodes().size(), cluster.pod_count()));
  }
  void OnTurn() {
    const base::Time now = live_->follower().Now();
    shadow_->Advance(now);
    table_.ShowCounts(*shadow_);
    if (!options_.metrics_file.empty() && now - metrics_at_ >= kMetricsEvery) WriteMetrics(now);
    if (options_.limit && now - *synced_at_ >= *options_.limit) live_->follower().Stop();
  }
  void WriteMetrics(base::Time now) {
    metrics_at_ = now;
    const Result<void> written =
        WriteWhole(options_.metrics_file, shadow::ToMetrics(shadow_->tally(), shadow_->waiting()));
    if (!written) table_.PrintLine("--metrics-file: " + written.error().message);
  }
  void Complete(base::Time ended) {
    if (!options_.metrics_file.empty()) WriteMetrics(ended);
    report_.begun = *synced_at_;
    report_.ended = ended;
    report_.tally = shadow_->tally();
    report_.nodes = std::as_const(*driver_).cluster().nodes().size();
    if (!setup_.configuration.extenders.empty()) {
      report_.notes.push_back(
          "Extenders of the configuration were not asked: what they refuse or prefer shows as a difference");
    }
  }

  const ShadowOptions& options_;
  const SchedulerSetup& setup_;
  shadow::ShadowReport report_;
  LiveTable table_;
  live::LiveFollower* live_ = nullptr;
  scheduler::Driver* driver_ = nullptr;
  std::unique_ptr<shadow::Shadow> shadow_;
  std::optional<base::Time> synced_at_;
  base::Time metrics_at_{};
};

}  // namespace

int Shadow(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  ShadowOptions options;
  FlagSet flags("berth shadow", kShadowUsage, kShadowExamples);
  options.cluster.AddTo(flags);
  options.configuration.AddOfOtherScheduler(flags, "");
  flags.Add(&options.recording, "recording", 0, "FOLDER",
            "compare the decisions in a recording rather than in a running cluster");
  flags.Add(&options.duration, "for", 0, "DURATION", "stop after this time, for example 1h (default at Ctrl-C)");
  flags.Add(&options.behind, "behind", 0, "DURATION",
            "delay before a decision is compared, so that earlier ones are visible (default 2s)");
  flags.Add(&options.scheduler_names, "scheduler-name", 0, "NAME",
            "compare pods of this spec.schedulerName; repeatable (default those of the profiles)");
  flags.Add(&options.fail_on, "fail-on", 0, "LIST",
            "when to exit with status 2: infeasible, placeable, lower, raced; or never (default infeasible)");
  flags.Add(&options.reports, "report", 0, "FILE", "write a report: .html, .md or .json; repeatable");
  flags.Add(&options.metrics_file, "metrics-file", 0, "FILE",
            "write the counts to this file in Prometheus' format, for a node exporter to collect");
  flags.Add(&options.all, "all", 0, "print a line for agreed decisions, too");
  flags.AddChoice(&options.output, "output", 'o', {"text", "json", "markdown"},
                  "how to print the summary at the end (default text)");
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("shadow", rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = CheckShadow(options, *rest); !sound) {
    return BadInput("shadow", sound.error().message + "\n" + flags.Hint());
  }
  const Result<SchedulerSetup> setup = LoadSetup(options.configuration, ConfigMapInFiles({}), own_plugins);
  if (!setup) return BadInput("shadow", setup.error().message);
  for (const std::string& warning : setup->warnings) fmt::print(stderr, "berth shadow: {}\n", warning);
  ShadowRun run(options, *setup);
  if (const Result<void> ran = options.recording.empty() ? run.Follow() : run.Read(); !ran) {
    return BadInput("shadow", ran.error().message);
  }
  return run.Conclude();
}

}  // namespace berth::cmd
