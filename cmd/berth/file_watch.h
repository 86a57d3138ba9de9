// FileWatch: calls a function whenever a file has changed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "serving/file_stamp.h"

namespace berth::cmd {

// Checks the file periodically, and calls `on_change`, on its own thread.
class FileWatch {
 public:
  FileWatch(const std::string& file, std::function<void()> on_change)
      : stamps_({file}), thread_([this, on_change = std::move(on_change)] {
          (void)stamps_.Changed();
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, kPeriod, [this] { return done_; })) {
            if (stamps_.Changed()) on_change();
          }
        }) {}
  ~FileWatch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  // A mounted ConfigMap takes a minute to change anyway.
  static constexpr std::chrono::seconds kPeriod{2};

  serving::FileStamps stamps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;   // guarded by mutex_
  std::thread thread_;  // last: it uses the others
};

}  // namespace berth::cmd
