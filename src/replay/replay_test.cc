#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "record/file_reader.h"
#include "record/testing/frames.h"
#include "replay/input_stream.h"
#include "replay/recorder.h"
#include "replay/replayer.h"
#include "replay/testing/churn.h"
#include "replay/testing/replay_fixture.h"
#include "testing/builders.h"

namespace berth::replay {
namespace {

using replay::testing::Churn;
using ReplayTest = replay::testing::ReplayFixture;
namespace fs = std::filesystem;

TEST_F(ReplayTest, ARecordingDecidesTheSameAgainWhateverTheNumberOfThreads) {
  Record({.seed = 11, .threads = 3}, 2000);
  EXPECT_GT(evicted_, 5u);
  for (const size_t threads : {1, 4}) {
    EXPECT_EQ(Replay(0, {.threads = threads, .verify_incremental = threads == 1}), "");
    EXPECT_GT(decisions_, 200u);
  }
}

TEST_F(ReplayTest, AReplayCanBeginAtEveryCheckpoint) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    fs::remove_all(folder_);
    Record({.seed = seed}, 1200);
    const size_t files = Only().files.size();
    EXPECT_GT(files, 3u);
    EXPECT_LT(files, 40u) << "a checkpoint is never more than half of a file";
    for (size_t from = 0; from < files; ++from) EXPECT_EQ(Replay(from), "") << "from file " << from;
  }
}

TEST_F(ReplayTest, AnExtendersAnswersAreRepeated) {
  Record({.seed = 5, .extender = true}, 1200);
  for (size_t from = 0; from < Only().files.size(); ++from) EXPECT_EQ(Replay(from), "") << "from file " << from;
}

TEST_F(ReplayTest, SamplesAreTheSameAgain) {
  Record({.seed = 8, .percentage = 30}, 1200);
  for (size_t from = 0; from < Only().files.size(); ++from) EXPECT_EQ(Replay(from), "") << "from file " << from;
}

// Everything but what is compared stays as it was recorded, so that a difference is about what changed.
TEST_F(ReplayTest, AnotherSeedIsNoticed) {
  Record({.seed = 11}, 800);
  const record::Recording recording = Only();
  record::Header header = recording.header;
  header.seed = 12;
  auto replayer = Replayer::Create(header, Churn::registry(), {});
  ASSERT_TRUE(replayer.ok());
  InputStream inputs(recording.files, (*replayer)->gates());
  Input input;
  while (true) {
    const Result<bool> more = inputs.Next(input);
    ASSERT_TRUE(more.ok());
    if (!*more || !(*replayer)->Apply(input)) break;
  }
  ASSERT_TRUE((*replayer)->difference().has_value());
  EXPECT_EQ((*replayer)->difference()->what, "decision");
  EXPECT_NE((*replayer)->difference()->recorded, (*replayer)->difference()->replayed);
}

scheduler::Attempt SomeAttempt() {
  const auto pod = [](const std::string& name) {
    return framework::PodInfo::Make(berth::testing::MakePod(name).Shared(), {});
  };
  scheduler::Attempt attempt;
  attempt.pod = pod("web");
  attempt.ticket = base::Ticket{7};
  attempt.outcome = scheduler::Outcome::kUnschedulable;
  attempt.node_name = "n1";
  attempt.score = -5;
  attempt.scored = true;
  attempt.nominated = true;
  attempt.feasible_nodes = 3;
  attempt.message = "0/3 nodes are available";
  attempt.post_filter.nominated_node_name = "n2";
  attempt.post_filter.victims.pods = {pod("b"), pod("d")};
  attempt.unschedulable_plugins = {"NodeName"};
  attempt.pending_plugins = {"Gang"};
  return attempt;
}

