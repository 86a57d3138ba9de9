#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/node.h"
#include "api/pod.h"
#include "base/random.h"
#include "codec/json.h"
#include "record/checksum.h"
#include "record/file_reader.h"
#include "record/format.h"
#include "record/object_codec.h"
#include "record/packing.h"
#include "record/ring_writer.h"
#include "record/testing/frames.h"
#include "record/testing/fuzz_targets.h"

namespace berth::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_(::testing::TempDir() + "recording-" + std::to_string(::getpid()) + "-" + std::to_string(++count_)) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (FileNumber(entry.path().filename().string()) != 0) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  uint64_t Size() const {
    uint64_t size = 0;
    for (const std::string& name : Files()) size += fs::file_size(path_ + "/" + name);
    return size;
  }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Header SomeHeader(uint64_t part = 0) {
  Header header;
  header.program_version = "0.1.0";
  header.recording = 7;
  header.part = part;
  header.begins = base::Time(std::chrono::hours(1000)) + base::Duration(3);
  header.seed = UINT64_MAX;
  header.configuration = "kind: KubeSchedulerConfiguration\n";
  header.feature_gates = "A=true";
  header.max_unschedulable = std::chrono::minutes(5);
  header.max_binding = 512;
  header.extenders = {{.name = "http://one", .filters = true, .weight = -3, .managed_resources = {"a/b", "c/d"}},
                      {.name = "http://two", .binds = true, .is_ignorable = true}};
  return header;
}

std::unique_ptr<RingWriter> OpenRing(RingWriter::Options options) {
  Result<std::unique_ptr<RingWriter>> opened = RingWriter::Open(std::move(options));
  CHECK_WHY(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  return *std::move(opened);
}

std::vector<std::string> FramesOf(FileReader& reader) {
  std::vector<std::string> frames;
  Frame frame;
  while (reader.Next(frame)) frames.push_back(std::to_string(frame.type) + " " + std::string(frame.payload));
  return frames;
}

TEST(Checksum, IsCrc32c) {
  for (const auto checksum : {Crc32c, Crc32cByTable}) {
    EXPECT_EQ(checksum("123456789", 0), 0xe3069283u);
    EXPECT_EQ(checksum("", 0), 0u);
    EXPECT_EQ(checksum(std::string(32, '\0'), 0), 0x8a9136aau);  // RFC 3720, B.4
    EXPECT_EQ(checksum(std::string(32, '\xff'), 0), 0x62a8ab43u);
  }
  // Eight bytes at a time, and the rest one by one: of every length the same as one by one, and in two parts.
  std::string bytes;
  for (int size = 0; size < 40; ++size) {
    uint32_t slowly = 0;
    for (const char byte : bytes) slowly = Crc32c({&byte, 1}, slowly);
    EXPECT_EQ(Crc32c(bytes), slowly) << size;
    const size_t half = bytes.size() / 2;
    EXPECT_EQ(Crc32c(std::string_view(bytes).substr(half), Crc32c(std::string_view(bytes).substr(0, half))), slowly);
    bytes += static_cast<char>(size * 37 + 200);
  }
}

TEST(Checksum, TheProcessorsInstructionGivesWhatTheTableDoes) {
  base::Random random(11);
  std::string bytes;
  while (bytes.size() < 5000) bytes += static_cast<char>(random.Next());
  for (int round = 0; round < 2000; ++round) {
    const size_t from = random.Below(64);  // of any alignment
    const size_t size = random.Below(round % 10 == 0 ? bytes.size() - from : 70);
    const auto before = static_cast<uint32_t>(random.Next());
    const std::string_view part = std::string_view(bytes).substr(from, size);
    ASSERT_EQ(Crc32c(part, before), Crc32cByTable(part, before)) << size << " bytes from " << from;
  }
}

TEST(Header, SurvivesARoundTrip) {
  const Result<Header> decoded = Header::Decode(SomeHeader(3).Encode());
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->Encode(), SomeHeader(3).Encode());
  EXPECT_EQ(decoded->seed, UINT64_MAX);
  EXPECT_EQ(decoded->part, 3u);
  EXPECT_EQ(decoded->begins, SomeHeader().begins);
  ASSERT_THAT(decoded->extenders, SizeIs(2));
  EXPECT_EQ(decoded->extenders[0].weight, -3);
  EXPECT_THAT(decoded->extenders[0].managed_resources, ElementsAre("a/b", "c/d"));
  EXPECT_TRUE(decoded->extenders[1].is_ignorable && decoded->extenders[1].binds && !decoded->extenders[1].filters);
}

