// Files of v1alpha1, v1alpha2 and v1beta1: their defaults, settings that have since moved, algorithm providers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/dump.h"
#include "config/load.h"
#include "config/policy.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct OldFile {
  Result<KubeSchedulerConfiguration> result = Error::InvalidArgument("not loaded");
  std::vector<std::string> warnings{};
  std::optional<PolicySource> policy{};

  std::string error() const { return result ? "" : result.error().message; }
};

OldFile LoadOld(std::string_view version, std::string_view body, const std::string& provider = "") {
  OldFile loaded;
  LoadOptions options;
  options.file_name = "f.yaml";
  options.warnings = &loaded.warnings;
  options.policy_source = &loaded.policy;
  options.provider = provider;
  const std::string text = "apiVersion: kubescheduler.config.k8s.io/" + std::string(version) +
                           "\nkind: KubeSchedulerConfiguration\n" + std::string(body);
  loaded.result = LoadText(text, {}, options);
  return loaded;
}

std::vector<std::string> NamesAt(const Profile& profile, ExtensionPoint point) {
  std::vector<std::string> names;
  for (const Plugin& plugin : profile.plugins.at(point).enabled) names.push_back(plugin.name);
  return names;
}

template <class Args>
const Args& OldArgs(const Profile& profile, std::string_view plugin) {
  return std::get<Args>(std::ranges::find(profile.plugin_config, plugin, &PluginConfig::name)->args);
}

TEST(OldVersions, SettingsOfV1alpha1MoveIntoTheProfile) {
  const OldFile loaded = LoadOld("v1alpha1",
                                 "schedulerName: mine\n"
                                 "algorithmSource: {provider: ClusterAutoscalerProvider}\n"
                                 "hardPodAffinitySymmetricWeight: 7\n"
                                 "bindTimeoutSeconds: 33\n"
                                 "disablePreemption: true\n"
                                 "failureDomains: a,b\n"
                                 "healthzBindAddress: 0.0.0.0:10251\n"
                                 "leaderElection: {leaderElect: false, lockObjectName: l, lockObjectNamespace: ns}\n");
  ASSERT_EQ(loaded.error(), "");
  ASSERT_EQ(loaded.result->profiles.size(), 1u);
  const Profile& profile = loaded.result->profiles.front();
  EXPECT_EQ(profile.scheduler_name, "mine");
  EXPECT_THAT(NamesAt(profile, kScore), Contains("NodeResourcesMostAllocated"));
  EXPECT_THAT(NamesAt(profile, kScore), Contains("SelectorSpread"));
  EXPECT_THAT(NamesAt(profile, kPostFilter), IsEmpty());
  EXPECT_EQ(OldArgs<InterPodAffinityArgs>(profile, "InterPodAffinity").hard_pod_affinity_weight, 7);
  EXPECT_EQ(OldArgs<VolumeBindingArgs>(profile, "VolumeBinding").bind_timeout_seconds, 33);
  EXPECT_EQ(OldArgs<PodTopologySpreadArgs>(profile, "PodTopologySpread").defaulting_type, SpreadDefaulting::kList);
  EXPECT_EQ(loaded.result->leader_election.resource_name, "l");
  EXPECT_EQ(loaded.result->leader_election.resource_namespace, "ns");
  EXPECT_THAT(loaded.warnings,
              ElementsAre(HasSubstr("v1alpha1 is deprecated"), HasSubstr("healthzBindAddress has no effect"),
                          HasSubstr("failureDomains has no effect")));
}

TEST(OldVersions, V1alpha1SaysPostFilterToPreScoreAndForgivesUnknownFields) {
  const OldFile loaded = LoadOld("v1alpha1",
                                 "plugins:\n"
                                 "  postFilter: {disabled: [{name: '*'}], enabled: [{name: TaintToleration}]}\n"
                                 "  score: {disabled: [{name: DefaultPodTopologySpread}]}\n"
                                 "  unreserve: {enabled: [{name: X}]}\n"
                                 "hardPodAffinitySymetricWeight: 3\n");
  ASSERT_EQ(loaded.error(), "");
  const Profile& profile = loaded.result->profiles.front();
  EXPECT_THAT(NamesAt(profile, kPreScore), ElementsAre("TaintToleration"));
  EXPECT_THAT(NamesAt(profile, kPostFilter), ElementsAre("DefaultPreemption"));
  EXPECT_THAT(NamesAt(profile, kScore), Not(Contains("SelectorSpread")));
  EXPECT_THAT(loaded.warnings, Contains(HasSubstr("plugins.unreserve has no effect")));
  EXPECT_THAT(loaded.warnings, Contains(HasSubstr("hardPodAffinitySymetricWeight")));
}

