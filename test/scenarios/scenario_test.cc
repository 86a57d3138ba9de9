// Runs every scenario file of this folder.
#include "scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "plugins/registry.h"
#include "report/report.h"

namespace berth::scenarios {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

std::vector<fs::path> ScenarioFiles() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(BERTH_SOURCE_DIR "/test/scenarios")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class ScenarioTest : public ::testing::TestWithParam<fs::path> {};

TEST_P(ScenarioTest, MeetsItsExpectation) {
  const Result<Scenario> scenario = Load(GetParam().string());
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_THAT(scenario->input.warnings, IsEmpty());

  for (const uint64_t seed : {1, 2, 3}) {
    std::string first;
    for (int run = 0; run < 2; ++run) {
      auto simulation =
          sim::Simulation::Create(scenario->input.objects, scenario->configuration, plugins::InTreeRegistry(), {},
                                  {.seed = seed, .verify_incremental = true});
      ASSERT_TRUE(simulation) << simulation.error().message;
      const sim::SimulationReport report = (*simulation)->Run();
      EXPECT_THAT(Differences(*scenario, report), IsEmpty()) << "seed " << seed << "\n" << report::ToTable(report);
      if (run > 0) {
        EXPECT_EQ(report::ToJson(report), first) << "two runs with seed " << seed << " differ";
      }
      first = report::ToJson(report);
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<fs::path>& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, ::testing::ValuesIn(ScenarioFiles()), TestName);

}  // namespace
}  // namespace berth::scenarios
