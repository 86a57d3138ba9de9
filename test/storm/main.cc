// berth-storm: seeded storms of the whole scheduler in virtual time.
//
//   berth-storm --seeds 1000 [--from N] [--jobs N]     exit status 1 when a seed breaks an invariant
//   berth-storm --seed N [--trace] [--shrink]          one seed: everything that happens, or a smaller failure
//   --first-fit                                        of the model's own first-fit scheduler
//
// A seed that takes two minutes of processor time hangs: its process is ended by SIGPROF.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "storm/shrink.h"
#include "storm/storm.h"

namespace berth::storm {
namespace {

constexpr size_t kLastEvents = 60;
// Every so many seeds are run twice, and must give the same trace.
constexpr uint64_t kRepeatEvery = 25;
constexpr int kLogVerbosity = 4;
// Most take a tenth of a second; sanitized, some seconds.
constexpr time_t kLongestSeed = 120;  // seconds of processor time
constexpr int kPartsOfIt = 12;

struct Flags {
  uint64_t from = 0;
  uint64_t seeds = 100;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool one = false;
  bool first_fit = false;
  uint64_t most_failures = 5;  // of one job, which then stops
  bool trace = false;
  bool shrink = false;
};

void Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintFailure(const Plan& plan, const Scheduler& scheduler, const Violation& violation) {
  // The same again, this time with a full trace.
  Storm storm(plan, scheduler, Trace::Keep::kLines);
  storm.Run();
  std::string text = fmt::format("seed {}: {}\n  {}\n  {}\n  at {:.3f} s; the last events that matter:\n", plan.seed,
                                 violation.invariant, violation.message, DescribeWorld(plan),
                                 static_cast<double>(violation.at.count()) / 1e9);
  for (const std::string& line : storm.trace().LastThatMatter(violation.subjects, kLastEvents))
    text += "  " + line + "\n";
  Print(text);
}

void TakeLog(std::function<void(std::string_view line)> sink, int verbosity) {
  const Result<void> configured = base::ConfigureLog({.verbosity = verbosity, .sink = std::move(sink)});
  CHECK(configured.ok());
}

void PrintDifference(uint64_t seed) {
  Print(fmt::format("seed {}: the same seed gives the same trace\n  two runs differ\n", seed));
}

uint64_t DigestOf(const Plan& plan, const Scheduler& scheduler) {
  Storm storm(plan, scheduler, Trace::Keep::kDigest);
  storm.Run();
  return storm.trace().digest();
}

volatile std::sig_atomic_t parts_of_seed = 0;

void OnPartOfSeed(int) {
  parts_of_seed = parts_of_seed + 1;
  if (parts_of_seed < kPartsOfIt) return;
  std::signal(SIGPROF, SIG_DFL);
  std::raise(SIGPROF);
}

// Ends the process once what it does from now on has taken too long. Counted in parts: where a virtual machine is
// stopped for a while, that may count as processor time, once.
void RestartWatchdog() {
  parts_of_seed = 0;
  struct sigaction action {};
  action.sa_handler = OnPartOfSeed;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGPROF, &action, nullptr) == 0);
  const timeval part{.tv_sec = kLongestSeed / kPartsOfIt, .tv_usec = 0};
  const itimerval timer{.it_interval = part, .it_value = part};
  CHECK(setitimer(ITIMER_PROF, &timer, nullptr) == 0);
}

bool RunSeed(uint64_t seed, const Scheduler& scheduler) {
  RestartWatchdog();
  const Plan plan = MakePlan(seed);
  const bool repeats = seed % kRepeatEvery == 0;
  Storm storm(plan, scheduler, repeats ? Trace::Keep::kDigest : Trace::Keep::kNothing);
  if (const std::optional<Violation> violation = storm.Run()) {
    PrintFailure(plan, scheduler, *violation);
    return false;
  }
  if (repeats && DigestOf(plan, scheduler) != storm.trace().digest()) {
    PrintDifference(seed);
    return false;
  }
  return true;
}

int RunOneSeed(const Flags& flags, const Scheduler& scheduler) {
  Plan plan = MakePlan(flags.from);
  Storm storm(plan, scheduler, Trace::Keep::kDigest);
  if (flags.trace) {
    TakeLog([&](std::string_view line) { storm.AddLog(line); }, kLogVerbosity);
    // As they occur: the process may end before the storm does.
    storm.trace().set_on_line([](const std::string& line) { Print(line + "\n"); });
  }
  RestartWatchdog();
  const std::optional<Violation> violation = storm.Run();
  TakeLog([](std::string_view) {}, 0);
  RestartWatchdog();
  if (DigestOf(plan, scheduler) != DigestOf(plan, scheduler)) {
    PrintDifference(plan.seed);
    return 1;
  }
  if (!violation) {
    Print(fmt::format("seed {} passed: {} events, {:.0f} s of virtual time, trace {:016x}\n", plan.seed,
                      storm.timeline().events(), static_cast<double>(storm.timeline().Now().count()) / 1e9,
                      storm.trace().digest()));
    return 0;
  }
  if (flags.shrink) {
    plan = Shrink(std::move(plan), scheduler, violation->invariant, [](const Plan&) {
      RestartWatchdog();
      Print(".");
    });
    Print("\nsmaller script of the same failure:\n" + Describe(plan));
  }
  Storm again(plan, scheduler, Trace::Keep::kNothing);
  PrintFailure(plan, scheduler, again.Run().value_or(*violation));
  return 1;
}

