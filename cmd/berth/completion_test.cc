// The completion scripts in their own shells, and the manual pages in their own formatter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "completion_scripts.h"
#include "man_page.h"
#include "verbs.h"

namespace berth::cmd {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

bool Installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

struct Completed {
  int status;
  std::string output;  // standard output and standard error
};

Completed RunShell(const std::string& command) {
  Completed ran{0, {}};
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t read; (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ran.output.append(buffer.data(), read);
  }
  ran.status = pclose(pipe);
  return ran;
}

class ShellTest : public ::testing::Test {
 protected:
  ShellTest() { std::filesystem::create_directories(folder_); }
  ~ShellTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  const std::vector<VerbDescription> verbs_ = DescribeVerbs();
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("completion_test_" + std::to_string(getpid()));
};

class BashTest : public ShellTest {
 protected:
  // What bash offers after these words, the last of which is being typed. As in bash, "=" is a separate word.
  std::vector<std::string> Complete(const std::vector<std::string>& words) const {
    const std::string script = Write("berth.bash", BashCompletion(verbs_));
    std::string line = "cd '" + folder_.string() + "'; source '" + script + "'; COMP_WORDS=(";
    for (const std::string& word : words) line += "'" + word + "' ";
    line += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _berth; printf \"%s\\n\" \"${COMPREPLY[@]}\"";
    const std::string runner = Write("run.bash", line + "\n");
    std::istringstream output(RunShell("bash --norc " + runner).output);
    std::vector<std::string> offered;
    for (std::string word; std::getline(output, word);) {
      if (!word.empty()) offered.push_back(word);
    }
    return offered;
  }
};

TEST_F(BashTest, CompletesVerbsAndFlags) {
  EXPECT_THAT(Complete({"berth", "s"}), ElementsAre("scheduler", "simulate", "shadow", "snapshot"));
  EXPECT_THAT(Complete({"berth", ""}), IsSupersetOf({"capacity", "diff", "completion", "man", "version", "help"}));
  EXPECT_THAT(Complete({"berth", "capacity", "--at"}), ElementsAre("--at-least"));
  EXPECT_THAT(
      Complete({"berth", "scheduler", "--leader-elect-res"}),
      ElementsAre("--leader-elect-resource-lock", "--leader-elect-resource-name", "--leader-elect-resource-namespace"));
}

TEST_F(BashTest, CompletesValuesInEverySpelling) {
  EXPECT_THAT(Complete({"berth", "diff", "--output", ""}),
              ElementsAre("table", "json", "yaml", "markdown", "junit", "github"));
  EXPECT_THAT(Complete({"berth", "diff", "-o", "js"}), ElementsAre("json"));
  EXPECT_THAT(Complete({"berth", "diff", "--output", "="}),
              ElementsAre("table", "json", "yaml", "markdown", "junit", "github"));
  EXPECT_THAT(Complete({"berth", "diff", "--output", "=", "y"}), ElementsAre("yaml"));
  EXPECT_THAT(Complete({"berth", "explain", "--validate", ""}), ElementsAre("strict", "warn", "ignore"));
  EXPECT_THAT(Complete({"berth", "diff", "--seed", ""}), IsEmpty());
}

TEST_F(BashTest, CompletesFilesAndFolders) {
  Write("cluster one.yaml", "");
  std::filesystem::create_directories(folder_ / "cluster");
  EXPECT_THAT(Complete({"berth", "simulate", "-f", "clu"}), AllOf(Contains("cluster one.yaml"), Contains("cluster")));
  EXPECT_THAT(Complete({"berth", "man", "--folder", "clu"}), ElementsAre("cluster"));
}

TEST_F(BashTest, CompletesSubVerbs) {
  EXPECT_THAT(Complete({"berth", "config", "v"}), ElementsAre("validate"));
  EXPECT_THAT(Complete({"berth", "completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Complete({"berth", "bench", "p"}), ElementsAre("perf"));
  EXPECT_THAT(Complete({"berth", "bench", "perf", "--work"}), ElementsAre("--workload"));
  EXPECT_THAT(Complete({"berth", "bench", "engine", "--exist"}), ElementsAre("--existing"));
}

TEST_F(ShellTest, ZshTakesItsScript) {
  if (!Installed("zsh")) GTEST_SKIP() << "zsh is not installed: its completion script was NOT checked";
  const Completed ran = RunShell("zsh -n " + Write("_berth", ZshCompletion(verbs_)));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output, "");
}

TEST_F(ShellTest, FishTakesItsScript) {
  if (!Installed("fish")) GTEST_SKIP() << "fish is not installed: its completion script was NOT checked";
  const Completed ran = RunShell("fish --no-execute " + Write("berth.fish", FishCompletion(verbs_)));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output, "");
}

TEST_F(ShellTest, EveryScriptNamesEveryFlagOfEveryVerb) {
  const std::string bash = BashCompletion(verbs_), zsh = ZshCompletion(verbs_), fish = FishCompletion(verbs_);
  ASSERT_GT(verbs_.size(), 8u);
  for (const VerbDescription& verb : verbs_) {
    EXPECT_FALSE(verb.command.flags.empty()) << verb.name;
    for (const FlagDescription& flag : verb.command.flags) {
      EXPECT_THAT(bash, HasSubstr("--" + flag.name));
      EXPECT_THAT(zsh, HasSubstr("--" + flag.name));
      EXPECT_THAT(fish, HasSubstr("-l " + flag.name));
    }
  }
}

TEST_F(ShellTest, ManualPagesRenderWithoutWarnings) {
  std::vector<std::pair<std::string, std::string>> pages = {{"berth", ManPageOfAll(verbs_, "1.2.3")}};
  for (const VerbDescription& verb : verbs_) pages.emplace_back(ManPageName(verb.name), ManPage(verb, "1.2.3"));
  for (const auto& [name, text] : pages) {
    const std::string path = Write(name + ".1", text);
    EXPECT_THAT(text, AllOf(HasSubstr(".SH NAME\n"), HasSubstr(".SH SYNOPSIS\n"), HasSubstr(".SH SEE ALSO\n")));
    if (Installed("groff")) {
      const Completed groff = RunShell("groff -man -ww -Tutf8 -z " + path);
      EXPECT_EQ(groff.output, "") << name;
    }
    if (Installed("mandoc")) {
      // A date would make every build differ.
      EXPECT_EQ(RunShell("mandoc -Tlint -Wwarning " + path + " | grep -v 'missing date'").output, "") << name;
    }
  }
  if (!Installed("groff") && !Installed("mandoc")) {
    GTEST_SKIP() << "neither groff nor mandoc is installed: manual pages were NOT rendered";
  }
}

TEST_F(ShellTest, AManualPageHasEveryPartOfTheHelp) {
  for (const VerbDescription& verb : verbs_) {
    if (verb.name != "capacity") continue;
    EXPECT_THAT(
        ManPage(verb, "1.2.3"),
        AllOf(HasSubstr(".TH \"BERTH\\-CAPACITY\" \"1\" \"\" \"berth 1.2.3\" \"berth\"\n"),
              HasSubstr("berth capacity \\-f FILE... \\-\\-pod FILE [flags]\n"),
              HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fItable|json|yaml|markdown|junit|github\\fR\n"),
              HasSubstr(".SH EXIT STATUS\n0 at least one round fits"),
              HasSubstr(".SH EXAMPLES\n.nf\nberth capacity \\-f cluster.yaml")));
  }
}

TEST(ManPageText, CharactersBeyondAsciiAreWrittenByNumber) {
  VerbDescription verb{"test", "says … and é", {"berth test", "Usage:\n  berth test\n", "", {}, {}, false}};
  const std::string page = ManPage(verb, "1");
  EXPECT_THAT(page, HasSubstr("berth\\-test \\- says \\[u2026] and \\[u00E9]\n"));
  EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](unsigned char c) { return c < 0x80; }));
}

}  // namespace
}  // namespace berth::cmd
