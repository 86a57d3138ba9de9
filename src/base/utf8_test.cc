#include "base/utf8.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Utf8, DecodesWhatIsWellFormed) {
  const std::pair<std::string_view, char32_t> cases[] = {
      {"a", U'a'}, {"é", U'é'}, {"€", U'€'}, {"\xEF\xBF\xBD", 0xFFFD}, {"😀", U'😀'}, {"\xF4\x8F\xBF\xBF", 0x10FFFF},
  };
  for (const auto& [text, point] : cases) {
    EXPECT_EQ(Utf8SequenceLength(text), text.size()) << text;
    EXPECT_EQ(DecodeUtf8(text), point) << text;
  }
}

TEST(Utf8, KnowsWhatIsMalformed) {
  for (const std::string_view text : {"\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
                                      "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(Utf8SequenceLength(text), 0u) << text;
  }
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(Utf8Prefix("abc", 3), "abc");
  EXPECT_EQ(Utf8Prefix("abc", 2), "ab");
  EXPECT_EQ(Utf8Prefix("aéé", 2), "a");
  EXPECT_EQ(Utf8Prefix("é", 1), "");
}

}  // namespace
}  // namespace berth::base
