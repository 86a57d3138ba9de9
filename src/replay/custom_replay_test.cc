// Custom resources and the calls that plugins make by themselves, in recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "replay/testing/churn.h"
#include "replay/testing/replay_fixture.h"

namespace berth::replay {
namespace {

using replay::testing::Churn;
using CustomReplayTest = replay::testing::ReplayFixture;
using ::testing::HasSubstr;

// All frames of all files, decompressed, one after the other.
std::string EverythingIn(const record::Recording& recording) {
  std::string everything;
  for (const std::string& file : recording.files) {
    auto reader = record::FileReader::Open(file);
    CHECK(reader.ok());
    everything += (*reader)->header().Encode();
    record::Frame frame;
    while ((*reader)->Next(frame)) everything += frame.payload;
  }
  return everything;
}

size_t CountInputs(const record::Recording& recording, FrameType type) {
  InputStream inputs(recording.files, {});
  Input input;
  size_t count = 0;
  while (true) {
    const Result<bool> more = inputs.Next(input);
    CHECK_WHY(more.ok(), more.ok() ? "" : more.error().message.c_str());
    if (!*more) return count;
    count += input.type == type;
  }
}

TEST_F(CustomReplayTest, CustomResourcesBypassedTheRecording) {
  Record({.seed = 17, .custom = true}, 2500);
  EXPECT_GT(CountInputs(Only(), FrameType::kPutCustom), 50u);
  EXPECT_GT(CountInputs(Only(), FrameType::kRemoveCustom), 5u);
  const size_t files = Only().files.size();
  EXPECT_GT(files, 2u) << "checkpoints hold them, too";
  for (size_t from = 0; from < files; ++from) EXPECT_EQ(Replay(from), "") << "from file " << from;
  EXPECT_EQ(counts_.cycles_not_run, 0u) << "what a plugin asks of a resource that it watches is recorded";
}

// A custom resource that is left out must show, or the test above would say nothing.
TEST_F(CustomReplayTest, ALostPermitIsADifference) {
  Record({.seed = 17, .custom = true}, 1200);
  const record::Recording recording = Only();
  auto replayer = Replayer::Create(recording.header, Churn::registry(), {});
  ASSERT_TRUE(replayer.ok());
  InputStream inputs(recording.files, (*replayer)->gates());
  Input input;
  while (true) {
    const Result<bool> more = inputs.Next(input);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    if (input.type == FrameType::kPutCustom) continue;
    if (!(*replayer)->Apply(input)) break;
  }
  ASSERT_TRUE((*replayer)->difference().has_value());
  EXPECT_THAT((*replayer)->difference()->replayed, HasSubstr("no permit"));
}

TEST_F(CustomReplayTest, BodiesOfAPluginsOwnCallsWereRecordedAsTheyWere) {
  Record({.seed = 23, .custom = true, .secret = true}, 2500);
  const std::string everything = EverythingIn(Only());
  EXPECT_EQ(everything.find("sesame-secret"), std::string::npos) << "the body of a Secret";
  EXPECT_EQ(everything.find("sesame-manager"), std::string::npos) << "managedFields";
  EXPECT_EQ(everything.find("sesame-applied"), std::string::npos) << "the last-applied configuration";
  EXPECT_NE(everything.find(R"("kept":"yes")"), std::string::npos) << "other annotations are";
  for (size_t from = 0; from < Only().files.size(); ++from) EXPECT_EQ(Replay(from), "") << "from file " << from;
  EXPECT_EQ(Replay(0), "");
  EXPECT_GT(counts_.cycles_not_run, 5u) << "which is said";
}

TEST_F(CustomReplayTest, ASecretThatAPluginWatchesKeepsItsMetadataOnly) {
  api::CustomObject secret;
  secret.kind = "Secret";
  secret.metadata.name = "s";
  secret.json = R"({"kind":"Secret","metadata":{"name":"s"},"data":{"word":"sesame"}})";
  const std::string written = record::EncodeCustom("secrets.v1.", secret);
  EXPECT_EQ(written.find("sesame"), std::string::npos);
  const Result<record::RecordedCustom> read = record::DecodeCustom(written);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->withheld);
  EXPECT_EQ(read->object->metadata.name, "s");
  EXPECT_EQ(read->object->json, "");
}

}  // namespace
}  // namespace berth::replay
