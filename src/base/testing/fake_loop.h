// A Loop that runs only when a test says so, in virtual time.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/loop.h"

namespace berth::base::testing {

// Not thread-safe. Keeps a wall clock in step with its own time.
class FakeLoop final : public Loop {
 public:
  explicit FakeLoop(base::FakeClock* clock = nullptr) : clock_(clock) {}

  base::Duration Now() const override { return now_; }
  void Post(Task task) override { posted_.push_back(std::move(task)); }
  TimerId RunAfter(base::Duration delay, Task task) override {
    const TimerId timer = ++last_timer_;
    timers_.emplace(std::pair(now_ + std::max(delay, base::Duration::zero()), timer), std::move(task));
    return timer;
  }
  void Cancel(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  void RunNow(Task task) override { task(); }

  // Everything that is due now, and what comes of it.
  void Run() {
    while (RunOne()) continue;
  }
  // As time passes, everything that becomes due, at its time.
  void Advance(base::Duration by) {
    const base::Duration until = now_ + by;
    Run();
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      MoveTo(timers_.begin()->first.first);
      Run();
    }
    MoveTo(until);
  }
  // How long until the next timer; zero when there is none.
  base::Duration NextTimer() const {
    return timers_.empty() ? base::Duration::zero() : timers_.begin()->first.first - now_;
  }

 private:
  bool RunOne() {
    if (!posted_.empty()) {
      Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
      return true;
    }
    if (timers_.empty() || timers_.begin()->first.first > now_) return false;
    auto first = timers_.extract(timers_.begin());
    first.mapped()();
    return true;
  }
  void MoveTo(base::Duration time) {
    if (clock_ != nullptr) clock_->Advance(time - now_);
    now_ = time;
  }

  base::FakeClock* clock_;
  base::Duration now_{};
  TimerId last_timer_ = 0;
  std::deque<Task> posted_;
  std::map<std::pair<base::Duration, TimerId>, Task> timers_;
};

}  // namespace berth::base::testing
