#include "flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FlagsTest : ::testing::Test {
  FlagsTest() {
    flags.Add(&text, "output", 'o', "FORMAT", "how to print");
    flags.Add(&list, "filename", 'f', "FILE", "what to read");
    flags.Add(&number, "seed", 0, "N", "where chance starts");
    flags.Add(&toggle, "verify", 0, "look twice");
    flags.AddOptional(&explained, "explain", "POD", "say why");
    flags.AddChoice(&colour, "when", 'w', {"always", "auto", "never"}, "whether in colour");
  }

  std::string ErrorOf(const std::vector<std::string>& arguments) {
    const Result<std::vector<std::string>> parsed = flags.Parse(arguments);
    return parsed ? "no error" : parsed.error().message;
  }

  FlagSet flags{"berth test", "Usage of it.\n", "  berth test -f x\n"};
  std::string text = "table";
  std::vector<std::string> list;
  uint64_t number = 1;
  bool toggle = false;
  std::vector<std::string> explained;
  std::string colour = "auto";
};

TEST_F(FlagsTest, ValuesComeInEverySpelling) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--output", "json"}, {"--output=json"}, {"-o", "json"}, {"-ojson"}, {"-o=json"}}) {
    text.clear();
    ASSERT_TRUE(flags.Parse(arguments));
    EXPECT_EQ(text, "json") << arguments.front();
  }
}

TEST_F(FlagsTest, WhatIsNotGivenKeepsItsDefault) {
  const auto rest = flags.Parse({});
  ASSERT_TRUE(rest);
  EXPECT_THAT(*rest, IsEmpty());
  EXPECT_EQ(text, "table");
  EXPECT_EQ(number, 1u);
  EXPECT_FALSE(toggle);
}

TEST_F(FlagsTest, ListsGrowAndTheLastOfAnythingElseCounts) {
  ASSERT_TRUE(flags.Parse({"-f", "a", "-fb", "--filename=-", "--seed=1", "--seed", "18446744073709551615"}));
  EXPECT_THAT(list, ElementsAre("a", "b", "-"));
  EXPECT_EQ(number, UINT64_MAX);
}

TEST_F(FlagsTest, ABoolNeedsNoValueButTakesOne) {
  ASSERT_TRUE(flags.Parse({"--verify"}));
  EXPECT_TRUE(toggle);
  ASSERT_TRUE(flags.Parse({"--verify=false"}));
  EXPECT_FALSE(toggle);
}

TEST_F(FlagsTest, LettersMayStandTogether) {
  ASSERT_TRUE(flags.Parse({"-hojson"}));
  EXPECT_TRUE(flags.help_wanted());
  EXPECT_EQ(text, "json");
  EXPECT_EQ(ErrorOf({"-hx"}), "unknown flag -x");
}

TEST_F(FlagsTest, AnOptionalValueIsTheNextWordThatIsNoFlag) {
  ASSERT_TRUE(
      flags.Parse({"--explain", "--verify", "--explain", "shop/web", "--explain=", "--explain=db", "--explain"}));
  EXPECT_THAT(explained, ElementsAre("", "shop/web", "", "db", ""));
  EXPECT_TRUE(toggle);
  EXPECT_THAT(flags.Help(), HasSubstr("    --explain [POD]"));
}

TEST_F(FlagsTest, TheRestIsHandedBack) {
  const auto rest = flags.Parse({"one", "-o", "json", "-", "--", "--verify"});
  ASSERT_TRUE(rest);
  EXPECT_THAT(*rest, ElementsAre("one", "-", "--verify"));
  EXPECT_FALSE(toggle);
}

TEST_F(FlagsTest, ErrorsNameTheFlagAsSpelled) {
  EXPECT_EQ(ErrorOf({"--colour=red"}), "unknown flag --colour");
  EXPECT_EQ(ErrorOf({"--ouptut", "json"}), "unknown flag --ouptut, did you mean --output?");
  EXPECT_EQ(ErrorOf({"--hlep"}), "unknown flag --hlep, did you mean --help?");
  EXPECT_EQ(ErrorOf({"--when=maybe"}), "--when: expected always, auto or never, found \"maybe\"");
  EXPECT_EQ(ErrorOf({"-xyz"}), "unknown flag -x");
  EXPECT_EQ(ErrorOf({"-f"}), "-f needs a value: -f FILE");
  EXPECT_EQ(ErrorOf({"--seed=-1"}), "--seed: expected a whole number, found \"-1\"");
  EXPECT_EQ(ErrorOf({"--seed=18446744073709551616"}),
            "--seed: expected a whole number, found \"18446744073709551616\"");
  EXPECT_EQ(ErrorOf({"--seed="}), "--seed: expected a whole number, found \"\"");
  EXPECT_EQ(ErrorOf({"--verify=maybe"}), "--verify: expected true or false, found \"maybe\"");
}

TEST_F(FlagsTest, HelpListsEveryFlag) {
  for (const char* spelling : {"-h", "--help"}) {
    FlagSet fresh("berth test", "", "");
    ASSERT_TRUE(fresh.Parse({spelling}));
    EXPECT_TRUE(fresh.help_wanted());
  }
  EXPECT_THAT(flags.Help(),
              AllOf(HasSubstr("Usage of it."), HasSubstr("-o, --output FORMAT "), HasSubstr("  how to print\n"),
                    HasSubstr("    --verify"), HasSubstr("berth test -f x")));
  EXPECT_EQ(flags.Hint(), "Try berth test --help.");
}

TEST_F(FlagsTest, HelpIsInTheOrderOfTheAlphabet) {
  const std::string help = flags.Help();
  size_t last = 0;
  for (const char* name : {"--filename", "--help", "--output", "--seed", "--verify", "--when always|auto|never"}) {
    const size_t at = help.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, last) << name;
    last = at;
  }
}

TEST_F(FlagsTest, ACaptureTakesTheDescriptionInsteadOfTheText) {
  flags.Words({"one", "two"});
  {
    const HelpCapture capture;
    EXPECT_EQ(flags.Help(), "");
    ASSERT_TRUE(capture.description());
    EXPECT_EQ(capture.description()->command, "berth test");
    EXPECT_THAT(capture.description()->words, ElementsAre("one", "two"));
    EXPECT_EQ(capture.description()->flags.size(), 7u);
    EXPECT_THAT(capture.description()->flags.back().choices, ElementsAre("always", "auto", "never"));
  }
  EXPECT_THAT(flags.Help(), HasSubstr("Usage of it."));
}

}  // namespace
}  // namespace berth::cmd
