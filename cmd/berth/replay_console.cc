// berth replay --console: a recording in the console, at any speed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "api/time.h"
#include "commands.h"
#include "live/inspected.h"
#include "live/loopback_console.h"
#include "live/mailbox.h"
#include "replay/replayer.h"
#include "replay_walk.h"
#include "scheduler/attempt_journal.h"
#include "stop_signals.h"

namespace berth::cmd {

namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kWatchedJournalBytes = size_t{32} << 20;
// How soon requests are answered while there is nothing to replay.
constexpr base::Duration kWatchNap = std::chrono::milliseconds(100);

// Recorded time, which passes `speed` times as fast as real time from the moment it is set.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}

  void Begin(base::Time recorded) {
    recorded_ = recorded;
    real_ = Steady::now();
  }
  base::Time Now() const {
    const std::chrono::duration<double> passed = (Steady::now() - real_) * speed_;
    return recorded_ + std::chrono::duration_cast<base::Duration>(passed);
  }
  // How long to wait until then.
  base::Duration Until(base::Time recorded) const {
    const std::chrono::duration<double> left = (recorded - Now()) / speed_;
    return std::chrono::duration_cast<base::Duration>(left);
  }

 private:
  const double speed_;
  base::Time recorded_{};
  Steady::time_point real_{};
};

// The current state of the replay. For the replaying thread only, except for what Inspected marks as "any thread".
class WatchedReplay final : public live::Inspected {
 public:
  WatchedReplay(replay::Replayer& replayer, const scheduler::AttemptJournal& journal, live::Mailbox& mailbox,
                std::string name)
      : replayer_(replayer), journal_(journal), mailbox_(mailbox), name_(std::move(name)) {}

  void Post(std::function<void()> look) override { mailbox_.Post(std::move(look)); }
  std::string NotReady() const override { return ready_ ? "" : "the recording is being read up to its time"; }
  base::Time Now() const override { return now_; }
  const scheduler::Driver& driver() const override { return replayer_.driver(); }
  const scheduler::AttemptJournal* journal() const override { return &journal_; }
  inspect::EventsView Events(uint64_t after, size_t limit) const override {
    inspect::EventsView view = live::Inspected::Events(after, limit);
    view.about = fmt::format("{} at {}{}", name_, api::FormatTime(now_), note_);
    return view;
  }

  void set_ready() { ready_ = true; }
  void set_now(base::Time now) { now_ = now; }
  void set_note(std::string note) { note_ = std::move(note); }

 private:
  replay::Replayer& replayer_;
  const scheduler::AttemptJournal& journal_;
  live::Mailbox& mailbox_;
  const std::string name_;
  std::atomic<bool> ready_ = false;
  base::Time now_{};
  std::string note_;  // additional information about it
};

// Passes inputs to the replayer when they are due, and answers requests in between.
class Watch {
 public:
  Watch(replay::Replayer& replayer, WatchedReplay& watched, live::Mailbox& mailbox, const ReplayOptions& options,
        double speed)
      : replayer_(replayer), watched_(watched), mailbox_(mailbox), from_(options.until), pace_(speed) {}

  bool Take(const replay::Input& input) {
    const bool has_time = input.type != replay::FrameType::kClaimLanded;
    if (has_time && !begun_ && (!from_ || input.time > *from_)) Begin(input.time);
    if (has_time && begun_) WaitFor(input.time);
    if (stopping_) return false;
    if (has_time) watched_.set_now(input.time);
    return replayer_.Apply(input);
  }

  // There are no more inputs: the state can be inspected until the user stops it.
  void Linger(const std::string& note) {
    if (!begun_) Begin(replayer_.counts().last);
    watched_.set_note(note);
    while (!stopping_) Look(kWatchNap);
  }

  // Any thread.
  void Stop() {
    stopping_ = true;
    mailbox_.Post([] {});
  }

 private:
  void Begin(base::Time time) {
    begun_ = true;
    watched_.set_now(time);
    watched_.set_ready();
    pace_.Begin(time);
  }
  void WaitFor(base::Time time) {
    while (!stopping_) {
      const base::Duration left = pace_.Until(time);
      if (!mailbox_.empty() || left > base::Duration::zero()) Look(std::clamp(left, base::Duration::zero(), kWatchNap));
      watched_.set_now(std::min(pace_.Now(), time));
      if (left <= base::Duration::zero()) return;
    }
  }
  void Look(base::Duration at_most) {
    if (mailbox_.empty()) mailbox_.WaitFor(at_most);
    mailbox_.RunAll();
  }

  replay::Replayer& replayer_;
  WatchedReplay& watched_;
  live::Mailbox& mailbox_;
  const std::optional<base::Time> from_;
  Pace pace_;
  bool begun_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

int WatchReplay(const std::vector<record::Recording>& recordings, const ReplayOptions& options, double speed,
                const framework::Registry& own_plugins) {
  Result<record::Recording> recording = recordings.back();
  if (options.until) recording = RecordingAt(recordings, *options.until);
  if (!recording) return Trouble(recording.error().message);
  const Result<size_t> first = replay::FirstFile(*recording, options.until);
  if (!first) return Trouble(first.error().message);
  const Result<record::Header> header = HeaderOf(*recording, *first);
  if (!header) return Trouble(header.error().message);
  const Result<framework::Registry> registry = RegistryFor(*header, options, own_plugins);
  if (!registry) return Trouble(registry.error().message);
  scheduler::AttemptJournal journal(kWatchedJournalBytes);
  Result<std::unique_ptr<replay::Replayer>> replayer =
      replay::Replayer::Create(*header, *registry, {.threads = options.threads, .journal = &journal});
  if (!replayer) return Trouble(replayer.error().message);

  StopSignals signals;  // before any thread is started
  live::Mailbox mailbox;
  auto inspected =
      std::make_unique<WatchedReplay>(**replayer, journal, mailbox, fmt::format("The recording {}", options.folder));
  WatchedReplay& watched = *inspected;
  Result<std::unique_ptr<live::LoopbackConsole>> console =
      live::LoopbackConsole::Start(std::move(inspected), {.port = static_cast<uint16_t>(options.port)});
  if (!console) return Trouble(console.error().message);
  fmt::print("Watch it at\n  {}\nCtrl-C ends it.\n", (*console)->url());
  (void)std::fflush(stdout);

  Watch watch(**replayer, watched, mailbox, options, speed);
  signals.Start([&] { watch.Stop(); });
  const Result<WalkEnd> end = Walk(*recording, *first, (*replayer)->gates(), std::nullopt,
                                   [&](const replay::Input& input) { return watch.Take(input); });
  const std::optional<replay::Difference>& difference = (*replayer)->difference();
  if (end) watch.Linger(difference ? ", where this berth decides otherwise than the one that recorded" : ", its end");
  signals.End();
  (*console)->Stop();
  if (!end) return Trouble(end.error().message);
  return difference ? kReplayDiffers : kOk;
}

}  // namespace berth::cmd
