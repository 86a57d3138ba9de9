// Process: one program of the storm with its own view of time, and the loops its code runs on.
//
// A paused process runs nothing; what became due meanwhile runs when it resumes, as after SIGSTOP and SIGCONT. Its
// monotonic clock never stops, its wall clock can be stepped. Each loop stands for a thread: a task takes a little
// time, so that the loops of one process interleave in an order that depends on the seed.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/loop.h"
#include "base/random.h"
#include "storm/timeline.h"

namespace berth::storm {

class VirtualLoop;

// 2026-01-01T00:00:00Z: when every storm begins, as shown by a correct wall clock.
inline constexpr base::Duration kEpoch = std::chrono::seconds(1767225600);

class Process {
 public:
  Process(Timeline& timeline, std::string name, uint64_t seed);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const std::string& name() const { return name_; }
  Timeline& timeline() const { return timeline_; }
  base::Duration Monotonic() const { return timeline_.Now() + origin_; }
  const base::Clock& wall_clock() const { return wall_; }
  void StepWallClock(base::Duration by) { wall_.step += by; }
  // The number of its starts.
  int life() const { return life_; }
  void BeginLife() { ++life_; }

  bool paused() const { return paused_; }
  void Pause() { paused_ = true; }
  void Resume();

 private:
  friend class VirtualLoop;
  struct WallClock final : base::Clock {
    explicit WallClock(const Timeline& its_timeline) : timeline(its_timeline) {}
    base::Time Now() const override;
    const Timeline& timeline;
    base::Duration step{};
  };

  Timeline& timeline_;
  const std::string name_;
  const base::Duration origin_;  // the monotonic clock at the beginning of the storm
  WallClock wall_;
  base::Random random_;
  bool paused_ = false;
  int life_ = 0;
  std::vector<VirtualLoop*> loops_;
};

// Tasks that have not run when it is destroyed never run.
class VirtualLoop final : public base::Loop {
 public:
  explicit VirtualLoop(Process& process);
  ~VirtualLoop() override;
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;

  base::Duration Now() const override { return process_.Monotonic(); }
  void Post(Task task) override;
  base::TimerId RunAfter(base::Duration delay, Task task) override;
  void Cancel(base::TimerId timer) override;
  void RunNow(Task task) override { task(); }

  size_t timers() const { return timers_.size(); }

 private:
  friend class Process;
  // Makes the timeline wake it when its next task is due.
  void Arm();
  void Wake();

  Process& process_;
  std::deque<Task> posted_;
  std::map<std::pair<base::Duration, base::TimerId>, Task> timers_;  // by due time
  std::map<base::TimerId, base::Duration> due_;
  base::TimerId last_timer_ = 0;
  base::Duration busy_until_{};  // in the timeline's time, as is armed_for_
  base::Duration armed_for_ = base::Duration::max();
  std::shared_ptr<VirtualLoop*> self_;  // points to null once this is destroyed
};

}  // namespace berth::storm
