#include "config/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/dump.h"
#include "config/policy_registry.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Result<KubeSchedulerConfiguration> LoadPolicy(std::string_view body) {
  return LoadPolicyText("kind: Policy\napiVersion: v1\n" + std::string(body), {});
}

std::string PolicyError(std::string_view body) {
  const auto loaded = LoadPolicy(body);
  return loaded ? "" : loaded.error().message;
}

std::vector<std::string> NamesAt(const KubeSchedulerConfiguration& configuration, ExtensionPoint point) {
  std::vector<std::string> names;
  for (const Plugin& plugin : configuration.profiles[0].plugins.at(point).enabled) {
    names.push_back(point == kScore ? plugin.name + ":" + std::to_string(plugin.weight) : plugin.name);
  }
  return names;
}

template <class Args>
Args PolicyArgsOf(const KubeSchedulerConfiguration& configuration, std::string_view plugin) {
  const auto& configs = configuration.profiles[0].plugin_config;
  const auto it = std::ranges::find(configs, plugin, &PluginConfig::name);
  EXPECT_NE(it, configs.end()) << plugin;
  return it == configs.end() ? Args{} : std::get<Args>(it->args);
}

TEST(Policy, AbsentListsAreTheDefaultsOf122) {
  const auto loaded = LoadPolicy("");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(NamesAt(*loaded, kFilter),
              ElementsAre("NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity",
                          "VolumeRestrictions", "TaintToleration", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits",
                          "AzureDiskLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"));
  // Both kinds of spreading are one plugin; it keeps the weight of the first by name.
  EXPECT_THAT(
      NamesAt(*loaded, kScore),
      ElementsAre("NodeResourcesBalancedAllocation:1", "PodTopologySpread:2", "ImageLocality:1", "InterPodAffinity:1",
                  "NodeResourcesLeastAllocated:1", "NodeAffinity:1", "NodePreferAvoidPods:10000", "TaintToleration:1"));
  EXPECT_EQ(PolicyArgsOf<PodTopologySpreadArgs>(*loaded, "PodTopologySpread").defaulting_type,
            SpreadDefaulting::kSystem);
  EXPECT_TRUE(loaded->legacy_plugins);
}

