#include "stop_signals.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "api/time.h"

namespace berth::cmd {

StopSignals::StopSignals() {
  ::sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&set_, signal);
  ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  ::signal(SIGPIPE, SIG_IGN);  // a broken connection is an error to handle, not the end of the process
}

StopSignals::~StopSignals() {
  End();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::End() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void StopSignals::Start(std::function<void()> stop) {
  thread_ = std::thread([this, stop = std::move(stop)] {
    const timespec nap{.tv_sec = 0, .tv_nsec = 100'000'000};
    for (bool stopped = false; !done_;) {
      const int signal = ::sigtimedwait(&set_, nullptr, &nap);
      if (signal <= 0) continue;
      if (stopped) ::_exit(128 + signal);
      stopped = true;
      stop();
    }
  });
}

Result<std::optional<base::Duration>> ParseFor(const std::string& text) {
  if (text.empty()) return std::optional<base::Duration>();
  const Result<base::Duration> limit = api::ParseDuration(text);
  if (!limit || *limit <= base::Duration::zero()) {
    return Error::InvalidArgument(fmt::format("--for: expected a time like 90s or 1h30m, found \"{}\"", text));
  }
  return std::optional(*limit);
}

}  // namespace berth::cmd
