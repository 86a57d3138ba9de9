#include "base/base64.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Base64, GoesBothWays) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFB\xEF\xFF", "++//"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64, IgnoresLineBreaksAndNothingElse) {
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYmFy\n"), "foobar");
  for (const char* bad : {"Zm9", "Zm9v ", "Zm 9", "Zm-_", "=m9v", "Zg=v", "Zg==Zm9v", "Zm9v----"}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace berth::base
