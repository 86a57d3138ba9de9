// Recordings of formats 1 and 2, as earlier versions wrote them, are still decided again.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "record/checksum.h"
#include "record/testing/frames.h"
#include "replay/testing/churn.h"
#include "replay/testing/replay_fixture.h"

namespace berth::replay {
namespace {

std::string FourBytes(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// A block as format 1 had it, without a checksum of its head, or as format 2 did.
std::string OldBlock(uint32_t format, record::BlockType type, const std::string& content) {
  const std::string checked = static_cast<char>(type) + content;
  const std::string head =
      FourBytes(static_cast<uint32_t>(content.size())) + FourBytes(record::Crc32c(checked)) + static_cast<char>(type);
  return head + (format == 1 ? "" : FourBytes(record::Crc32c(head))) + content;
}

std::string Deflate(const std::string& frames) {
  uLongf size = ::compressBound(frames.size());
  std::string out(size, '\0');
  CHECK(::compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(frames.data()),
                   frames.size()) == Z_OK);
  out.resize(size);
  return out;
}

class OldFormatTest : public testing::ReplayFixture {
 protected:
  // The same recording in an older format: what that format did not have is left out.
  void MakeOlder(uint32_t format) {
    for (const std::string& path : Only().files) {
      auto reader = record::FileReader::Open(path);
      ASSERT_TRUE(reader.ok());
      record::Header header = (*reader)->header();
      if (format == 1) header.inputs_before.reset();
      std::string file = std::string(record::kMagic) + FourBytes(format) + FourBytes(0) +
                         OldBlock(format, record::BlockType::kHeader, header.Encode());
      std::string frames;
      record::Frame frame;
      while ((*reader)->Next(frame)) {
        if (format == 1 && static_cast<FrameType>(frame.type) == FrameType::kEnd) continue;
        record::AppendFrame(frames, frame.type, frame.payload);
        if (frames.size() < 1000) continue;
        file += OldBlock(format, record::BlockType::kZlibFrames, Deflate(frames));
        frames.clear();
      }
      ASSERT_EQ((*reader)->problem(), "");
      if (!frames.empty()) file += OldBlock(format, record::BlockType::kZlibFrames, Deflate(frames));
      std::ofstream(path, std::ios::binary | std::ios::trunc) << file;
    }
  }
};

TEST_F(OldFormatTest, RecordingsOfEarlierFormatsAreDecidedAgain) {
  Record({.seed = 8}, 800);
  ASSERT_GT(Only().files.size(), 2u);
  ASSERT_EQ(Replay(0), "");
  const uint64_t decisions = decisions_;
  ASSERT_GT(decisions, 40u);
  MakeOlder(2);
  EXPECT_EQ(Replay(0), "");
  EXPECT_EQ(decisions_, decisions);
  EXPECT_EQ(Replay(1), "") << "from a checkpoint";
  MakeOlder(1);
  EXPECT_EQ(Replay(0), "");
  // Format 1 had no last frame, so that what belongs to the last input cannot be known to be whole.
  EXPECT_GE(decisions_ + 1, decisions);
  EXPECT_LE(decisions_, decisions);
  EXPECT_EQ(Replay(1), "") << "from a checkpoint";
}

TEST_F(OldFormatTest, DamageInAnEarlierFormatIsStillASentence) {
  Record({.seed = 8}, 800);
  for (const uint32_t format : {2u, 1u}) {
    MakeOlder(format);
    const std::string path = Only().files.front();
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::string whole = bytes;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_NE(Replay(0).find("damaged at byte"), std::string::npos) << Replay(0);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  }
}

}  // namespace
}  // namespace berth::replay
