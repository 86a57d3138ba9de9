// Configuration files and kube-scheduler v1.36.4's results for them (test/config_cases): loaded, defaulted, validated,
// with profiles built and the completed configuration printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "codec/json.h"
#include "config/dump.h"
#include "config/load.h"
#include "config/resolve.h"

namespace berth::config {
namespace {

namespace fs = std::filesystem;
using enum ExtensionPoint;

const KnownPlugin kInTree[] = {
    {"SchedulingGates", {kPreEnqueue}},
    {"PrioritySort", {kQueueSort}},
    {"NodeUnschedulable", {kFilter}},
    {"NodeName", {kFilter}},
    {"TaintToleration", {kFilter, kPreScore, kScore}},
    {"NodeAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
    {"NodePorts", {kPreFilter, kFilter}},
    {"NodeResourcesFit", {kPreFilter, kFilter, kPreScore, kScore}},
    {"VolumeRestrictions", {kPreFilter, kFilter}},
    {"NodeVolumeLimits", {kPreFilter, kFilter}},
    {"VolumeBinding", {kPreFilter, kFilter, kReserve, kPreBind, kPreScore, kScore}},
    {"VolumeZone", {kPreFilter, kFilter}},
    {"PodTopologySpread", {kPreFilter, kFilter, kPreScore, kScore}},
    {"InterPodAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
    {"DynamicResources", {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kScore, kReserve, kPreBind}},
    {"DefaultPreemption", {kPreEnqueue, kPostFilter}},
    {"NodeResourcesBalancedAllocation", {kPreScore, kScore}},
    {"ImageLocality", {kScore}},
    {"DefaultBinder", {kBind}},
    {"NodeDeclaredFeatures", {kPreFilter, kFilter}},
    {"GangScheduling", {kPreEnqueue, kReserve, kPermit}},
};

// Where upstream's text comes from Go's decoder; ours says the same in its own words.
const std::map<std::string, std::string> kOwnWords = {
    {"extender-bad-timeout", "extenders[0].httpTimeout: time: invalid duration \"soon\", found string \"soon\""},
    {"weight-string", "profiles[0].plugins.score.enabled[0].weight: expected a 32-bit integer, found string \"heavy\""},
};

std::string ReadFile(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Outcome {
  bool ok = false;
  std::string config;
  std::string error;
};

Outcome ReadExpected(const fs::path& path) {
  Result<codec::Document> document = codec::ParseJson(ReadFile(path), path);
  if (!document) return {false, "", document.error().message};
  const auto text = [&](const char* key) {
    const codec::Value* value = document->root().Find(key);
    return value == nullptr ? std::string() : std::string(value->text());
  };
  return {document->root().Find("ok")->boolean(), text("config"), text("error")};
}

Outcome CompleteAsUpstream(const std::string& text) {
  const FeatureGates gates;
  LoadOptions options;
  options.strict_upstream = true;
  Result<KubeSchedulerConfiguration> loaded = LoadText(text, gates, options);
  if (!loaded) return {false, "", loaded.error().message};
  if (Result<void> extended = ApplyExtenders(*loaded); !extended) return {false, "", extended.error().message};
  if (auto resolved = ResolveProfiles(*loaded, kInTree); !resolved) return {false, "", resolved.error().message};
  return {true, DumpYaml(WithUsedArgsOnly(*loaded)), ""};
}

class ConfigCase : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfigCase, HasUpstreamsOutcome) {
  const fs::path base = fs::path(BERTH_SOURCE_DIR) / "test/config_cases" / GetParam();
  const Outcome expected = ReadExpected(base.string() + ".expect.json");
  const Outcome actual = CompleteAsUpstream(ReadFile(base.string() + ".yaml"));
  EXPECT_EQ(actual.ok, expected.ok) << actual.error;
  EXPECT_EQ(actual.config, expected.config);
  const auto own = kOwnWords.find(GetParam());
  EXPECT_EQ(actual.error, own == kOwnWords.end() ? expected.error : own->second);
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(BERTH_SOURCE_DIR) / "test/config_cases")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ConfigCase, ::testing::ValuesIn(CaseNames()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// What is printed can be read again and means the same.
TEST_P(ConfigCase, SurvivesARoundTrip) {
  const fs::path base = fs::path(BERTH_SOURCE_DIR) / "test/config_cases" / GetParam();
  const Outcome first = CompleteAsUpstream(ReadFile(base.string() + ".yaml"));
  if (!first.ok) return;
  // The printed form names the default plugins again, which replaces each by itself.
  EXPECT_EQ(CompleteAsUpstream(first.config).config, first.config);
}

}  // namespace
}  // namespace berth::config
