// Files of older versions: their own defaults, expressed in v1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/dump.h"
#include "config/load.h"
#include "config/strict_upstream.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Loaded {
  Result<KubeSchedulerConfiguration> result;
  std::vector<std::string> warnings;
};

Loaded LoadVersion(std::string_view version, std::string_view body, bool strict_upstream = false) {
  std::vector<std::string> warnings;
  LoadOptions options;
  options.file_name = "f.yaml";
  options.strict_upstream = strict_upstream;
  options.warnings = &warnings;
  const std::string text = "apiVersion: kubescheduler.config.k8s.io/" + std::string(version) +
                           "\nkind: KubeSchedulerConfiguration\n" + std::string(body);
  auto result = LoadText(text, {}, options);
  return {std::move(result), std::move(warnings)};
}

std::string ErrorOf(const Loaded& loaded) { return loaded.result ? "" : loaded.result.error().message; }

std::vector<std::string> Weighted(const std::vector<Plugin>& plugins) {
  std::vector<std::string> out;
  for (const Plugin& plugin : plugins) out.push_back(plugin.name + ":" + std::to_string(plugin.weight));
  return out;
}

TEST(Versions, V1beta3HasItsOwnDefaults) {
  const Loaded loaded = LoadVersion("v1beta3", "");
  ASSERT_EQ(ErrorOf(loaded), "");
  const std::vector<std::string> plugins = Weighted(loaded.result->profiles[0].plugins.multi_point.enabled);
  EXPECT_EQ(plugins.size(), 21u);
  EXPECT_EQ(plugins.front(), "PrioritySort:0");
  EXPECT_EQ(plugins.back(), "SchedulingGates:0");
  EXPECT_THAT(plugins, Contains("EBSLimits:0"));
  EXPECT_THAT(plugins, Contains("TaintToleration:3"));
  EXPECT_THAT(plugins, Not(Contains("DynamicResources:2")));
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("f.yaml:1:1: kubescheduler.config.k8s.io/v1beta3 is deprecated")));
}

TEST(Versions, V1beta2ListsPluginsPointByPoint) {
  const Loaded loaded = LoadVersion("v1beta2", R"(profiles:
- plugins:
    score:
      enabled: [{name: NodeAffinity, weight: 7}, {name: Mine, weight: 4}]
      disabled: [{name: ImageLocality}]
    filter:
      disabled: [{name: '*'}]
      enabled: [{name: NodeName}]
)");
  ASSERT_EQ(ErrorOf(loaded), "");
  const Plugins& plugins = loaded.result->profiles[0].plugins;
  EXPECT_THAT(Weighted(plugins.at(kScore).enabled),
              ElementsAre("NodeResourcesBalancedAllocation:1", "InterPodAffinity:1", "NodeResourcesFit:1",
                          "NodeAffinity:7", "PodTopologySpread:2", "TaintToleration:1", "Mine:4"));
  EXPECT_THAT(Weighted(plugins.at(kFilter).enabled), ElementsAre("NodeName:0"));
  EXPECT_THAT(plugins.at(kFilter).disabled, IsEmpty());
  EXPECT_THAT(Weighted(plugins.multi_point.disabled), ElementsAre("*:0"));
  EXPECT_THAT(plugins.multi_point.enabled, IsEmpty());
}

TEST(Versions, WhatV1beta2NeverReadHasNoEffectAndSaysSo) {
  const Loaded loaded = LoadVersion("v1beta2", R"(healthzBindAddress: 0.0.0.0:10251
profiles:
- plugins: {multiPoint: {disabled: [{name: '*'}]}, preEnqueue: {enabled: [{name: Mine}]}}
)");
  ASSERT_EQ(ErrorOf(loaded), "");
  EXPECT_THAT(Weighted(loaded.result->profiles[0].plugins.at(kPreEnqueue).enabled), ElementsAre("SchedulingGates:0"));
  EXPECT_THAT(loaded.warnings,
              ElementsAre(HasSubstr("v1beta2 is deprecated"),
                          "f.yaml:3:21: healthzBindAddress has no effect: the port without TLS is gone",
                          "f.yaml:5:25: profiles[0].plugins.multiPoint has no effect in v1beta2",
                          "f.yaml:5:64: profiles[0].plugins.preEnqueue has no effect in v1beta2"));
}