// The progress of one of the parallel jobs, visible to all.
struct Progress {
  uint64_t seed;  // that is running
  uint64_t next;
  uint64_t passed;
  uint64_t failed;
};

void RunJob(const Flags& flags, Progress& progress, const Scheduler& scheduler) {
  while (progress.next < flags.from + flags.seeds && progress.failed < flags.most_failures) {
    progress.seed = progress.next;
    progress.next += flags.jobs;
    ++(RunSeed(progress.seed, scheduler) ? progress.passed : progress.failed);
  }
}

pid_t StartJob(const Flags& flags, Progress& progress, const Scheduler& scheduler) {
  const pid_t child = fork();
  if (child != 0) return child;
  RunJob(flags, progress, scheduler);
  _exit(0);
}

// Of one whose process did not end by itself.
void PrintDeath(uint64_t seed, int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGPROF) {
    return Print(fmt::format("seed {}: a storm ends\n  it has taken {} s of processor time\n", seed, kLongestSeed));
  }
  Print(fmt::format("seed {}: the process does not die\n  ended by {}\n", seed,
                    signal != 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                                : fmt::format("exit status {}", WEXITSTATUS(status))));
}

int RunSeeds(const Flags& flags, const Scheduler& scheduler) {
  void* shared =
      mmap(nullptr, sizeof(Progress) * flags.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    Print("no memory to share between jobs\n");
    return 2;
  }
  auto* progress = static_cast<Progress*>(shared);
  std::map<pid_t, unsigned> jobs;
  for (unsigned job = 0; job < flags.jobs; ++job) {
    progress[job].next = flags.from + job;
    jobs.emplace(StartJob(flags, progress[job], scheduler), job);
  }
  while (!jobs.empty()) {
    int status = 0;
    const auto ended = jobs.find(waitpid(-1, &status, 0));
    CHECK(ended != jobs.end());
    const unsigned job = ended->second;
    jobs.erase(ended);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++progress[job].failed;
    PrintDeath(progress[job].seed, status);
    // Another process goes on with the next seed.
    jobs.emplace(StartJob(flags, progress[job], scheduler), job);
  }
  uint64_t passed = 0, failed = 0;
  for (unsigned job = 0; job < flags.jobs; ++job) {
    passed += progress[job].passed;
    failed += progress[job].failed;
  }
  Print(fmt::format("{} storms passed, {} failed\n", passed, failed));
  return failed > 0 ? 1 : 0;
}

bool ReadFlags(int argc, char** argv, Flags& flags) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--trace") {
      flags.trace = true;
    } else if (flag == "--keep-going") {
      flags.most_failures = UINT64_MAX;
    } else if (flag == "--failures" && i + 1 < argc) {
      flags.most_failures = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--first-fit") {
      flags.first_fit = true;
    } else if (flag == "--shrink") {
      flags.shrink = true;
    } else if (i + 1 < argc && (flag == "--seed" || flag == "--from" || flag == "--seeds" || flag == "--jobs")) {
      const uint64_t number = std::strtoull(argv[++i], nullptr, 10);
      if (flag == "--seeds") flags.seeds = number;
      if (flag == "--jobs") flags.jobs = static_cast<unsigned>(std::max<uint64_t>(number, 1));
      if (flag == "--seed" || flag == "--from") flags.from = number;
      flags.one |= flag == "--seed";
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace berth::storm

int main(int argc, char** argv) {
  using namespace berth::storm;
  Flags flags;
  if (!ReadFlags(argc, argv, flags)) {
    std::fputs(
        "usage: berth-storm --seeds COUNT [--from N] [--jobs N] [--failures N | --keep-going] | --seed N [--trace] "
        "[--shrink] "
        "[--first-fit]\n",
        stderr);
    return 2;
  }
  // The scheduler's log would only repeat the trace.
  TakeLog([](std::string_view) {}, 0);
  const Scheduler scheduler = flags.first_fit ? FirstFitScheduler() : LiveScheduler();
  return flags.one ? RunOneSeed(flags, scheduler) : RunSeeds(flags, scheduler);
}
