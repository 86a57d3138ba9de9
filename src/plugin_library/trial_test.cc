#include "plugin_library/trial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace berth::plugin_library {
namespace {

using namespace std::chrono_literals;

TEST(HowItFails, TellsTheWaysToFailApart) {
  struct {
    const char* what;
    std::function<void()> body;
    std::optional<std::string> failure;
  } const cases[] = {
      {"returns", [] {}, std::nullopt},
      {"throws", [] { throw std::runtime_error("boom"); }, std::nullopt},
      {"segmentation fault", [] { raise(SIGSEGV); }, "crashed (SIGSEGV)"},
      {"abort", [] { std::abort(); }, "crashed (SIGABRT)"},
      {"exit", [] { _exit(3); }, "ended the process (exit status 3)"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    EXPECT_EQ(HowItFails(test.body, 60s), test.failure);
  }
}

TEST(HowItFails, DoesNotWaitForEver) {
  EXPECT_EQ(HowItFails(
                [] {
                  for (;;) pause();
                },
                100ms),
            "did not come back within 1s");
}

TEST(HowItFails, LeavesTheCallerUntouched) {
  int count = 0;
  EXPECT_EQ(HowItFails([&] { ++count; }, 60s), std::nullopt);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace berth::plugin_library
