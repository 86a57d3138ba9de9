#include "terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace berth::cmd {
namespace {

using namespace std::chrono_literals;

struct TemporaryFile {
  std::FILE* file = std::tmpfile();
  ~TemporaryFile() { std::fclose(file); }
  std::string Text() const {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
  }
};

TEST(WantsColor, AFileIsNotColouredUnlessAskedFor) {
  const TemporaryFile out;
  EXPECT_FALSE(*WantsColor("auto", out.file));
  EXPECT_TRUE(*WantsColor("always", out.file));
  EXPECT_FALSE(*WantsColor("never", out.file));
  const Result<bool> wrong = WantsColor("yes", out.file);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "--color: expected auto, always or never, found \"yes\"");
}

// The output of a run in which each step takes `step`.
std::string Shown(bool enabled, base::Duration step, size_t steps) {
  const TemporaryFile out;
  base::FakeClock clock;
  {
    ProgressLine line(out.file, enabled, clock, "pods");
    for (size_t i = 0; i < steps; ++i) {
      clock.Advance(step);
      line.Update(i, steps);
    }
  }
  return out.Text();
}

TEST(ProgressLine, AShortRunSaysNothing) { EXPECT_EQ(Shown(true, 1ms, 990), ""); }

TEST(ProgressLine, NothingWithoutATerminal) { EXPECT_EQ(Shown(false, 1s, 990), ""); }

TEST(ProgressLine, ALongRunShowsOneLineAndErasesIt) {
  const std::string text = Shown(true, 100ms, 40);
  EXPECT_EQ(text, "\r\x1b[K32 of 40 pods, 10 a second\r\x1b[K");
}

}  // namespace
}  // namespace berth::cmd