TEST(OldVersions, ExtendersOfV1alpha2HaveTheFormOfAPolicy) {
  const OldFile loaded = LoadOld("v1alpha2",
                                 "disablePreemption: true\nbindTimeoutSeconds: 5\n"
                                 "profiles: [{schedulerName: a}, {schedulerName: b}]\n"
                                 "extenders: [{urlPrefix: 'http://x', filterVerb: f, enableHttps: true, "
                                 "httpTimeout: 2000000000}]\n");
  ASSERT_EQ(loaded.error(), "");
  ASSERT_EQ(loaded.result->extenders.size(), 1u);
  EXPECT_TRUE(loaded.result->extenders[0].enable_https);
  EXPECT_EQ(loaded.result->extenders[0].http_timeout, std::chrono::seconds(2));
  for (const Profile& profile : loaded.result->profiles) {
    EXPECT_THAT(NamesAt(profile, kPostFilter), IsEmpty());
    EXPECT_EQ(OldArgs<VolumeBindingArgs>(profile, "VolumeBinding").bind_timeout_seconds, 5);
  }
}

TEST(OldVersions, ARepeatedKeyIsNoErrorInV1alpha1Only) {
  constexpr const char* kBody = "leaderElection: {leaderElect: true, leaderElect: false}\n";
  const OldFile alpha1 = LoadOld("v1alpha1", kBody);
  ASSERT_EQ(alpha1.error(), "");
  EXPECT_FALSE(alpha1.result->leader_election.leader_elect);  // the last one counts
  EXPECT_THAT(alpha1.warnings, Contains(HasSubstr("f.yaml:3:37: leaderElection.leaderElect: duplicate field; v1alpha1 "
                                                  "takes the last one")));
  EXPECT_THAT(LoadOld("v1alpha2", kBody).error(), HasSubstr("key \"leaderElect\" already set in map"));
  EXPECT_EQ(LoadOld("v1alpha1",
                    "pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 2, "
                    "hardPodAffinityWeight: 4}}]\n")
                .error(),
            "");
}

// The plugins decoded their arguments themselves, with encoding/json.
TEST(OldVersions, ArgumentsBeforeV1beta1WereRejectedForUnknownFieldsAndCase) {
  constexpr const char* kArgs =
      "pluginConfig: [{name: InterPodAffinity, args: {kind: X, apiVersion: z, HARDPodAffinityWeight: 8, soft: 1}}]";
  const std::string top = std::string(kArgs) + "\n";
  const std::string in_profile = "profiles: [{" + std::string(kArgs) + "}]\n";
  for (const auto& [version, body] : {std::pair("v1alpha1", top), std::pair("v1alpha2", in_profile)}) {
    const OldFile loaded = LoadOld(version, body);
    ASSERT_EQ(loaded.error(), "") << version;
    const Profile& profile = loaded.result->profiles.front();
    EXPECT_EQ(OldArgs<InterPodAffinityArgs>(profile, "InterPodAffinity").hard_pod_affinity_weight, 8) << version;
    EXPECT_THAT(loaded.warnings, Contains(HasSubstr("pluginConfig[0].args.soft: unknown field; it is ignored")));
    EXPECT_THAT(loaded.warnings, Not(Contains(HasSubstr("HARD")))) << version;
  }
  EXPECT_THAT(LoadOld("v1beta1", in_profile).error(), HasSubstr("no kind \"X\" is registered"));
  EXPECT_THAT(LoadOld("v1alpha2",
                      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: "
                      "{ignoredResources: [5]}}]}]\n")
                  .error(),
              HasSubstr("ignoredResources[0]: expected a string, found number 5"));
}

