// berth record: records what happens in a cluster that another scheduler serves. Only reads.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>

#include "base/printable.h"
#include "cluster_source.h"
#include "commands.h"
#include "configuration_source.h"
#include "flag_values.h"
#include "flags.h"
#include "live/live_follower.h"
#include "replay/recorder.h"
#include "stop_signals.h"

namespace berth::cmd {

namespace {

constexpr char kRecordUsage[] =
    R"(Record what happens in a running cluster, whichever scheduler serves it, for berth replay and berth shadow.

Usage:
  berth record FOLDER [flags]

Only reads: the API server gets GET requests and nothing else (deploy/shadow/rbac.yaml has the permissions it needs). The
recording is a ring of files of --record-size, as berth scheduler --record writes it. It holds no decision of berth's:
`berth shadow --recording FOLDER` compares what the other scheduler decided, `berth replay FOLDER --at TIME
--explain POD` says why, and `berth replay FOLDER --config FILE` what another configuration would have done.

Exit status: 0 recorded, 1 bad usage, missing permissions, a cluster that cannot be read, or a folder that cannot
be written to.
)";

constexpr char kRecordExamples[] = R"(  berth record /var/lib/berth/recording --kubeconfig shadow.conf
  berth record recording --for 10m --record-size 256Mi && berth shadow --recording recording
)";

constexpr int64_t kSmallestRing = int64_t{8} << 20;

struct RecordOptions {
  ClusterFlags cluster;
  ConfigurationFlags configuration;
  std::string folder;
  std::string record_size = "1Gi";
  std::string duration;

  ByteCount size;
  std::optional<base::Duration> limit;
};

Result<void> CheckRecord(RecordOptions& options, const std::vector<std::string>& rest) {
  if (rest.empty()) return Error::InvalidArgument("no folder: say where the recording is to go");
  if (rest.size() > 1) return Error::InvalidArgument(fmt::format("unexpected argument \"{}\"", rest[1]));
  options.folder = rest.front();
  if (const Result<void> set = SetFlag(FlagTarget(&options.size), options.record_size, false);
      !set || options.size.bytes < kSmallestRing) {
    return Error::InvalidArgument(
        fmt::format("--record-size: expected a size of at least 8Mi, found \"{}\"", options.record_size));
  }
  Result<std::optional<base::Duration>> limit = ParseFor(options.duration);
  if (!limit) return limit.error();
  options.limit = *limit;
  return {};
}

// The error that ended the recording early; set on the recorder's thread.
class EndOfRecording {
 public:
  void Set(const Error& error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
    has_ended_ = true;
  }
  bool has_ended() const { return has_ended_; }
  Error error() const {
    const std::lock_guard lock(mutex_);
    return *error_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_
  std::atomic<bool> has_ended_ = false;
};

Result<std::unique_ptr<replay::Recorder>> StartRecorder(const RecordOptions& options, const SchedulerSetup& setup,
                                                        EndOfRecording& end) {
  const base::SystemClock clock;
  replay::Recorder::Options recording;
  recording.ring.folder = options.folder;
  recording.ring.size = static_cast<uint64_t>(options.size.bytes);
  recording.header = replay::MakeHeader(setup.configuration, setup.gates, {});
  recording.header.program_version = BERTH_VERSION;
  recording.header.begins = clock.Now();
  recording.header.recording = static_cast<uint64_t>(clock.Now().time_since_epoch().count());
  recording.header.seed = 1;
  recording.header.max_unschedulable = scheduler::Driver::Options{}.max_unschedulable;
  recording.header.max_binding = scheduler::Driver::Options{}.max_binding;
  recording.header.followed = true;
  recording.on_stopped = [&end](const Error& error) { end.Set(error); };
  return replay::Recorder::Start(std::move(recording));
}

Result<void> RecordCluster(const RecordOptions& options, const SchedulerSetup& setup) {
  StopSignals signals;
  const base::SystemClock wall;
  Result<http::RestConfig> rest = ConnectionTo(options.cluster, wall, [](const Error& error) {
    fmt::print(stderr, "berth record: {}\n", base::PrintableLines(error.message));
  });
  if (!rest) return rest.error();
  EndOfRecording end;
  Result<std::unique_ptr<replay::Recorder>> recorder = StartRecorder(options, setup, end);
  if (!recorder) return recorder.error();
  live::FollowerOptions follow;
  follow.configuration = setup.configuration;
  follow.gates = setup.gates;
  follow.tap = recorder->get();
  live::LiveFollower* live = nullptr;
  base::Time synced_at{};
  follow.on_synced = [&] {
    synced_at = live->follower().Now();
    const cluster::Cluster& cluster = std::as_const(live->follower().driver()).cluster();
    fmt::print(stderr, "Recording {}: {} nodes, {} pods\n", live->server(), cluster.nodes().size(),
               cluster.pod_count());
  };
  follow.on_turn = [&] {
    const bool is_over = options.limit && live->follower().Now() - synced_at >= *options.limit;
    if (is_over || end.has_ended()) live->follower().Stop();
  };
  {
    Result<std::unique_ptr<live::LiveFollower>> made =
        live::LiveFollower::Create(*std::move(rest), std::move(follow), setup.registry);
    if (!made) return made.error();
    live = made->get();
    signals.Start([live] { live->follower().Stop(); });
    const Result<void> ran = live->Run();
    signals.End();
    if (!ran) return ran.error();
    if (!live->follower().synced()) return Error::Unavailable("it was ended before the cluster had been read");
  }
  if (end.has_ended()) return Error{end.error().code, options.folder + ": " + end.error().message};
  return {};
}

}  // namespace

int Record(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  RecordOptions options;
  FlagSet flags("berth record", kRecordUsage, kRecordExamples);
  options.cluster.AddTo(flags);
  options.configuration.AddOfOtherScheduler(flags, ", for explanations");
  flags.Add(&options.record_size, "record-size", 0, "SIZE",
            "maximum total size; the oldest files are deleted (default 1Gi)");
  flags.Add(&options.duration, "for", 0, "DURATION", "stop after this time, for example 1h (default at Ctrl-C)");
  flags.TakesFiles();
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("record", rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = CheckRecord(options, *rest); !sound) {
    return BadInput("record", sound.error().message + "\n" + flags.Hint());
  }
  const Result<SchedulerSetup> setup = LoadSetup(options.configuration, ConfigMapInFiles({}), own_plugins);
  if (!setup) return BadInput("record", setup.error().message);
  for (const std::string& warning : setup->warnings) fmt::print(stderr, "berth record: {}\n", warning);
  const Result<void> recorded = RecordCluster(options, *setup);
  if (!recorded) return BadInput("record", recorded.error().message);
  fmt::print(stderr, "Recorded into {}\n", options.folder);
  return kOk;
}

}  // namespace berth::cmd
