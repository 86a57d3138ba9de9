#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "commands.h"

namespace berth::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kNode[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", pods: "110"}}
---
)";

std::string Pod(const std::string& name, const std::string& cpu, const std::string& more = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + more +
         "containers: [{name: c, image: c, resources: {requests: {cpu: \"" + cpu + "\"}}}]}\n---\n";
}

class SimulateTest : public ::testing::Test {
 protected:
  int Run(const std::string& input, std::vector<std::string> arguments = {}) {
    const std::string file = ::testing::TempDir() + "simulate_test." + std::to_string(getpid()) + ".yaml";
    std::ofstream(file) << input;
    arguments.insert(arguments.end(), {"-f", file});
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = Simulate(framework::Registry(), arguments);
    output = ::testing::internal::GetCapturedStdout();
    errors = ::testing::internal::GetCapturedStderr();
    std::remove(file.c_str());
    return status;
  }

  const std::string fits = std::string(kNode) + Pod("web", "1");
  const std::string pends = std::string(kNode) + Pod("web", "1") + Pod("big", "3");
  const std::string preempts =
      std::string(kNode) + Pod("low", "2", "nodeName: n1, ") + Pod("high", "2", "priority: 9, ");
  std::string output, errors;
};

TEST_F(SimulateTest, TheExitStatusIsWhatFailOnSays) {
  EXPECT_EQ(Run(fits), 0);
  EXPECT_EQ(Run(pends), 2);
  EXPECT_EQ(Run(pends, {"--fail-on=preempted"}), 0);
  EXPECT_EQ(Run(pends, {"--fail-on=never"}), 0);
  EXPECT_EQ(Run(preempts), 0);
  EXPECT_EQ(Run(preempts, {"--fail-on=preempted"}), 2);
  EXPECT_EQ(Run(pends, {"--fail-on=preempted,unplaced"}), 2);
  EXPECT_EQ(Run("kind: Pood\n"), 1);
}

TEST_F(SimulateTest, BadFlagsSayWhatWasExpected) {
  EXPECT_EQ(Run(fits, {"--fail-on=sometimes"}), 1);
  EXPECT_EQ(errors,
            "berth simulate: --fail-on: expected unplaced, preempted, warnings or never, found \"sometimes\"\n");
  EXPECT_EQ(Run(fits, {"--fail-on=never,unplaced"}), 1);
  EXPECT_EQ(Run(fits, {"-o", "xml"}), 1);
  EXPECT_EQ(errors,
            "berth simulate: -o: expected table, wide, json, yaml, html, markdown, junit or github, found \"xml\"\nTry "
            "berth simulate --help.\n");
  EXPECT_EQ(Run(fits, {"--color=red"}), 1);
  EXPECT_EQ(Run(fits, {"--explain=default/gone"}), 1);
  EXPECT_THAT(errors, StartsWith("berth simulate: --explain: no pod default/gone is pending in the input"));
}

TEST_F(SimulateTest, PodsAreExplainedByNameOrForPending) {
  EXPECT_EQ(Run(pends, {"--explain"}), 2);
  EXPECT_THAT(output, HasSubstr("\ndefault/big has no node: "));
  EXPECT_EQ(Run(pends, {"--explain", "web", "--color", "never"}), 2);
  EXPECT_THAT(output, StartsWith("default/web is on n1; 1 of 1 nodes was feasible\n")) << "and nothing before it";
}

TEST_F(SimulateTest, EveryFormatIsThere) {
  Run(fits);
  EXPECT_THAT(output, StartsWith("POD          NODE  OUTCOME    DETAIL\n"));
  Run(fits, {"-o", "wide"});
  EXPECT_THAT(output, StartsWith("POD          NODE  OUTCOME    RUNNER-UP  MARGIN  DETAIL\n"));
  Run(fits, {"-o", "json"});
  EXPECT_THAT(output, StartsWith("{\n    \"apiVersion\": \"berth.dev/v1\",\n"));
  Run(fits, {"-o", "yaml"});
  EXPECT_THAT(output, StartsWith("apiVersion: berth.dev/v1\nkind: SimulationReport\n"));
  Run(fits, {"-o", "html"});
  EXPECT_THAT(output, StartsWith("<!doctype html>\n"));
  EXPECT_THAT(output, HasSubstr("\"explanations\":[{\"pod\":\"default/web\"")) << "the table behind each pod";
}

}  // namespace
}  // namespace berth::cmd