TEST(OldVersions, ArgumentsOfV1beta1AreStrictWhetherOrNotTheirPluginIsEnabled) {
  const auto with_args = [](std::string_view args) {
    return LoadOld("v1beta1", "profiles: [{pluginConfig: [" + std::string(args) + "]}]\n").error();
  };
  EXPECT_THAT(with_args("{name: NodeLabel, args: {presentLabels: [a], more: b}}"), HasSubstr("unknown field \"more\""));
  EXPECT_THAT(with_args("{name: NodeLabel, args: {kind: ServiceAffinityArgs}}"),
              HasSubstr("args for plugin NodeLabel were not of type NodeLabelArgs"));
  EXPECT_THAT(with_args("{name: NodeResourcesMostAllocated, args: {resources: [{name: cpu, weight: 101}]}}"),
              HasSubstr("profiles[0].pluginConfig[0].args.resources[0].weight"));
  EXPECT_EQ(with_args("{name: NodeLabel, args: {apiVersion: kubescheduler.config.k8s.io/v1beta1, kind: NodeLabelArgs, "
                      "presentLabels: [a]}}"),
            "");
}

TEST(OldVersions, NodeResourcesFitScoredBesideThePluginsItReplaces) {
  constexpr const char* kFit = "plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 1}]}}";
  const std::string in_profile = "profiles: [{" + std::string(kFit) + "}]\n";
  EXPECT_THAT(LoadOld("v1alpha1", std::string(kFit) + "\n").error(), HasSubstr("does not score in"));
  EXPECT_THAT(LoadOld("v1alpha2", in_profile).error(), HasSubstr("does not score in"));
  EXPECT_THAT(LoadOld("v1beta1", in_profile).error(),
              HasSubstr("profiles[0].plugins.score.enabled[8]: Invalid value: \"NodeResourcesFit\": was conflict with "
                        "[\"NodeResourcesLeastAllocated\"] in version"));
  EXPECT_EQ(LoadOld("v1beta2", in_profile).error(), "");
  EXPECT_EQ(LoadOld("v1beta1",
                    "profiles: [{plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}], "
                    "enabled: [{name: NodeResourcesFit, weight: 1}]}}}]\n")
                .error(),
            "");
}

TEST(OldVersions, V1beta1HasThePluginsOfItsTimeAndReplacesNone) {
  const OldFile loaded =
      LoadOld("v1beta1",
              "profiles: [{plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}], "
              "enabled: [{name: NodeResourcesMostAllocated, weight: 4}, {name: ImageLocality, weight: 3}]}}, "
              "pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
              "whenUnsatisfiable: ScheduleAnyway}]}}]}]\n");
  ASSERT_EQ(loaded.error(), "");
  const Profile& profile = loaded.result->profiles.front();
  EXPECT_THAT(NamesAt(profile, kScore),
              ElementsAre("NodeResourcesBalancedAllocation", "ImageLocality", "InterPodAffinity", "NodeAffinity",
                          "NodePreferAvoidPods", "PodTopologySpread", "TaintToleration", "NodeResourcesMostAllocated",
                          "ImageLocality"));
  EXPECT_EQ(OldArgs<PodTopologySpreadArgs>(profile, "PodTopologySpread").defaulting_type, SpreadDefaulting::kList);
  const OldFile plain = LoadOld("v1beta1", "");
  EXPECT_EQ(OldArgs<PodTopologySpreadArgs>(plain.result->profiles.front(), "PodTopologySpread").defaulting_type,
            SpreadDefaulting::kSystem);
}

TEST(OldVersions, EveryVersionReadsTheSameAfterConversion) {
  for (const char* version : {"v1alpha1", "v1alpha2", "v1beta1"}) {
    const OldFile loaded = LoadOld(version, "");
    ASSERT_EQ(loaded.error(), "") << version;
    const std::string converted = DumpYaml(*loaded.result);
    const Result<KubeSchedulerConfiguration> again = LoadText(converted, {}, std::string("converted"));
    ASSERT_TRUE(again.ok()) << version << ": " << again.error().message;
    EXPECT_EQ(DumpYaml(*again), converted) << version;
  }
}

