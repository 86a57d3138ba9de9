#include "base/printable.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "shop/web-3", "a: b, \"c\"", "größer → 1", "a::b", ":a", "✓"}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_EQ(PrintableLines(text), text);
  }
}

TEST(Printable, EscapesWhateverATerminalWouldObey) {
  EXPECT_EQ(Printable("\x1b]0;x\x07\x1b[2J"), "\\x1b]0;x\\x07\\x1b[2J");
  EXPECT_EQ(Printable("a\r\n\tb"), "a\\r\\n\\tb");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\x7f"), "\\x7f");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "an escape sequence in one character";
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "gnp"),
            "\\u202egnp")
      << "text from right to left";
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\u2028");
  EXPECT_EQ(Printable("\xff\xc3"), "\\xff\\xc3") << "no UTF-8";
}

TEST(Printable, NoLineBeginsLikeACommandOfABuildSystem) {
  EXPECT_EQ(Printable("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(PrintableLines("a\n::error::x\r\n"), "a\n\\x3a:error::x\\r\n");
}

TEST(Clipped, CutsBetweenCharacters) {
  EXPECT_EQ(Clipped("abc", 3), "abc");
  EXPECT_EQ(Clipped("abcd", 3), "abc...");
  EXPECT_EQ(Clipped("aéé", 2), "a...");
  EXPECT_EQ(Clipped(std::string(1000, 'x')), std::string(200, 'x') + "...");
}

}  // namespace
}  // namespace berth::base