TEST(Versions, FieldsOfLaterVersionsAreUnknown) {
  struct Case {
    const char* version;
    const char* body;
    const char* error;
  } cases[] = {
      {"v1beta3", "delayCacheUntilActive: true\n",
       "f.yaml:3:1: strict decoding error: unknown field \"delayCacheUntilActive\""},
      {"v1beta2", "profiles: [{percentageOfNodesToScore: 5}]\n",
       "f.yaml:3:13: strict decoding error: unknown field \"profiles[0].percentageOfNodesToScore\""},
      {"v1beta3", "healthzBindAddress: x\n", "f.yaml:3:1: strict decoding error: unknown field \"healthzBindAddress\""},
      {"v1beta3",
       "profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: kubescheduler.config.k8s.io/v1beta3}}]}]\n",
       ""},
      {"v1beta3", "parallelism: 0\n",
       "f.yaml:3:14: parallelism: Invalid value: 0: should be an integer value greater than zero"},
      {"v1beta1", "profiles: [{plugins: {multiPoint: {}}}]\n",
       "f.yaml:3:23: strict decoding error: unknown field \"profiles[0].plugins.multiPoint\""},
      {"v1alpha2", "parallelism: 4\n", "f.yaml:3:1: strict decoding error: unknown field \"parallelism\""},
      {"v1alpha2", "schedulerName: mine\n", "f.yaml:3:1: strict decoding error: unknown field \"schedulerName\""},
      {"v1alpha1", "profiles: [{schedulerName: a}]\n", "f.yaml:3:1: strict decoding error: unknown field \"profiles\""},
      {"v1alpha3", "",
       "f.yaml:1:1: no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1alpha3\" in scheme \"pkg/scheduler/apis/config/scheme/scheme.go:29\""},
  };
  for (const Case& c : cases) EXPECT_EQ(ErrorOf(LoadVersion(c.version, c.body)), c.error) << c.body;
}

TEST(Versions, AConvertedFileMeansTheSame) {
  for (const char* version : {"v1beta2", "v1beta3"}) {
    const Loaded loaded = LoadVersion(version, "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]\n");
    ASSERT_EQ(ErrorOf(loaded), "");
    const std::string converted = DumpYaml(*loaded.result);
    const auto again = LoadText(converted, {});
    ASSERT_TRUE(again) << version << ": " << again.error().message;
    EXPECT_EQ(DumpYaml(*again), converted) << version;
  }
}

TEST(Versions, InTreeVolumeLimitsAtAPointNeedTheExtensionFieldInV1) {
  const char* body = "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]\n";
  EXPECT_THAT(ErrorOf(LoadVersion("v1", body)), HasSubstr("f.yaml:3:42: profiles[0].plugins.filter.enabled[0]: Invalid "
                                                          "value: \"EBSLimits\": was invalid in version \"v1\""));
  EXPECT_EQ(ErrorOf(LoadVersion("v1", std::string("legacyPlugins: true\n") + body)), "");
  EXPECT_EQ(ErrorOf(LoadVersion("v1beta3", body)), "");
}

TEST(NodeSampling, IsExactOrUpstream) {
  const Loaded loaded = LoadVersion("v1", "nodeSampling: Upstream\n");
  ASSERT_EQ(ErrorOf(loaded), "");
  EXPECT_EQ(loaded.result->node_sampling, kUpstreamSampling);
  EXPECT_EQ(ErrorOf(LoadVersion("v1", "nodeSampling: Exact\n")), "");
  EXPECT_EQ(ErrorOf(LoadVersion("v1", "nodeSampling: upstream\n")),
            "f.yaml:3:15: nodeSampling: Unsupported value: \"upstream\": supported values: \"Exact\", \"Upstream\"");
  config::KubeSchedulerConfiguration configuration = *loaded.result;
  EXPECT_THAT(KeepUpstreamOnly(configuration), ::testing::Contains(HasSubstr("nodeSampling is dropped")));
  EXPECT_EQ(configuration.node_sampling, "");
}