TEST(OldVersions, MistakesAreReported) {
  struct {
    const char* version;
    const char* body;
    const char* error;
  } const cases[] = {
      {"v1alpha1", "hardPodAffinitySymmetricWeight: 101\n",
       "f.yaml:3:33: hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]"},
      {"v1alpha2", "bindTimeoutSeconds: -1\n",
       "f.yaml:3:21: bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative "
       "value"},
      {"v1alpha1", "algorithmSource: {provider: Mine}\n",
       "couldn't create scheduler using provider \"Mine\": algorithm provider \"Mine\" is not registered"},
      {"v1alpha1", "algorithmSource: {policy: {}}\n",
       "f.yaml: algorithmSource.policy: Required value: a file or a configMap"},
      {"v1alpha1", "algorithmSource: {policy: {file: {path: p}}}\nplugins: {}\n",
       "f.yaml: using Plugins and Policy simultaneously is not supported"},
  };
  for (const auto& c : cases) EXPECT_EQ(LoadOld(c.version, c.body).error(), c.error) << c.body;
  const OldFile lock = LoadOld("v1alpha1", "leaderElection: {resourceName: a, lockObjectName: b}\n");
  EXPECT_THAT(lock.error(), HasSubstr("resourceName and lockObjectName are both set and do not match"));
}

TEST(OldVersions, APolicyTakesThePlaceOfPluginsAndKeepsTheSettings) {
  OldFile loaded = LoadOld("v1alpha1",
                           "schedulerName: mine\nhardPodAffinitySymmetricWeight: 9\ndisablePreemption: true\n"
                           "algorithmSource: {policy: {configMap: {name: p}}}\n");
  ASSERT_EQ(loaded.error(), "");
  ASSERT_TRUE(loaded.policy.has_value());
  EXPECT_EQ(loaded.policy->config_map, "p");
  EXPECT_EQ(loaded.policy->config_map_namespace, "kube-system");
  const char* policy = R"({"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}],
                           "priorities": [{"name": "InterPodAffinityPriority", "weight": 2}]})";
  const Result<void> applied = ApplyPolicy(policy, *loaded.policy, {}, {}, *loaded.result);
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  const Profile& profile = loaded.result->profiles.front();
  EXPECT_EQ(profile.scheduler_name, "mine");
  EXPECT_THAT(NamesAt(profile, kFilter), ElementsAre("NodeUnschedulable", "NodeName", "TaintToleration"));
  EXPECT_THAT(NamesAt(profile, kPostFilter), IsEmpty());
  EXPECT_EQ(OldArgs<InterPodAffinityArgs>(profile, "InterPodAffinity").hard_pod_affinity_weight, 9);
}

TEST(OldVersions, AProviderIsTheBaseOfEveryProfile) {
  const OldFile loaded = LoadOld("v1beta1",
                                 "profiles:\n- schedulerName: a\n"
                                 "- schedulerName: b\n  plugins: {score: {disabled: [{name: ImageLocality}]}}\n",
                                 "ClusterAutoscalerProvider");
  ASSERT_EQ(loaded.error(), "");
  ASSERT_EQ(loaded.result->profiles.size(), 2u);
  for (const Profile& profile : loaded.result->profiles) {
    EXPECT_THAT(NamesAt(profile, kScore), Contains("NodeResourcesMostAllocated"));
    EXPECT_THAT(NamesAt(profile, kScore), Not(Contains("NodeResourcesLeastAllocated")));
  }
  EXPECT_THAT(NamesAt(loaded.result->profiles[1], kScore), Not(Contains("ImageLocality")));
}

TEST(Policy, PriorityNamesOfKubernetes114AreKnown) {
  const char* text = R"({"kind": "Policy", "apiVersion": "v1", "priorities": [
    {"name": "RequestedToCapacityRatioPriority", "weight": 2}, {"name": "ResourceLimitsPriority", "weight": 3}]})";
  const Result<KubeSchedulerConfiguration> loaded = LoadPolicyText(text, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Profile& profile = loaded->profiles.front();
  EXPECT_THAT(NamesAt(profile, kScore), ElementsAre("RequestedToCapacityRatio", "NodeResourceLimits"));
  const auto& shape = OldArgs<RequestedToCapacityRatioArgs>(profile, "RequestedToCapacityRatio").shape;
  ASSERT_EQ(shape.size(), 2u);
  EXPECT_EQ(shape[0].score, 10);
  EXPECT_EQ(shape[1].score, 0);
}

}  // namespace
}  // namespace berth::config
