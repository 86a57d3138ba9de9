// LastResort: ends the process if it does not end by itself in time, so that a stuck one can still be terminated.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace berth::cmd {

// Must outlive everything that may get stuck while it ends.
class LastResort {
 public:
  explicit LastResort(std::chrono::milliseconds patience);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  // Starts the time limit; any thread, any number of times.
  void Arm() { Set(armed_); }
  [[noreturn]] static void Exit(const char* why);

 private:
  void Set(bool& flag);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_ = false;  // guarded by mutex_
  bool done_ = false;   // guarded by mutex_
  std::thread thread_;  // last: it uses the others
};

}  // namespace berth::cmd
