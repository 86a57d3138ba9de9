// berth replay as a command: its output for recordings in which there is nothing to compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/check.h"
#include "commands.h"
#include "config/load.h"
#include "record/ring_writer.h"
#include "replay/recorder.h"
#include "replay/records.h"
#include "replay_report.h"

namespace berth::cmd {
namespace {

using replay::FrameType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReplayCommandTest : public ::testing::Test {
 protected:
  ReplayCommandTest()
      : folder_(::testing::TempDir() + "replay-command-" + std::to_string(::getpid()) + "-" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
  }
  ~ReplayCommandTest() override { std::filesystem::remove_all(folder_); }

  // Writes a file of the recording, with these frames.
  void Write(uint64_t part, base::Time begins, const std::vector<std::pair<FrameType, std::string>>& frames) {
    const config::FeatureGates gates;
    record::Header header = replay::MakeHeader(config::DefaultConfiguration(gates), gates, {});
    header.recording = 1;
    header.part = part;
    header.begins = begins;
    header.max_unschedulable = std::chrono::minutes(5);
    header.max_binding = 8;
    auto ring = record::RingWriter::Open({.folder = folder_});
    CHECK(ring.ok() && (*ring)->Begin(header).ok());
    for (const auto& [type, payload] : frames) CHECK((*ring)->Append(static_cast<uint32_t>(type), payload).ok());
    CHECK((*ring)->Flush().ok());
  }

  std::string Step() const {
    std::string payload;
    replay::AppendInput(noon_, {}, payload);
    return payload;
  }

  struct Ran {
    int status = 0;
    std::string out, err;
  };
  Ran Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), folder_);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = Replay({}, arguments);
    return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  const base::Time noon_{std::chrono::hours(480'000)};
  const std::string folder_;
};

TEST_F(ReplayCommandTest, AReplayThatComparedNothingIsNotTheSame) {
  Write(0, noon_, {{FrameType::kStep, Step()}, {FrameType::kEnd, ""}});
  for (const char* output : {"text", "json", "markdown"}) {
    const Ran ran = Run({"-o", output});
    EXPECT_EQ(ran.status, 2) << output;
    EXPECT_THAT(ran.err, HasSubstr("nothing was compared")) << output;
    EXPECT_THAT(ran.out, AllOf(Not(HasSubstr("is the same")), Not(HasSubstr("\"same\": true")))) << output;
  }
}

TEST_F(ReplayCommandTest, AFileOfATornCheckpointIsNotTheSame) {
  Write(3, noon_, {{FrameType::kCheckpointBegin, ""}});
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{}, {"--at", "2100-01-01T00:00:00Z"}, {"--explain", "web"}}) {
    const Ran ran = Run(flags);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("ends in the middle of its checkpoint"));
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(ReplayCommandTest, ATimeBeforeTheRecordingIsASentence) {
  Write(0, noon_, {{FrameType::kStep, Step()}, {FrameType::kEnd, ""}});
  const Ran ran = Run({"--at", "2001-01-01T00:00:00Z"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--at: the recording begins at 2024-10-04T00:00:00Z, which is later"));
}

TEST_F(ReplayCommandTest, ARecordingThatWasNotClosedIsCalledThat) {
  Write(0, noon_, {{FrameType::kStep, Step()}});
  EXPECT_THAT(Run({}).out, HasSubstr("the last one was not closed"));
}

TEST(ReplayReport, WhatCouldNotBeRepeatedIsSaid) {
  ReplayedRecording one;
  one.counts.decisions = 4;
  one.counts.cycles_not_run = 2;
  one.counts.withheld_objects = 1;
  EXPECT_EQ(VerdictOf({one}), ReplayVerdict::kSame);
  for (const std::string& text : {ToText({one}, "1"), ToMarkdown({one}, "1")}) {
    EXPECT_THAT(text, HasSubstr("2 binding cycles asked the API for objects that are not recorded"));
    EXPECT_THAT(text, HasSubstr("Of 1 Secret only the metadata is recorded"));
  }
  EXPECT_THAT(ToJson({one}, "1"), HasSubstr("\"bindingCyclesNotRun\": 2"));
  ReplayedRecording idle;
  EXPECT_EQ(VerdictOf({idle, one}), ReplayVerdict::kSame) << "a standby has nothing to say";
  EXPECT_EQ(VerdictOf({idle}), ReplayVerdict::kNothingCompared);
  EXPECT_EQ(VerdictOf({}), ReplayVerdict::kNothingCompared);
}

}  // namespace
}  // namespace berth::cmd
