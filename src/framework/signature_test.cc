#include <gtest/gtest.h>

#include "framework/plugin.h"

namespace berth::framework {
namespace {

std::string SignatureOf(std::initializer_list<std::pair<std::string_view, std::string_view>> fragments) {
  SignatureBuilder builder;
  for (const auto& [key, value] : fragments) builder.Add(key, value);
  return std::move(builder).Build();
}

TEST(SignatureBuilder, RepetitionDoesNotMatter) {
  EXPECT_EQ(SignatureOf({{"a", "1"}, {"b", "2"}}), SignatureOf({{"a", "1"}, {"b", "2"}, {"a", "1"}}));
  EXPECT_EQ(SignatureOf({}), "");
}

TEST(SignatureBuilder, NoTwoContentsLookAlike) {
  EXPECT_NE(SignatureOf({{"a", "1"}}), SignatureOf({{"a", "2"}}));
  EXPECT_NE(SignatureOf({{"a", "bc"}}), SignatureOf({{"ab", "c"}}));
  EXPECT_NE(SignatureOf({{"a", "1"}, {"b", "2"}}), SignatureOf({{"a", std::string_view("1\1\0\0\0b\1\0\0\0002", 12)}}));
  EXPECT_NE(SignatureOf({{"a", ""}}), SignatureOf({}));
}

}  // namespace
}  // namespace berth::framework
