// StopSignals: the first SIGINT or SIGTERM calls a function, on its own thread.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/result.h"

namespace berth::cmd {

class StopSignals {
 public:
  // Construct it before any other thread is started, so that the signals are blocked in all of them.
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // A second signal ends the process.
  void Start(std::function<void()> stop);
  // `stop` is not called after this.
  void End();

 private:
  sigset_t set_;
  sigset_t before_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// "90s", "1h30m": the value of --for. An empty text is unset.
Result<std::optional<base::Duration>> ParseFor(const std::string& text);

}  // namespace berth::cmd