// A decision that is changed in any field is another one.
TEST_F(ReplayTest, ADecisionSurvivesARoundTripAndEveryFieldCounts) {
  const scheduler::Attempt attempt = SomeAttempt();
  const auto written = [](const scheduler::Attempt& from) {
    std::string bytes;
    AppendDecision(from, bytes);
    return Decision::Decode(bytes);
  };
  const Decision decision = Decision::Of(attempt);
  EXPECT_EQ(decision.pod, "default/web");
  EXPECT_THAT(decision.victims, ::testing::ElementsAre("default/b", "default/d"));
  ASSERT_TRUE(written(attempt).ok());
  EXPECT_EQ(*written(attempt), decision);
  const std::vector<std::function<void(scheduler::Attempt&)>> changes = {
      [](scheduler::Attempt& other) { other.pod = other.post_filter.victims.pods[0]; },
      [](scheduler::Attempt& other) { other.ticket = base::Ticket{8}; },
      [](scheduler::Attempt& other) { other.outcome = scheduler::Outcome::kBound; },
      [](scheduler::Attempt& other) { other.node_name.clear(); },
      [](scheduler::Attempt& other) { other.score = -4; },
      [](scheduler::Attempt& other) { other.scored = false; },
      [](scheduler::Attempt& other) { other.nominated = false; },
      [](scheduler::Attempt& other) { other.feasible_nodes = 300; },
      [](scheduler::Attempt& other) { other.message.clear(); },
      [](scheduler::Attempt& other) { other.post_filter.nominated_node_name.clear(); },
      [](scheduler::Attempt& other) { other.post_filter.victims.pods.pop_back(); },
      [](scheduler::Attempt& other) { other.unschedulable_plugins.clear(); },
      [](scheduler::Attempt& other) { other.pending_plugins.clear(); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    scheduler::Attempt other = SomeAttempt();
    changes[i](other);
    ASSERT_TRUE(written(other).ok());
    EXPECT_EQ(*written(other), Decision::Of(other));
    EXPECT_FALSE(*written(other) == decision);
  }
}

// A disk with so much room.
class SmallDisk final : public record::FileSink {
 public:
  explicit SmallDisk(size_t& room) : room_(room) {}
  Result<void> Write(std::string_view bytes) override {
    if (bytes.size() > room_) return Error::Unavailable("No space left on device");
    room_ -= bytes.size();
    return {};
  }

 private:
  size_t& room_;
};

TEST_F(ReplayTest, AFullDiskEndsTheRecordingWithOneMessageAndSchedulingGoesOn) {
  Churn without({.seed = 3}), with({.seed = 3});
  without.Start(nullptr);
  without.Run(1200);

  size_t room = 20000;
  std::vector<std::string> messages;
  Recorder::Options options = Options(with, 3);
  options.ring.open = [&](const std::string&) -> Result<std::unique_ptr<record::FileSink>> {
    return std::unique_ptr<record::FileSink>(std::make_unique<SmallDisk>(room));
  };
  options.on_stopped = [&](const Error& error) { messages.push_back(error.message); };
  auto recorder = Recorder::Start(std::move(options));
  ASSERT_TRUE(recorder.ok());
  with.Start(recorder->get());
  with.Run(1200);
  EXPECT_TRUE((*recorder)->stopped());
  EXPECT_THAT(messages, ::testing::ElementsAre("No space left on device"));
  EXPECT_EQ(with.bound(), without.bound());
  EXPECT_EQ(with.failed(), without.failed());
}

// The same actions and the same seed: what is recorded must not depend on being recorded.
TEST_F(ReplayTest, RecordingChangesNoDecision) {
  Churn without({.seed = 21}), with({.seed = 21});
  without.Start(nullptr);
  without.Run(1200);
  auto recorder = Recorder::Start(Options(with, 21));
  ASSERT_TRUE(recorder.ok());
  with.Start(recorder->get());
  with.Run(1200);
  EXPECT_EQ(with.bound(), without.bound());
  EXPECT_EQ(with.failed(), without.failed());
  EXPECT_EQ(with.evicted(), without.evicted());
}

TEST_F(ReplayTest, ARecordingOfAThreadIsTheSameRecording) {
  {
    Churn churn({.seed = 31});
    Recorder::Options options = Options(churn, 31);
    options.threaded = true;
    auto recorder = Recorder::Start(std::move(options));
    ASSERT_TRUE(recorder.ok());
    churn.Start(recorder->get());
    churn.Run(1500);
  }
  EXPECT_EQ(Replay(0), "");
  EXPECT_GT(decisions_, 100u);
}

// Frames and objects of one batch keep their order.
TEST_F(ReplayTest, WithAThreadTheSameFramesAreWrittenAsWithout) {
  const auto frames_of = [this](bool threaded) {
    fs::remove_all(folder_);
    {
      Churn churn({.seed = 33, .extender = true, .custom = true});
      Recorder::Options options = Options(churn, 33);
      options.ring.file_size = uint64_t{1} << 30;  // no checkpoints: when one is taken depends on the thread
      options.threaded = threaded;
      auto recorder = Recorder::Start(std::move(options));
      CHECK(recorder.ok());
      churn.Start(recorder->get());
      churn.Run(3000);
    }
    auto reader = record::FileReader::Open(Only().files.front());
    CHECK(reader.ok());
    std::string frames;
    record::Frame frame;
    while ((*reader)->Next(frame)) record::AppendFrame(frames, frame.type, frame.payload);
    return frames;
  };
  const std::string at_once = frames_of(false);
  EXPECT_GT(at_once.size(), 100'000u);
  EXPECT_TRUE(frames_of(true) == at_once);
}

// Wherever the program was killed, also between an input and its decision.
TEST_F(ReplayTest, ADecisionThatWasNotWrittenAnyMoreWasADifference) {
  Churn churn({.seed = 41});
  Recorder::Options options = Options(churn, 41);
  options.ring.block_size = 1;  // each frame is a block
  auto recorder = Recorder::Start(std::move(options));
  ASSERT_TRUE(recorder.ok());
  churn.Start(recorder->get());
  churn.Run(400);
  const std::string file = Only().files.back();
  const uintmax_t whole = fs::file_size(file);
  for (uintmax_t size = whole; size > whole - std::min<uintmax_t>(whole / 4, 1000); size -= 1 + size % 37) {
    fs::resize_file(file, size);
    ASSERT_EQ(Replay(0), "") << size;
    ASSERT_GT(decisions_, 50u);
  }
}

TEST_F(ReplayTest, TheOldestFilesGoAndWhatIsLeftCanBeReplayed) {
  Churn churn({.seed = 41});
  Recorder::Options options = Options(churn, 41);
  options.ring.size = 30000;
  auto recorder = Recorder::Start(std::move(options));
  ASSERT_TRUE(recorder.ok());
  churn.Start(recorder->get());
  for (int i = 0; i < 6; ++i) {
    churn.Run(300);
    const auto found = record::FindRecordings(folder_);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(Replay(0), "") << "after " << i;
  }
  EXPECT_GT(Only().header.part, 0u) << "the first file is gone";
}

TEST_F(ReplayTest, AKeyOfAnExtenderIsNotRecorded) {
  config::FeatureGates gates;
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates);
  config::Extender extender;
  extender.url_prefix = "https://extender";
  extender.filter_verb = "filter";
  extender.weight = 1;
  extender.tls_config.emplace();
  extender.tls_config->key_data = "sesame";
  configuration.extenders.push_back(extender);
  const record::Header header = MakeHeader(configuration, gates, {});
  EXPECT_EQ(header.Encode().find("sesame"), std::string::npos);
  EXPECT_EQ(header.Encode().find("c2VzYW1l"), std::string::npos) << "in base64";
  EXPECT_NE(header.configuration.find("https://extender"), std::string::npos);
}

TEST_F(ReplayTest, FeatureGatesAreWrittenWhereTheyDiffer) {
  config::FeatureGates gates;
  EXPECT_EQ(TextOf(gates), "");
  const config::FeatureGate* changed = nullptr;
  for (const config::FeatureGate& gate : config::KnownFeatureGates()) {
    if (!gate.locked && gate.stage == config::FeatureStage::kAlpha) changed = &gate;
  }
  ASSERT_NE(changed, nullptr);
  ASSERT_TRUE(gates.Set(changed->name, !changed->enabled_by_default).ok());
  EXPECT_EQ(TextOf(gates), std::string(changed->name) + "=true");
}

}  // namespace
}  // namespace berth::replay
