// ReplayFixture: records churn into a folder that goes with the test, and decides it again.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "record/file_reader.h"
#include "replay/input_stream.h"
#include "replay/recorder.h"
#include "replay/replayer.h"
#include "replay/testing/churn.h"

namespace berth::replay::testing {

class ReplayFixture : public ::testing::Test {
 protected:
  ReplayFixture()
      : folder_(::testing::TempDir() + "replay-" + std::to_string(::getpid()) + "-" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
  }
  ~ReplayFixture() override { std::filesystem::remove_all(folder_); }

  Recorder::Options Options(Churn& churn, uint64_t seed) {
    Recorder::Options options;
    options.ring.folder = folder_;
    options.ring.file_size = 6000;
    options.ring.block_size = 1500;
    options.threaded = false;
    options.header = MakeHeader(churn.configuration(), churn.gates(), churn.extenders());
    options.header.program_version = "test";
    options.header.seed = seed;
    options.header.max_unschedulable = std::chrono::minutes(5);
    options.header.max_binding = 8;
    return options;
  }

  // Records so many actions.
  void Record(const Churn::Options& options, size_t actions) {
    Churn churn(options);
    auto recorder = Recorder::Start(Options(churn, options.seed));
    ASSERT_TRUE(recorder.ok());
    churn.Start(recorder->get());
    churn.Run(actions);
    EXPECT_FALSE((*recorder)->stopped());
    EXPECT_GT(churn.bound(), 20u);
    EXPECT_GT(churn.failed(), 20u);
    evicted_ += churn.evicted();
  }

  record::Recording Only() const {
    auto found = record::FindRecordings(folder_);
    CHECK_WHY(found.ok() && found->size() == 1, found.ok() ? "several" : found.error().message.c_str());
    return found->front();
  }

  // Replays from the file with this number on; "" when all was the same.
  std::string Replay(size_t from, Replayer::Options options = {}) {
    const record::Recording recording = Only();
    auto reader = record::FileReader::Open(recording.files[from]);
    CHECK(reader.ok());
    auto replayer = Replayer::Create((*reader)->header(), Churn::registry(), options);
    CHECK_WHY(replayer.ok(), replayer.ok() ? "" : replayer.error().message.c_str());
    InputStream inputs({recording.files.begin() + static_cast<ptrdiff_t>(from), recording.files.end()},
                       (*replayer)->gates());
    Input input;
    while (true) {
      const Result<bool> more = inputs.Next(input);
      if (!more) return more.error().message;
      if (!*more) break;
      if (!(*replayer)->Apply(input)) {
        const Difference& difference = *(*replayer)->difference();
        return fmt::format("input {}: {}: recorded {}; replayed {}", difference.input, difference.what,
                           difference.recorded, difference.replayed);
      }
    }
    counts_ = (*replayer)->counts();
    decisions_ = counts_.decisions;
    return "";
  }

  const std::string folder_;
  size_t evicted_ = 0;
  uint64_t decisions_ = 0;
  Counts counts_;
};

}  // namespace berth::replay::testing