TEST(Policy, EmptyListsLeaveTheMandatoryPredicates) {
  const auto loaded = LoadPolicy("predicates: []\npriorities: []\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(NamesAt(*loaded, kFilter), ElementsAre("NodeUnschedulable", "TaintToleration"));
  EXPECT_THAT(NamesAt(*loaded, kScore), IsEmpty());
  EXPECT_THAT(NamesAt(*loaded, kQueueSort), ElementsAre("PrioritySort"));
  EXPECT_THAT(NamesAt(*loaded, kPostFilter), ElementsAre("DefaultPreemption"));
  EXPECT_THAT(NamesAt(*loaded, kBind), ElementsAre("DefaultBinder"));
  EXPECT_FALSE(loaded->legacy_plugins);
}

TEST(Policy, EveryPredicateMapsToItsPlugin) {
  struct Case {
    const char* predicate;
    const char* plugin;
  } cases[] = {
      {"PodFitsResources", "NodeResourcesFit"},
      {"PodFitsHostPorts", "NodePorts"},
      {"PodFitsPorts", "NodePorts"},
      {"MatchNodeSelector", "NodeAffinity"},
      {"HostName", "NodeName"},
      {"NoDiskConflict", "VolumeRestrictions"},
      {"MaxEBSVolumeCount", "EBSLimits"},
      {"MaxGCEPDVolumeCount", "GCEPDLimits"},
      {"MaxAzureDiskVolumeCount", "AzureDiskLimits"},
      {"MaxCinderVolumeCount", "CinderLimits"},
      {"MaxCSIVolumeCountPred", "NodeVolumeLimits"},
      {"CheckVolumeBinding", "VolumeBinding"},
      {"NoVolumeZoneConflict", "VolumeZone"},
      {"MatchInterPodAffinity", "InterPodAffinity"},
      {"EvenPodsSpread", "PodTopologySpread"},
      {"CheckNodeLabelPresence", "NodeLabel"},
      {"CheckServiceAffinity", "ServiceAffinity"},
      {"GeneralPredicates", "NodeResourcesFit"},
  };
  for (const Case& c : cases) {
    const auto loaded = LoadPolicy("predicates: [{name: " + std::string(c.predicate) + "}]\npriorities: []\n");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_THAT(NamesAt(*loaded, kFilter), Contains(c.plugin)) << c.predicate;
  }
}

TEST(Policy, EveryPriorityMapsToItsPlugin) {
  struct Case {
    const char* priority;
    const char* plugin;
  } cases[] = {
      {"LeastRequestedPriority", "NodeResourcesLeastAllocated:3"},
      {"MostRequestedPriority", "NodeResourcesMostAllocated:3"},
      {"BalancedResourceAllocation", "NodeResourcesBalancedAllocation:3"},
      {"SelectorSpreadPriority", "PodTopologySpread:3"},
      {"ServiceSpreadingPriority", "PodTopologySpread:3"},
      {"EvenPodsSpreadPriority", "PodTopologySpread:3"},
      {"InterPodAffinityPriority", "InterPodAffinity:3"},
      {"NodeAffinityPriority", "NodeAffinity:3"},
      {"TaintTolerationPriority", "TaintToleration:3"},
      {"NodePreferAvoidPodsPriority", "NodePreferAvoidPods:3"},
      {"ImageLocalityPriority", "ImageLocality:3"},
  };
  for (const Case& c : cases) {
    const auto loaded = LoadPolicy("predicates: []\npriorities: [{name: " + std::string(c.priority) +
                                   ", weight: 3}, "
                                   "{name: EqualPriority, weight: 1}]\n");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_THAT(NamesAt(*loaded, kScore), ElementsAre(c.plugin)) << c.priority;
  }
  const auto even = LoadPolicy("predicates: []\npriorities: [{name: EvenPodsSpreadPriority, weight: 3}]\n");
  EXPECT_EQ(PolicyArgsOf<PodTopologySpreadArgs>(*even, "PodTopologySpread").defaulting_type, SpreadDefaulting::kList);
}

TEST(Policy, ArgumentsOfCustomRulesAddUp) {
  const auto loaded = LoadPolicy(R"(
predicates:
- {name: rack, argument: {serviceAffinity: {labels: [rack, row]}}}
- {name: zone, argument: {serviceAffinity: {labels: [zone]}}}
- {name: has, argument: {labelsPresence: {labels: [ready], presence: true}}}
- {name: hasnt, argument: {labelsPresence: {labels: [retired], presence: false}}}
priorities:
- {name: ssd, weight: 2, argument: {labelPreference: {label: ssd, presence: true}}}
- {name: old, weight: 2, argument: {labelPreference: {label: old, presence: false}}}
- {name: spread, weight: 4, argument: {serviceAntiAffinity: {label: zone}}}
- name: ratio
  weight: 5
  argument:
    requestedToCapacityRatioArguments:
      shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
      resources: [{name: example.com/gpu, weight: 7}, {name: cpu}]
- {name: InterPodAffinityPriority, weight: 1}
hardPodAffinitySymmetricWeight: 42
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(NamesAt(*loaded, kScore),
              ElementsAre("InterPodAffinity:1", "NodeLabel:4", "RequestedToCapacityRatio:5", "ServiceAffinity:4"));
  const auto service = PolicyArgsOf<ServiceAffinityArgs>(*loaded, "ServiceAffinity");
  EXPECT_THAT(service.affinity_labels, ElementsAre("rack", "row", "zone"));
  EXPECT_THAT(service.anti_affinity_labels_preference, ElementsAre("zone"));
  const auto label = PolicyArgsOf<NodeLabelArgs>(*loaded, "NodeLabel");
  EXPECT_THAT(label.present_labels, ElementsAre("ready"));
  EXPECT_THAT(label.absent_labels, ElementsAre("retired"));
  EXPECT_THAT(label.present_labels_preference, ElementsAre("ssd"));
  EXPECT_THAT(label.absent_labels_preference, ElementsAre("old"));
  const auto ratio = PolicyArgsOf<RequestedToCapacityRatioArgs>(*loaded, "RequestedToCapacityRatio");
  ASSERT_EQ(ratio.resources.size(), 2u);
  EXPECT_EQ(ratio.resources[0].weight, 7);
  EXPECT_EQ(ratio.resources[1].weight, 1);
  EXPECT_EQ(PolicyArgsOf<InterPodAffinityArgs>(*loaded, "InterPodAffinity").hard_pod_affinity_weight, 42);
}

TEST(Policy, ReadsExtendersOfItsTime) {
  const auto loaded = LoadPolicy(R"(
extenders:
- {urlPrefix: https://x, filterVerb: f, enableHttps: true, httpTimeout: 30000000000, ignorable: true,
   managedResources: [{name: a.com/x, ignoredByScheduler: true}]}
alwaysCheckAllPredicates: true
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->extenders[0].http_timeout, std::chrono::seconds(30));
  EXPECT_TRUE(loaded->extenders[0].enable_https);
  EXPECT_TRUE(loaded->always_check_all_predicates);
}

// Kubernetes decoded these with encoding/json, so files of 1.7 with "BindVerb" still worked.
TEST(Policy, ExtendersWereRejectedForTheCaseOfTheirFields) {
  std::vector<std::string> warnings;
  LoadOptions options;
  options.file_name = "p.yaml";
  options.warnings = &warnings;
  const auto loaded = LoadPolicyText(
      "kind: Policy\napiVersion: v1\n"
      "extenders: [{urlPrefix: 'http://x', BindVerb: bind, enableHTTPS: true, tlsConfig: {Insecure: true}, note: a}]\n",
      {}, options);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->extenders[0].bind_verb, "bind");
  EXPECT_TRUE(loaded->extenders[0].enable_https);
  ASSERT_TRUE(loaded->extenders[0].tls_config.has_value());
  EXPECT_TRUE(loaded->extenders[0].tls_config->insecure);
  EXPECT_THAT(warnings, Contains("p.yaml:3:101: extenders[0].note: unknown field; it is ignored"));
  EXPECT_THAT(warnings, ::testing::SizeIs(2));
  EXPECT_THAT(PolicyError("extenders: [{urlPrefix: 5}]\n"), HasSubstr("extenders[0].urlPrefix: expected a string"));
  EXPECT_THAT(PolicyError("extenders: [{urlPrefix: 'http://x', Weight: a}]\n"),
              HasSubstr("extenders[0].Weight: expected an integer"));
  EXPECT_THAT(PolicyError("extenders: 5\n"), HasSubstr("extenders: expected a list"));
  EXPECT_THAT(PolicyError("Extenders: []\n"), HasSubstr("unknown field"));
}

TEST(Policy, APolicyOfAuditingIsNamedAsSuch) {
  const auto loaded = LoadPolicyText("kind: Policy\napiVersion: audit.k8s.io/v1\nrules: []\n", {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message,
            "invalid policy: expected kind Policy of apiVersion v1, found kind \"Policy\" of apiVersion "
            "\"audit.k8s.io/v1\"");
}

TEST(Policy, IsRefusedInTheWordsOf122) {
  struct Case {
    const char* body;
    const char* error;
  } cases[] = {
      {"predicates: [{name: Nope}]\n", "invalid policy: predicate type not found for \"Nope\""},
      {"priorities: [{name: Nope, weight: 1}]\n", "invalid policy: priority type not found for \"Nope\""},
      {"priorities: [{name: ImageLocalityPriority}]\n",
       "invalid policy: priority ImageLocalityPriority should have a positive weight applied to it or it has "
       "overflown"},
      {"hardPodAffinitySymmetricWeight: 101\n",
       "invalid policy: hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]"},
      {"priorities: [{name: a, weight: 1, argument: {labelPreference: {label: x}}}, {name: b, weight: 2, argument: "
       "{labelPreference: {label: z}}}]\n",
       "invalid policy: LabelPreference  priority \"b\" has a different weight with \"a\""},
      {"priorities: [{name: a, weight: 1, argument: {requestedToCapacityRatioArguments: {}}}, {name: b, weight: 1, "
       "argument: {requestedToCapacityRatioArguments: {}}}]\n",
       "invalid policy: priority \"b\" redeclares custom priority \"RequestedToCapacityRatio\", from: \"a\""},
      {"predicates: [{name: a, argument: {}}]\n",
       "invalid policy: exactly 1 predicate argument is required, numArgs: 0, predicate a"},
      {"extenders: [{urlPrefix: x, prioritizeVerb: p}]\n",
       "invalid policy: extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
  };
  for (const Case& c : cases) EXPECT_EQ(PolicyError(c.body), c.error) << c.body;
  EXPECT_THAT(PolicyError("predicate: []\n"), HasSubstr("unknown field"));
  EXPECT_FALSE(LoadPolicyText("kind: Policy\napiVersion: v2\n", {}).ok());
}

TEST(Policy, AConvertedPolicyMeansTheSame) {
  for (const char* body : {"", "predicates: []\n", "alwaysCheckAllPredicates: true\n"}) {
    const auto loaded = LoadPolicy(body);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const std::string converted = DumpYaml(*loaded);
    const auto again = LoadText(converted, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(DumpYaml(*again), converted);
  }
}

TEST(Provider, DiffersInHowAllocationScores) {
  const auto usual = ProviderConfiguration("DefaultProvider", {});
  const auto packed = ProviderConfiguration("ClusterAutoscalerProvider", {});
  ASSERT_TRUE(usual && packed);
  EXPECT_THAT(NamesAt(*usual, kScore),
              ElementsAre("NodeResourcesBalancedAllocation:1", "ImageLocality:1", "InterPodAffinity:1",
                          "NodeResourcesLeastAllocated:1", "NodeAffinity:1", "NodePreferAvoidPods:10000",
                          "PodTopologySpread:2", "TaintToleration:1"));
  EXPECT_THAT(NamesAt(*packed, kScore), Contains("NodeResourcesMostAllocated:1"));
  EXPECT_THAT(NamesAt(*packed, kScore), Not(Contains("NodeResourcesLeastAllocated:1")));
  EXPECT_EQ(NamesAt(*usual, kFilter), NamesAt(*packed, kFilter));
  EXPECT_EQ(ProviderConfiguration("Mine", {}).error().message,
            "couldn't create scheduler using provider \"Mine\": algorithm provider \"Mine\" is not registered");
}

}  // namespace
}  // namespace berth::config
