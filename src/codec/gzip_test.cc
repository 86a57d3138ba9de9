#include "codec/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace berth::codec {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
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

std::string ErrorText(const Result<std::string>& result) { return result.ok() ? "no error" : result.error().message; }

class ReadFileTest : public ::testing::Test {
 protected:
  ~ReadFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& content) {
    std::filesystem::create_directories(folder_);
    const std::string path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("berth-gzip-test-" + std::to_string(getpid()));
};

TEST_F(ReadFileTest, ReadsPlainAndCompressedFiles) {
  std::string text = "kind: Pod\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
  EXPECT_EQ(*ReadFile(Write(text)), text);
  EXPECT_EQ(*ReadFile(Write(Gzipped(text))), text);
  EXPECT_EQ(*ReadFile(Write(Gzipped("one ") + Gzipped("two"))), "one two");
  EXPECT_EQ(*ReadFile(Write(Gzipped(""))), "");
  EXPECT_EQ(*ReadFile(Write("")), "");
}

TEST(Gzip, IsUndoneByGunzip) {
  std::string text;
  for (int64_t i = 0; i < 300'000; ++i) text += std::to_string(i * 7919);
  EXPECT_EQ(*Gunzip(Gzip(text)), text);
  EXPECT_LT(Gzip(text).size(), text.size() * 3 / 4);
  EXPECT_EQ(*Gunzip(Gzip("")), "");
}

TEST_F(ReadFileTest, SaysWhatIsWrongWithWhichFile) {
  EXPECT_THAT(ErrorText(ReadFile("/no/such/file")), StartsWith("/no/such/file: No such file"));
  EXPECT_EQ(ReadFile("/no/such/file").error().code, ErrorCode::kNotFound);
  const std::string path = Write("x");
  EXPECT_THAT(ErrorText(ReadFile(folder_)), HasSubstr(": expected a file, found a directory"));
  std::string broken = Gzipped(std::string(10'000, 'x') + "end");
  EXPECT_EQ(ErrorText(ReadFile(Write(broken.substr(0, broken.size() - 3)))), path + ": gzip content ends too early");
  EXPECT_EQ(ErrorText(ReadFile(Write(broken.substr(0, 5)))), path + ": gzip content ends too early");
  EXPECT_EQ(ErrorText(ReadFile(Write(broken + "x"))), path + ": unexpected data after the gzip content");
  broken[broken.size() - 6] ^= 1;
  EXPECT_THAT(ErrorText(ReadFile(Write(broken))), StartsWith(path + ": malformed gzip content"));
}

TEST_F(ReadFileTest, HoldsToTheSizeLimit) {
  const std::string bomb = Gzipped(std::string(5'000'000, '\0'));
  EXPECT_LT(bomb.size(), 100'000u);
  EXPECT_THAT(ErrorText(ReadFile(Write(bomb), 1'000'000)), HasSubstr("larger than the limit of 1000000 bytes"));
  EXPECT_THAT(ErrorText(ReadFile(Write("12345"), 4)), HasSubstr("larger than the limit of 4 bytes"));
  EXPECT_EQ(*ReadFile(Write("1234"), 4), "1234");
}

}  // namespace
}  // namespace berth::codec
