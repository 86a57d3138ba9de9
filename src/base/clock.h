// Time is an input. Production passes SystemClock, tests and simulation a FakeClock; nothing reads the wall clock
// itself.
#pragma once

#include <atomic>
#include <chrono>

namespace berth::base {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time Now() const override { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }
};

// Starts at the wall clock's time and then only moves forward: it never jumps, even when the wall clock is set. For
// whatever measures or waits.
class MonotonicClock final : public Clock {
 public:
  Time Now() const override { return start_ + (std::chrono::steady_clock::now() - steady_start_); }

 private:
  const Time start_ = SystemClock().Now();
  const std::chrono::steady_clock::time_point steady_start_ = std::chrono::steady_clock::now();
};

// Threads may read it while a test moves it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Time start = Time{}) : now_(start) {}
  Time Now() const override { return now_.load(std::memory_order_relaxed); }
  void Advance(Duration by) { Set(Now() + by); }
  void Set(Time now) { now_.store(now, std::memory_order_relaxed); }

 private:
  std::atomic<Time> now_;
};

}  // namespace berth::base
