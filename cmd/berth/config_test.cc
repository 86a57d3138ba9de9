// berth config and the configuration flags of simulate, as called from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "commands.h"
#include "configuration_source.h"

namespace berth::cmd {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr char kV1[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

struct ConfigRun {
  int status;
  std::string out, err;
};

class ConfigCommand : public ::testing::Test {
 protected:
  ConfigCommand() { fs::create_directories(folder_); }
  ~ConfigCommand() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }

  ConfigRun Run(const std::vector<std::string>& arguments) const {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = Config(own_plugins, arguments);
    std::fflush(stdout);
    return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  framework::Registry own_plugins;

 private:
  fs::path folder_ = fs::path(::testing::TempDir()) / ("berth_config_" + std::to_string(::getpid()));
};

TEST_F(ConfigCommand, ValidateGivesEveryProblemItsPlace) {
  const std::string good = Write("good.yaml", kV1);
  const std::string bad = Write("bad.yaml", std::string(kV1) + "parallelism: 0\npodInitialBackoffSeconds: -1\n");
  const std::string unknown =
      Write("unknown.yaml", std::string(kV1) + "profiles:\n- plugins: {filter: {enabled: [{name: Nope}]}}\n");
  const ConfigRun ran = Run({"validate", good, bad, unknown});
  EXPECT_EQ(ran.status, kBadInput);
  EXPECT_EQ(ran.out, good + ": valid\n");
  EXPECT_THAT(ran.err, HasSubstr(bad + ":3:14: parallelism: Invalid value: 0: should be an integer"));
  EXPECT_THAT(ran.err, HasSubstr(bad + ":4:27: podInitialBackoffSeconds: Invalid value: -1: must be greater than 0"));
  EXPECT_THAT(ran.err, HasSubstr(unknown + ":4:39: initializing profiles: creating profile for scheduler name "
                                           "default-scheduler: FilterPlugin \"Nope\" does not exist"));
  EXPECT_EQ(Run({"validate", good}).status, kOk);
}

TEST_F(ConfigCommand, ValidateWasSilentAboutAnAddressThatTheSchedulerRefuses) {
  const auto with_prefix = [&](const std::string& prefix) {
    return Run({"validate",
                Write("e.yaml", std::string(kV1) + "extenders: [{filterVerb: f, urlPrefix: '" + prefix + "'}]\n")});
  };
  const ConfigRun ran = with_prefix("gate.example/decide");
  EXPECT_EQ(ran.status, kOk);
  EXPECT_THAT(ran.err,
              HasSubstr("extenders[0].urlPrefix: expected an address that begins with http:// or https://, found "
                        "\"gate.example/decide\"; berth scheduler does not start with it"));
  EXPECT_EQ(with_prefix("https://gate.example").err, "");
}

TEST_F(ConfigCommand, ShowPrintsWhatLoadsAgain) {
  const ConfigRun shown = Run({"show"});
  ASSERT_EQ(shown.status, kOk) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("parallelism: 16\n"));
  EXPECT_EQ(Run({"show", Write("again.yaml", shown.out)}).out, shown.out);
  EXPECT_THAT(Run({"show", "-o", "json"}).out, HasSubstr("\"parallelism\": 16"));
}

TEST_F(ConfigCommand, ConvertWritesWhatKubeSchedulerReads) {
  const std::string old =
      Write("old.yaml", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n");
  const ConfigRun converted = Run({"convert", old, "--strict-upstream"});
  ASSERT_EQ(converted.status, kOk) << converted.err;
  EXPECT_THAT(converted.err, HasSubstr("EBSLimits becomes NodeVolumeLimits"));
  const std::string as_v1 = Write("v1.yaml", converted.out);
  EXPECT_EQ(Run({"validate", "--strict-upstream", as_v1}).status, kOk);
  EXPECT_THAT(Run({"validate", "--strict-upstream", old}).err, HasSubstr("no kind \"KubeSchedulerConfiguration\""));
}

TEST_F(ConfigCommand, ConvertReadsAPolicyAndAConfigMapOfOne) {
  const std::string policy = Write("policy.cfg", R"({"kind": "Policy", "apiVersion": "v1", "predicates": [],
    "priorities": [{"name": "ImageLocalityPriority", "weight": 3}]})");
  const std::string map = Write("map.yaml",
                                "kind: ConfigMap\napiVersion: v1\nmetadata: {name: p}\ndata:\n  policy.cfg: "
                                "'{\"kind\": \"Policy\", \"apiVersion\": \"v1\", \"predicates\": [], \"priorities\": "
                                "[{\"name\": \"ImageLocalityPriority\", \"weight\": 3}]}'\n");
  const ConfigRun from_file = Run({"convert", policy});
  ASSERT_EQ(from_file.status, kOk) << from_file.err;
  EXPECT_THAT(from_file.out, HasSubstr("- name: ImageLocality\n        weight: 3\n"));
  EXPECT_EQ(Run({"convert", map}).out, from_file.out);
  EXPECT_EQ(Run({"convert", Write("empty.yaml", "kind: ConfigMap\n")}).status, kBadInput);
}

TEST_F(ConfigCommand, PluginsAreToldByThePluginsThemselves) {
  const ConfigRun table = Run({"plugins"});
  ASSERT_EQ(table.status, kOk) << table.err;
  EXPECT_THAT(table.out, HasSubstr("TaintToleration                       3  on       on    filter,preScore,score\n"));
  const std::string file =
      Write("f.yaml", std::string(kV1) + "profiles:\n- plugins: {multiPoint: {disabled: [{name: ImageLocality}]}}\n");
  EXPECT_THAT(Run({"plugins", file}).out, HasSubstr("ImageLocality                         -  on       off   score\n"));
}

TEST_F(ConfigCommand, BadUsageSaysWhatWasExpected) {
  EXPECT_THAT(Run({}).err, HasSubstr("expected validate, show, convert or plugins"));
  EXPECT_THAT(Run({"check"}).err, HasSubstr("found \"check\""));
  EXPECT_THAT(Run({"show", "-o", "xml"}).err, HasSubstr("expected yaml or json, found \"xml\""));
  EXPECT_THAT(Run({"show", "--feature-gates", "Nope=true"}).err, HasSubstr("unrecognized feature gate: Nope"));
  EXPECT_THAT(Run({"convert"}).err, HasSubstr("expected a file"));
}

using SetupSources = ConfigCommand;

TEST_F(SetupSources, AreRefusedTogether) {
  const std::string with_profiles = Write("p.yaml", std::string(kV1) + "profiles: [{plugins: {}}]\n");
  const std::string with_args =
      Write("a.yaml", std::string(kV1) + "profiles: [{pluginConfig: [{name: NodeAffinity}]}]\n");
  const std::string two = Write("t.yaml", std::string(kV1) + "profiles: [{schedulerName: a}, {schedulerName: b}]\n");
  const std::string policy = Write("policy.cfg", "kind: Policy\napiVersion: v1\n");
  const auto error = [](const ConfigurationFlags& flags) {
    const auto setup = LoadSetup(flags, ConfigMapInFiles({}), {});
    return setup ? std::string() : setup.error().message;
  };
  EXPECT_EQ(error({.config = with_profiles, .policy_config_file = policy}),
            "cannot set a Plugin config and Policy config");
  EXPECT_EQ(error({.config = with_args, .policy_config_file = policy}), "cannot set a Plugin config and Policy config");
  EXPECT_EQ(error({.config = two, .policy_config_file = policy}), "cannot set a Plugin config and Policy config");
  EXPECT_EQ(error({.algorithm_provider = "DefaultProvider", .policy_config_file = policy}),
            "cannot set an algorithm provider and Policy config");
  EXPECT_EQ(error({.use_legacy_policy_config = true}),
            "policyConfigFile: Required value: required when --use-legacy-policy-config is true");
  EXPECT_EQ(error({.policy_config_file = policy}), "");
}

TEST_F(SetupSources, AFileThatOnlyNamesASchedulerGoesWithAPolicy) {
  const std::string named =
      Write("n.yaml", std::string(kV1) + "podMaxBackoffSeconds: 20\nprofiles: [{schedulerName: mine}]\n");
  const std::string policy = Write("policy.cfg", "kind: Policy\napiVersion: v1\npriorities: []\n");
  const auto setup = LoadSetup({.config = named, .policy_config_file = policy}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  ASSERT_EQ(setup->configuration.profiles.size(), 1u);
  EXPECT_EQ(setup->configuration.profiles[0].scheduler_name, "mine");
  EXPECT_TRUE(setup->configuration.profiles[0].plugins.at(config::ExtensionPoint::kScore).enabled.empty());
  EXPECT_EQ(setup->configuration.pod_max_backoff_seconds, 20);
}

TEST_F(SetupSources, AProviderIsTheBaseOfTheFilesProfiles) {
  const std::string file = Write("p.yaml", std::string(kV1) +
                                               "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {score: "
                                               "{disabled: [{name: ImageLocality}]}}\n");
  const auto setup =
      LoadSetup({.config = file, .algorithm_provider = "ClusterAutoscalerProvider"}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  ASSERT_EQ(setup->configuration.profiles.size(), 2u);
  const auto scores = [&](size_t i) -> const config::PluginSet& {
    return setup->configuration.profiles[i].plugins.at(config::ExtensionPoint::kScore);
  };
  EXPECT_EQ(scores(0).enabled.size(), scores(1).enabled.size() + 1);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NE(std::ranges::find(scores(i).enabled, "NodeResourcesMostAllocated", &config::Plugin::name),
              scores(i).enabled.end());
  }
}

TEST_F(SetupSources, AFileOfV1alpha1MayNameItsPolicy) {
  const std::string policy = Write("policy.cfg", "kind: Policy\napiVersion: v1\npriorities: []\n");
  const std::string file = Write("old.yaml",
                                 "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
                                 "schedulerName: mine\nalgorithmSource: {policy: {file: {path: " +
                                     policy + "}}}\n");
  const auto setup = LoadSetup({.config = file}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->configuration.profiles[0].scheduler_name, "mine");
  EXPECT_TRUE(setup->configuration.profiles[0].plugins.at(config::ExtensionPoint::kScore).enabled.empty());
  EXPECT_THAT(Run({"convert", file}).out, HasSubstr("schedulerName: mine"));
  const std::string map = Write("map.yaml",
                                "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
                                "algorithmSource: {policy: {configMap: {name: p}}}\n");
  EXPECT_THAT(Run({"validate", map}).err, HasSubstr("names the ConfigMap kube-system/p of a cluster"));
}

TEST_F(SetupSources, ParallelismOtherThanTheDefaultIsOneWarning) {
  const std::string file = Write("p.yaml", std::string(kV1) + "parallelism: 4\n");
  const auto setup = LoadSetup({.config = file}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_THAT(setup->warnings, ::testing::ElementsAre(HasSubstr("parallelism: 4 has no effect")));
  const std::string same = Write("s.yaml", std::string(kV1) + "parallelism: 16\n");
  EXPECT_TRUE(LoadSetup({.config = same}, ConfigMapInFiles({}), {})->warnings.empty());
}

TEST_F(ConfigCommand, ThePluginCatalogueHasUpstreamsPoints) {
  const std::string out = Run({"plugins"}).out;
  EXPECT_THAT(out, HasSubstr("preEnqueue,permit (not implemented yet)"));
  EXPECT_THAT(out, HasSubstr("preFilter,filter,preScore,score,placementScore"));
  EXPECT_EQ(Run({"validate", Write("ok.yaml", kV1)}).err, "");
}

TEST_F(SetupSources, ThePolicyConfigMapIsAmongTheInput) {
  const std::string objects = Write("objects.yaml",
                                    "kind: ConfigMap\napiVersion: v1\nmetadata: {name: p, namespace: kube-system}\n"
                                    "data: {policy.cfg: '{\"kind\": \"Policy\", \"apiVersion\": \"v1\", "
                                    "\"priorities\": []}'}\n");
  const auto setup = LoadSetup({.policy_configmap = "p"}, ConfigMapInFiles({objects}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_TRUE(setup->configuration.profiles[0].plugins.at(config::ExtensionPoint::kScore).enabled.empty());
  const auto elsewhere =
      LoadSetup({.policy_configmap = "p", .policy_configmap_namespace = "default"}, ConfigMapInFiles({objects}), {});
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.error().message, HasSubstr("couldn't get policy config map default/p"));
}

TEST_F(SetupSources, ResourcesThatAnExtenderManagesAreNoneOfOurs) {
  const std::string file = Write("e.yaml", std::string(kV1) +
                                               "extenders:\n- urlPrefix: https://extender.example\n"
                                               "  filterVerb: filter\n  tlsConfig: {caFile: /nowhere/ca.pem}\n"
                                               "  managedResources:\n  - name: example.com/a\n"
                                               "    ignoredByScheduler: true\n  - name: example.com/b\n");
  const auto setup = LoadSetup({.config = file}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  for (const config::PluginConfig& plugin : setup->configuration.profiles[0].plugin_config) {
    if (plugin.name != "NodeResourcesFit") continue;
    EXPECT_THAT(std::get<config::NodeResourcesFitArgs>(plugin.args).ignored_resources,
                ::testing::ElementsAre("example.com/a"));
    return;
  }
  FAIL() << "NodeResourcesFit has no arguments";
}

TEST_F(SetupSources, AGateWithoutAnImplementationIsAWarning) {
  const auto setup = LoadSetup({.feature_gates = "GenericWorkload=true,GangScheduling=true"}, ConfigMapInFiles({}), {});
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_THAT(setup->warnings, Contains(HasSubstr("GangScheduling=true has no effect")));
  for (const auto& plugin : setup->configuration.profiles[0].plugins.multi_point.enabled) {
    EXPECT_THAT(plugin.name, Not("GangScheduling"));
  }
}

}  // namespace
}  // namespace berth::cmd
