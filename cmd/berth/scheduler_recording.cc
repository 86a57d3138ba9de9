#include "scheduler_recording.h"

#include <fmt/format.h>

#include "base/log.h"
#include "scheduler/driver.h"

namespace berth::cmd {

namespace {

// Small enough for a test, and still more than one file.
constexpr int64_t kSmallestRecording = int64_t{8} << 20;

}  // namespace

Result<std::unique_ptr<replay::Recorder>> StartRecording(const SchedulerOptions& options, const live::LiveOptions& live,
                                                         const base::Clock& clock) {
  if (options.record.empty()) return std::unique_ptr<replay::Recorder>();
  if (options.record_size.bytes < kSmallestRecording) {
    return Error::InvalidArgument(
        fmt::format("--record: --record-size: expected at least 8Mi, found {}", options.record_size.text));
  }
  replay::Recorder::Options recording;
  recording.ring.folder = options.record;
  recording.ring.size = static_cast<uint64_t>(options.record_size.bytes);
  recording.header = replay::MakeHeader(live.configuration, live.gates, {});
  for (const config::Extender& extender : live.configuration.extenders) {
    recording.header.extenders.push_back(replay::NoteOf(extender));
  }
  recording.header.program_version = BERTH_VERSION;
  recording.header.begins = clock.Now();
  recording.header.recording = static_cast<uint64_t>(clock.Now().time_since_epoch().count());
  recording.header.seed = live.loop.seed;
  recording.header.max_unschedulable = live.loop.max_unschedulable;
  recording.header.max_binding = scheduler::Driver::kNoLimit;
  recording.on_stopped = [](const Error& error) {
    LOG_ERROR("The recording has ended; scheduling goes on", {"err", error});
  };
  Result<std::unique_ptr<replay::Recorder>> started = replay::Recorder::Start(std::move(recording));
  if (!started) return Error{started.error().code, "--record: " + started.error().message};
  LOG_INFO(0, "Recording", {"directory", options.record}, {"size", options.record_size.text});
  return started;
}

}  // namespace berth::cmd
