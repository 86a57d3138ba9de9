#include "http/gzip_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace berth::http {
namespace {

std::string Compress(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// The output for the bytes, split once at `cut`; "!" is appended if they are incomplete, and the error if there is one.
std::string Decode(const std::string& bytes, size_t cut) {
  GzipDecoder decoder;
  std::string out;
  for (const std::string& piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    const Result<void> taken = decoder.Take(piece, [&](std::string_view text) { out += text; });
    if (!taken) return out + "!" + taken.error().message;
  }
  return decoder.is_whole() ? out : out + "!";
}

TEST(GzipDecoder, DecodesWhereverItIsCut) {
  const std::string one = Compress("compressed"), two = one + Compress(", twice");
  for (size_t cut = 0; cut <= two.size(); ++cut) EXPECT_EQ(Decode(two, cut), "compressed, twice") << cut;
  EXPECT_EQ(Decode("", 0), "");
}

TEST(GzipDecoder, HandsOnMuchInPieces) {
  const std::string text(1 << 20, 'x');
  const std::string bytes = Compress(text);
  ASSERT_LT(bytes.size(), text.size() / 50);
  EXPECT_EQ(Decode(bytes, bytes.size() / 2), text);
}

TEST(GzipDecoder, KnowsWhatIsMissingOrWrong) {
  const std::string bytes = Compress("compressed");
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_THAT(Decode(bytes.substr(0, size), 0), ::testing::EndsWith("!")) << size;
  }
  EXPECT_THAT(Decode("not compressed", 3), ::testing::HasSubstr("!the compressed answer cannot be read"));
  std::string wrong = bytes;
  wrong[wrong.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(Decode(wrong, 0), ::testing::HasSubstr("incorrect data check"));
}

}  // namespace
}  // namespace berth::http