// EndFrame moves the payload when its length takes more than one byte.
TEST(Frames, APayloadWrittenInPlaceIsTheSameFrame) {
  for (const size_t size : {0, 1, 127, 128, 16383, 16384, 3'000'000}) {
    const std::string payload(size, 'x');
    std::string at_once = "before", in_place = "before";
    AppendFrame(at_once, 300, payload);
    const size_t start = StartFrame(in_place, 300);
    in_place += payload;
    EndFrame(in_place, start);
    EXPECT_EQ(in_place, at_once) << size;
  }
}

TEST(Frames, ABlockMadeInUsedRoomIsTheSameBlock) {
  std::string room;
  base::Random random(12);
  for (const size_t size : {100, 0, 70'000, 5, 1000, 200'000, 1}) {
    std::string frames;
    while (frames.size() < size) frames += std::to_string(random.Below(1000));
    EXPECT_EQ(MakeBlockOfFrames(frames, room), MakeBlock(BlockType::kFrames, Pack(frames))) << size;
  }
}

TEST(Ring, WhatIsAppendedIsReadAgain) {
  Folder folder;
  {
    const auto ring = OpenRing({.folder = folder.path(), .block_size = 40});
    ASSERT_TRUE(ring->Begin(SomeHeader()).ok());
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(ring->Append(i, "payload " + std::to_string(i)).ok());
    std::string frames;
    for (int i = 30; i < 40; ++i) AppendFrame(frames, i, "payload " + std::to_string(i));
    ASSERT_TRUE(ring->AppendFrames(frames).ok());
  }
  auto reader = FileReader::Open(folder.path() + "/" + folder.Files().at(0));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->header().Encode(), SomeHeader().Encode());
  const std::vector<std::string> frames = FramesOf(**reader);
  ASSERT_THAT(frames, SizeIs(40));
  EXPECT_EQ(frames[29], "29 payload 29");
  EXPECT_EQ(frames[39], "39 payload 39");
  EXPECT_FALSE((*reader)->is_torn());
  EXPECT_EQ((*reader)->problem(), "");
}

// What a program leaves that is killed in the middle of a write, wherever that is.
TEST(Ring, AFileThatEndsAtAnyByteGivesTheFramesOfItsWholeBlocks) {
  Folder folder;
  {
    const auto ring = OpenRing({.folder = folder.path(), .block_size = 64});
    ASSERT_TRUE(ring->Begin(SomeHeader()).ok());
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(ring->Append(1, std::to_string(i * 7919)).ok());
  }
  const std::string whole = ReadAll(folder.path() + "/" + folder.Files().at(0));
  auto all_reader = FileReader::Read("whole", whole);
  ASSERT_TRUE(all_reader.ok());
  const std::vector<std::string> all = FramesOf(**all_reader);
  ASSERT_THAT(all, SizeIs(40));
  size_t most = 0;
  int torn = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    auto reader = FileReader::Read("part", whole.substr(0, size));
    if (!reader) {
      EXPECT_EQ(reader.error().code, ErrorCode::kUnavailable) << reader.error().message;
      EXPECT_THAT(reader.error().message, HasSubstr("ends before its first block"));
      continue;
    }
    const std::vector<std::string> frames = FramesOf(**reader);
    ASSERT_LE(frames.size(), all.size());
    EXPECT_TRUE(std::equal(frames.begin(), frames.end(), all.begin()));
    EXPECT_GE(frames.size(), most) << "more bytes, and fewer frames";
    most = frames.size();
    EXPECT_EQ((*reader)->problem(), "");
    torn += (*reader)->is_torn();
  }
  EXPECT_GT(most, 30u);
  EXPECT_GT(torn, 0);
}

TEST(Ring, AChangedByteIsNoticed) {
  Folder folder;
  {
    const auto ring = OpenRing({.folder = folder.path(), .block_size = 64});
    ASSERT_TRUE(ring->Begin(SomeHeader()).ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(ring->Append(1, std::to_string(i * 7919)).ok());
  }
  const std::string whole = ReadAll(folder.path() + "/" + folder.Files().at(0));
  for (size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    auto reader = FileReader::Read("changed", changed);
    if (!reader) continue;
    const size_t frames = FramesOf(**reader).size();
    EXPECT_LT(frames, 20u);
    EXPECT_NE((*reader)->problem(), "") << "a changed length must not look like a file that its program did not finish";
  }
}

TEST(Ring, AFileOfAnotherProgramOrFormatGetsASentence) {
  const auto why = [](std::string bytes) {
    auto reader = FileReader::Read("f.rec", std::move(bytes));
    return reader ? std::string("read") : reader.error().message;
  };
  EXPECT_EQ(why("apiVersion: v1\nkind: List\n"),
            "f.rec: this is no recording of berth: it does not begin with \"berthrec\"");
  std::string newer = Preamble() + MakeBlock(BlockType::kHeader, SomeHeader().Encode());
  newer[8] = 5;
  EXPECT_EQ(why(newer),
            "f.rec: the recording has format 5, and this berth reads formats 1 to 4: use the berth that made it, or a "
            "newer one");
  EXPECT_EQ(why(Preamble() + MakeBlock(BlockType::kFrames, Pack("x"))), "f.rec: there is no header");
  Folder empty;
  fs::create_directories(empty.path());
  const auto none = FindRecordings(empty.path());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, empty.path() + ": there is no recording in this folder");
}

