// Recordings that were cut off, changed and mixed up: a sentence each, never a crash, and never "same".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/random.h"
#include "record/ring_writer.h"
#include "replay/testing/churn.h"
#include "replay/testing/replay_fixture.h"

namespace berth::replay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DamageTest : public testing::ReplayFixture {
 protected:
  static std::string Load(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void Store(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  // What a walk over the folder finds: how it ended, and every input on the way.
  struct Walked {
    std::string problem;
    size_t inputs = 0;
    bool torn = false;
    bool open = false;
  };
  Walked Walk() const {
    const auto recordings = record::FindRecordings(folder_);
    if (!recordings) return {.problem = recordings.error().message};
    Walked walked;
    for (const record::Recording& recording : *recordings) {
      InputStream inputs(recording.files, {});
      Input input;
      while (true) {
        const Result<bool> more = inputs.Next(input);
        if (!more) {
          walked.problem = more.error().message;
          return walked;
        }
        if (!*more) break;
        walked.inputs += input.type != FrameType::kCheckpointBegin;
      }
      walked.torn |= inputs.is_torn();
      walked.open |= inputs.is_open();
    }
    return walked;
  }
};

TEST_F(DamageTest, ABitThatIsFlippedAnywhereIsASentence) {
  Record({.seed = 3, .custom = true}, 1000);
  const std::vector<std::string> files = Only().files;
  ASSERT_GT(files.size(), 2u);
  ASSERT_EQ(Walk().problem, "");
  ASSERT_FALSE(Walk().open);
  base::Random random(99);
  for (const std::string& file : files) {
    const std::string whole = Load(file);
    // The first bytes are all tried: there the format itself is.
    const int first_bytes = file == files.front() ? 80 : 8;
    for (int i = 0; i < first_bytes + 40; ++i) {
      const size_t at = i < first_bytes ? static_cast<size_t>(i) : random.Below(whole.size());
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << random.Below(8)));
      Store(file, changed);
      EXPECT_THAT(Walk().problem, HasSubstr(file)) << "byte " << at << " of " << whole.size();
    }
    Store(file, whole);
  }
}

TEST_F(DamageTest, AFileThatIsCutOffIsDamageUnlessItIsTheLast) {
  Record({.seed = 3}, 1000);
  const std::vector<std::string> files = Only().files;
  const size_t all = Walk().inputs;
  base::Random random(5);
  for (const std::string& file : files) {
    const std::string whole = Load(file);
    for (int i = 0; i < 40; ++i) {
      const size_t size = i < 10 ? static_cast<size_t>(i) : random.Below(whole.size());
      Store(file, whole.substr(0, size));
      const Walked walked = Walk();
      if (file != files.back()) {
        EXPECT_NE(walked.problem, "") << file << " with " << size << " of " << whole.size();
        continue;
      }
      EXPECT_EQ(walked.problem, "") << size;
      EXPECT_LE(walked.inputs, all);
      EXPECT_TRUE(walked.open) << "with " << size << " of " << whole.size() << " bytes it looked whole";
    }
    Store(file, whole);
  }
}

// At the end of a block nothing looks torn, and inputs are missing all the same.
TEST_F(DamageTest, AFileThatLostItsLastBlockIsNoticed) {
  Record({.seed = 3}, 1000);
  const std::vector<std::string> files = Only().files;
  const std::string whole = Load(files[0]);
  size_t end = record::kPreambleSize, before = 0;
  while (end < whole.size()) {
    before = end;
    end += record::kBlockHeadSize + record::ReadLittleEndian(std::string_view(whole).substr(end));
  }
  ASSERT_EQ(end, whole.size());
  Store(files[0], whole.substr(0, before));
  EXPECT_THAT(Walk().problem, HasSubstr("one of them is damaged"));
}

TEST_F(DamageTest, ATornCheckpointSaidSameWithNothingCompared) {
  Record({.seed = 3}, 1000);
  const record::Recording recording = Only();
  const std::string& last = recording.files.back();
  const std::string whole = Load(last);
  const base::Time late = recording.begins.back() + std::chrono::hours(1);
  Result<size_t> first = FirstFile(recording, late);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, recording.files.size() - 1);
  // The header is whole, and of the checkpoint a part is there.
  const size_t header = record::kPreambleSize + record::kBlockHeadSize +
                        record::ReadLittleEndian(std::string_view(whole).substr(record::kPreambleSize));
  for (const size_t size : {header, header + 5, header + 200}) {
    Store(last, whole.substr(0, size));
    first = FirstFile(Only(), late);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(*first, recording.files.size() - 2) << "the file before it leads there";
    EXPECT_EQ(Replay(*first), "");
    EXPECT_GT(decisions_, 0u);
    EXPECT_THAT(Replay(recording.files.size() - 1), HasSubstr("ends in the middle of its checkpoint"));
  }
}

TEST_F(DamageTest, AFrameThatThisBerthDoesNotKnowIsNotLeftOut) {
  auto ring = record::RingWriter::Open({.folder = folder_});
  ASSERT_TRUE(ring.ok());
  ASSERT_TRUE((*ring)->Begin({}).ok());
  ASSERT_TRUE((*ring)->Append(99, "an input of next year").ok());
  ASSERT_TRUE((*ring)->Flush().ok());
  EXPECT_THAT(Walk().problem, HasSubstr("a frame of type 99, which this berth does not know"));
}

// Frames whose checksums are right, with anything in them.
TEST_F(DamageTest, AnythingInAFrameIsReadOrRefused) {
  Record({.seed = 3, .extender = true, .custom = true}, 1000);
  struct Stored {
    uint32_t type;
    std::string payload;
  };
  std::vector<Stored> frames;
  for (const std::string& file : Only().files) {
    auto reader = record::FileReader::Open(file);
    ASSERT_TRUE(reader.ok());
    record::Frame frame;
    while ((*reader)->Next(frame)) frames.push_back({frame.type, std::string(frame.payload)});
  }
  const record::Header header = Only().header;
  base::Random random(7);
  for (int i = 0; i < 400; ++i) {
    fs::remove_all(folder_);
    auto ring = record::RingWriter::Open({.folder = folder_});
    ASSERT_TRUE(ring.ok());
    ASSERT_TRUE((*ring)->Begin(header).ok());
    const size_t begin = random.Below(frames.size());
    for (size_t k = begin; k < std::min(begin + 60, frames.size()); ++k) {
      Stored frame = frames[k];
      if (!frame.payload.empty() && random.Below(20) == 0) {
        frame.payload[random.Below(frame.payload.size())] = static_cast<char>(random.Below(256));
      }
      if (random.Below(40) == 0) frame.payload.resize(random.Below(frame.payload.size() + 1));
      if (random.Below(60) == 0) frame.type = static_cast<uint32_t>(random.Below(75));
      ASSERT_TRUE((*ring)->Append(frame.type, frame.payload).ok());
    }
    ASSERT_TRUE((*ring)->Flush().ok());
    (void)Walk();  // whatever it says, it comes back
  }
}

}  // namespace
}  // namespace berth::replay
