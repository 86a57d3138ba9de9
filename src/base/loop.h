// Loop: an event loop with timers. Everything that waits runs on one: list and watch, retries, leader election, event
// recording. Production runs it on its own thread (ThreadLoop), tests step through it manually (testing/fake_loop.h),
// so that no test sleeps.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace berth::base {

using TimerId = uint64_t;

// Thread-safe. Tasks run one at a time, posted ones in the order they were posted.
class Loop {
 public:
  using Task = std::function<void()>;

  virtual ~Loop() = default;

  // Monotonic time since some origin; std::chrono::steady_clock's in production, so that others can compare with it.
  virtual base::Duration Now() const = 0;
  virtual void Post(Task task) = 0;
  virtual TimerId RunAfter(base::Duration delay, Task task) = 0;
  // No-op for a timer that has already run. When called on the loop's own thread, the cancelled task will not run.
  virtual void Cancel(TimerId timer) = 0;
  // Runs the task and returns when it is done; at once when called from the loop itself.
  virtual void RunNow(Task task) = 0;
};

// May be destroyed as soon as whatever posts to it has had its tasks run; a transport whose calls post to it must be
// destroyed first, since cancelled calls end later.
class ThreadLoop final : public Loop {
 public:
  ThreadLoop();
  ~ThreadLoop() override;  // as Stop()
  ThreadLoop(const ThreadLoop&) = delete;
  ThreadLoop& operator=(const ThreadLoop&) = delete;

  base::Duration Now() const override;
  void Post(Task task) override;
  TimerId RunAfter(base::Duration delay, Task task) override;
  void Cancel(TimerId timer) override;
  // After Stop() it runs on the calling thread.
  void RunNow(Task task) override;

  // Returns when everything posted so far has run; timers and later posts are dropped. Must not be called on the
  // loop's own thread.
  void Stop();

 private:
  void Serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Task> posted_;                                   // guarded by mutex_
  std::map<std::pair<base::Duration, TimerId>, Task> timers_;  // by due time; guarded by mutex_
  std::map<TimerId, base::Duration> due_;                      // guarded by mutex_
  TimerId last_timer_ = 0;                                     // guarded by mutex_
  bool stopping_ = false;                                      // guarded by mutex_
  std::thread thread_;
};

}  // namespace berth::base