TEST(Ring, OldFilesGoOnlyWhenANewerOneHasSettled) {
  Folder folder;
  base::Random random(5);
  const auto fill = [&](RingWriter& ring, size_t bytes) {
    std::string noise;
    while (noise.size() < bytes) noise += static_cast<char>(random.Next());
    ASSERT_TRUE(ring.Append(1, noise).ok());
    ASSERT_TRUE(ring.Flush().ok());
  };
  const auto ring = OpenRing({.folder = folder.path(), .size = 4000, .file_size = 1000});
  for (uint64_t part = 0; part < 20; ++part) {
    ASSERT_TRUE(ring->Begin(SomeHeader(part)).ok());
    const std::vector<std::string> before = folder.Files();
    fill(*ring, 300);  // the state at the beginning of the file
    EXPECT_EQ(folder.Files(), before) << "nothing goes while the newest file cannot be used";
    ASSERT_TRUE(ring->Settle().ok());
    while (!ring->WantsNewFile()) fill(*ring, 100);
    EXPECT_LE(folder.Size(), 4000u + 1600u) << "one more than the limit, until the next file has settled";
    const auto recordings = FindRecordings(folder.path());
    ASSERT_TRUE(recordings.ok());
    ASSERT_THAT(*recordings, SizeIs(1));
    EXPECT_EQ(recordings->front().header.part + recordings->front().files.size(), part + 1);
  }
  EXPECT_GE(folder.Files().size(), 2u);
  EXPECT_LE(folder.Files().size(), 5u);
}

TEST(Ring, AnotherRunIsAnotherRecording) {
  Folder folder;
  for (uint64_t run = 1; run <= 3; ++run) {
    const auto ring = OpenRing({.folder = folder.path()});
    Header header = SomeHeader();
    header.recording = run;
    ASSERT_TRUE(ring->Begin(header).ok());
    if (run != 2) continue;
    header.part = 1;
    ASSERT_TRUE(ring->Begin(header).ok());
  }
  EXPECT_THAT(folder.Files(),
              ElementsAre("berth-00000001.rec", "berth-00000002.rec", "berth-00000003.rec", "berth-00000004.rec"));
  const auto recordings = FindRecordings(folder.path());
  ASSERT_TRUE(recordings.ok());
  ASSERT_THAT(*recordings, SizeIs(3));
  EXPECT_THAT((*recordings)[1].files, SizeIs(2));
}

TEST(Ring, AFolderIsForOneProgramAtATime) {
  Folder folder;
  const auto ring = OpenRing({.folder = folder.path()});
  const auto second = RingWriter::Open({.folder = folder.path()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, folder.path() + ": another program records into this folder");
}

// A disk with so much room.
class FullDisk final : public FileSink {
 public:
  explicit FullDisk(size_t& room) : room_(room) {}
  Result<void> Write(std::string_view bytes) override {
    if (bytes.size() > room_) return Error::Unavailable("f.rec: No space left on device");
    room_ -= bytes.size();
    return {};
  }

 private:
  size_t& room_;
};

TEST(Ring, AfterAWriteThatFailedNothingIsWritten) {
  Folder folder;
  size_t room = 600;
  const auto ring = OpenRing(
      {.folder = folder.path(), .block_size = 1, .open = [&](const std::string&) -> Result<std::unique_ptr<FileSink>> {
         return std::unique_ptr<FileSink>(std::make_unique<FullDisk>(room));
       }});
  ASSERT_TRUE(ring->Begin(SomeHeader()).ok());
  int appended = 0;
  Result<void> written;
  while (written && appended < 1000) written = ring->Append(1, "payload " + std::to_string(++appended));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "f.rec: No space left on device");
  const size_t left = room;
  room = 100000;
  EXPECT_FALSE(ring->Append(1, "x").ok()) << "there is a gap now";
  EXPECT_FALSE(ring->Flush().ok());
  EXPECT_FALSE(ring->Begin(SomeHeader(1)).ok());
  EXPECT_EQ(room, 100000u);
  EXPECT_LT(left, 600u);
}

api::Object FromJson(const std::string& json) {
  const Result<codec::Document> document = codec::ParseJson(json, "test");
  CHECK(document.ok());
  Result<api::DecodedObjects> decoded = api::DecodeObjects(*document, {});
  CHECK(decoded.ok() && decoded->objects.size() == 1);
  return decoded->objects.front().object;
}

