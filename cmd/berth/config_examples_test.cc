// Configurations of every era of kube-scheduler get the verdict that is written in them (test/config_examples).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "commands.h"

namespace berth::cmd {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ExampleNames() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(BERTH_SOURCE_DIR) / "test/config_examples")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

struct ExampleRun {
  int status = 0;
  std::string out, err;
};

ExampleRun RunConfig(const std::vector<std::string>& arguments) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  ExampleRun run;
  run.status = Config({}, arguments);
  std::fflush(stdout);
  run.out = ::testing::internal::GetCapturedStdout();
  run.err = ::testing::internal::GetCapturedStderr();
  return run;
}

class ConfigExample : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string file_ = (fs::path(BERTH_SOURCE_DIR) / "test/config_examples" / (GetParam() + ".yaml")).string();

  std::string Verdict() const {
    std::ifstream in(file_);
    std::string line;
    std::getline(in, line);
    std::getline(in, line);
    constexpr std::string_view kBefore = "# verdict: ";
    EXPECT_TRUE(line.starts_with(kBefore)) << line;
    return line.substr(std::min(line.size(), kBefore.size()));
  }
};

TEST_P(ConfigExample, HasItsVerdict) {
  const std::string verdict = Verdict();
  const ExampleRun run = RunConfig({"validate", file_});
  if (verdict != "valid") {
    EXPECT_EQ(run.status, kBadInput) << run.out;
    EXPECT_THAT(run.err, ::testing::HasSubstr(verdict));
    return;
  }
  ASSERT_EQ(run.status, kOk) << run.err;
  // The converted file is valid as well, and is v1.
  const ExampleRun converted = RunConfig({"convert", file_});
  ASSERT_EQ(converted.status, kOk) << converted.err;
  EXPECT_THAT(converted.out, ::testing::HasSubstr("apiVersion: kubescheduler.config.k8s.io/v1\n"));
  const fs::path again = fs::path(::testing::TempDir()) / (GetParam() + ".v1.yaml");
  std::ofstream(again) << converted.out;
  const ExampleRun second = RunConfig({"validate", again.string()});
  EXPECT_EQ(second.status, kOk) << second.err;
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(RunConfig({"convert", again.string()}).out, converted.out);
  fs::remove(again);
}

INSTANTIATE_TEST_SUITE_P(All, ConfigExample, ::testing::ValuesIn(ExampleNames()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace berth::cmd