TEST(StrictUpstream, ReadsWhatKubeSchedulerReads) {
  EXPECT_THAT(ErrorOf(LoadVersion("v1beta3", "", true)), HasSubstr("no kind \"KubeSchedulerConfiguration\""));
  EXPECT_EQ(ErrorOf(LoadVersion("v1", "pluginLibraries: [{path: a.so}]\n", true)),
            "f.yaml:3:1: strict decoding error: unknown field \"pluginLibraries\"");
  EXPECT_EQ(ErrorOf(LoadVersion("v1", "nodeSampling: Upstream\n", true)),
            "f.yaml:3:1: strict decoding error: unknown field \"nodeSampling\"");
  const Loaded own = LoadVersion("v1", "pluginLibraries: [{path: a.so}]\n");
  ASSERT_EQ(ErrorOf(own), "");
  EXPECT_EQ(own.result->plugin_libraries[0].path, "a.so");
  EXPECT_EQ(ErrorOf(LoadVersion("v1", "pluginLibraries: [{}]\n")),
            "f.yaml:3:19: pluginLibraries[0].path: Required value: can not be empty");
}

TEST(StrictUpstream, PutsSuccessorsInPlaceOfPluginsThatAreGone) {
  Loaded loaded = LoadVersion("v1beta2", R"(profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesFit}]
      enabled: [{name: NodeResourcesMostAllocated, weight: 5}, {name: NodeLabel}]
    preScore: {disabled: [{name: NodeResourcesFit}]}
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args: {resources: [{name: cpu, weight: 3}]}
)");
  ASSERT_EQ(ErrorOf(loaded), "");
  KubeSchedulerConfiguration& configuration = *loaded.result;
  const std::vector<std::string> notes = KeepUpstreamOnly(configuration);
  EXPECT_THAT(notes,
              Contains("profiles[0]: NodeResourcesMostAllocated becomes the scoring strategy of NodeResourcesFit"));
  EXPECT_THAT(notes, Contains("profiles[0]: NodeLabel is dropped: kube-scheduler has nothing like it"));
  const Profile& profile = configuration.profiles[0];
  EXPECT_THAT(Weighted(profile.plugins.at(kScore).enabled), Contains("NodeResourcesFit:5"));
  EXPECT_THAT(Weighted(profile.plugins.at(kPreScore).enabled), Contains("NodeResourcesFit:0"));
  for (const Plugin& plugin : profile.plugins.at(kFilter).enabled) EXPECT_TRUE(IsUpstreamPlugin(plugin.name));
  const auto fit = std::ranges::find(profile.plugin_config, "NodeResourcesFit", &PluginConfig::name);
  ASSERT_NE(fit, profile.plugin_config.end());
  const auto& strategy = std::get<NodeResourcesFitArgs>(fit->args).scoring_strategy;
  EXPECT_EQ(strategy.type, ScoringStrategyType::kMostAllocated);
  EXPECT_EQ(strategy.resources.at(0).weight, 3);
  LoadOptions strict;
  strict.strict_upstream = true;
  const auto again = LoadText(DumpYaml(configuration), {}, strict);
  EXPECT_TRUE(again) << again.error().message;
}

TEST(LegacyArgs, CountOnlyWhenTheirPluginIsUsed) {
  const Loaded loaded = LoadVersion("v1", R"(profiles:
- pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [a, b], absentLabels: [b]}
  - name: RequestedToCapacityRatio
    args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 11}], resources: [{name: cpu}]}
  - name: NodeResourcesLeastAllocated
    args: {resources: [{name: cpu, weight: 101}]}
  - name: ServiceAffinity
    args: {affinityLabel: [x]}
)");
  ASSERT_EQ(ErrorOf(loaded), "");
  const std::vector<PluginConfig>& configs = loaded.result->profiles[0].plugin_config;
  EXPECT_EQ(configs[0].args_error, "presentLabels[1]: Invalid value: \"b\": conflict with absentLabels[0]");
  EXPECT_EQ(configs[1].args_error, "shape[1].score: Invalid value: 11: not in valid range [0, 10]");
  EXPECT_EQ(configs[2].args_error,
            "resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]");
  EXPECT_THAT(configs[3].args_error, HasSubstr("unknown field"));
}

}  // namespace
}  // namespace berth::config
