#include "plugin_library/trial.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace berth::plugin_library {

namespace {

[[noreturn]] void RunInChild(const std::function<void()>& body, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // Signal handlers of the parent (a sanitizer's, say) would hide what happens here.
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) signal(number, SIG_DFL);
  try {
    body();
  } catch (...) {
    // The parent will get the exception too, and can report more.
  }
  while (write(report, "k", 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

// 1: the child has reported; 0: timed out; -1: it ended without a report.
int AwaitReport(int report, base::Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return 0;
    pollfd waiting{report, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready == 0) return 0;
    if (ready < 0) continue;  // interrupted
    char byte;
    const ssize_t got = read(report, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    return got == 1 ? 1 : -1;
  }
}

std::string Describe(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("ended the process (exit status {})", WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));
  return name ? fmt::format("crashed (SIG{})", name) : fmt::format("crashed (signal {})", WTERMSIG(status));
}

}  // namespace

std::optional<std::string> HowItFails(const std::function<void()>& body, base::Duration patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fmt::format("could not be tried: pipe: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    RunInChild(body, ends[1]);
  }
  const int fork_error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return fmt::format("could not be tried: fork: {}", std::strerror(fork_error));
  }
  const int report = AwaitReport(ends[0], patience);
  close(ends[0]);
  if (report == 0) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (report == 1) return std::nullopt;
  if (report == 0)
    return fmt::format("did not come back within {:%Q%q}", std::chrono::ceil<std::chrono::seconds>(patience));
  return Describe(status);
}

}  // namespace berth::plugin_library