// Adds the template to `templates` when it is new.
std::string Encode(ObjectWriter& writer, const api::Object& object, std::vector<std::string>& templates) {
  const ObjectWriter::Template common = writer.TemplateOf(object);
  if (!common.unwritten.empty()) templates.emplace_back(common.unwritten);
  std::string out;
  ObjectWriter::Append(object, common, out);
  return out;
}

TEST(Objects, PodsOfOneTemplateAreWrittenOnce) {
  ObjectWriter writer;
  ObjectReader reader;
  size_t templates_written = 0;
  for (int i = 0; i < 10; ++i) {
    const api::Object pod =
        FromJson(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-)" + std::to_string(i) +
                 R"(","namespace":"shop","uid":"u)" + std::to_string(i) +
                 R"(","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"}},)"
                 R"("spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
    std::vector<std::string> templates;
    const std::string bytes = Encode(writer, pod, templates);
    templates_written += templates.size();
    for (const std::string& common : templates) ASSERT_TRUE(reader.AddTemplate(common).ok());
    EXPECT_LT(bytes.size(), 60u);
    const Result<api::Object> decoded = reader.Decode(bytes);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(api::EncodeJson(*decoded), api::EncodeJson(pod));
  }
  EXPECT_EQ(templates_written, 1u);
  EXPECT_FALSE(ObjectReader().Decode("\x10\x05").ok()) << "a template that is not there";
}

TEST(Objects, OtherKindsAreWrittenWhole) {
  const api::Object node = FromJson(
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"zone":"a"}},"status":{"allocatable":{"cpu":"4"}}})");
  ObjectWriter writer;
  std::vector<std::string> templates;
  const Result<api::Object> decoded = ObjectReader().Decode(Encode(writer, node, templates));
  ASSERT_TRUE(decoded.ok());
  EXPECT_THAT(templates, IsEmpty());
  EXPECT_EQ(api::EncodeJson(*decoded), api::EncodeJson(node));
}

// Environment variables may hold secrets, and managedFields repeat what is anywhere: neither is decoded, so neither can
// be written.
TEST(Objects, NothingSecretIsAmongThem) {
  const api::Object pod =
      FromJson(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u",)"
               R"("managedFields":[{"manager":"sesame"}],)"
               R"("annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"env\":\"sesame\"}"}},)"
               R"("spec":{"containers":[{"name":"c","image":"i","env":[{"name":"PASSWORD","value":"sesame"}],)"
               R"("envFrom":[{"secretRef":{"name":"sesame"}}],"args":["--password=sesame"],"command":["sesame"]}],)"
               R"("imagePullSecrets":[{"name":"sesame"}],"volumes":[{"name":"v","secret":{"secretName":"sesame"}}]}})");
  ObjectWriter writer;
  std::vector<std::string> templates;
  std::string written = Encode(writer, pod, templates);
  for (const std::string& common : templates) written += common;
  EXPECT_EQ(written.find("sesame"), std::string::npos) << written;
}

TEST(FuzzTargets, RecordingsSurviveMutations) {
  Folder folder;
  {
    const auto ring = OpenRing({.folder = folder.path(), .block_size = 100});
    ASSERT_TRUE(ring->Begin(SomeHeader()).ok());
    ObjectWriter writer;
    for (const char* name : {"a", "b"}) {
      const api::Object pod = FromJson(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + std::string(name) +
                                       R"("},"spec":{"containers":[{"name":"c"}]}})");
      std::vector<std::string> templates;
      const std::string bytes = Encode(writer, pod, templates);
      for (const std::string& common : templates) ASSERT_TRUE(ring->Append(2, common).ok());
      ASSERT_TRUE(ring->Append(1, bytes).ok());
    }
  }
  const std::string whole = ReadAll(folder.path() + "/" + folder.Files().at(0));
  std::string frames;
  {
    auto reader = FileReader::Read("whole", whole);
    ASSERT_TRUE(reader.ok());
    Frame frame;
    while ((*reader)->Next(frame)) AppendFrame(frames, frame.type, frame.payload);
  }
  base::Random random(20240601);
  for (const std::string& seed : {whole, frames}) {
    FuzzRecording(seed);
    for (int i = 0; i < 400; ++i) {
      std::string mutated = seed;
      for (uint64_t edits = 1 + random.Below(5); edits > 0 && !mutated.empty(); --edits) {
        const size_t at = random.Below(mutated.size());
        switch (random.Below(4)) {
          case 0:
            mutated[at] = static_cast<char>(random.Next());
            break;
          case 1:
            mutated.erase(at, 1 + random.Below(9));
            break;
          case 2:
            mutated.insert(at, mutated.substr(random.Below(mutated.size()), 1 + random.Below(30)));
            break;
          case 3:
            mutated.resize(at);
            break;
        }
      }
      FuzzRecording(mutated);
    }
  }
}

}  // namespace
}  // namespace berth::record
