#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/dump.h"
#include "config/validate.h"

namespace berth::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kHeader = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

Result<KubeSchedulerConfiguration> LoadBody(std::string_view body, const FeatureGates& gates = {},
                                            std::string file = {}) {
  return LoadText(std::string(kHeader) + std::string(body), gates, std::move(file));
}

std::string ErrorOf(std::string_view body, const FeatureGates& gates = {}, std::string file = {}) {
  const auto loaded = LoadBody(body, gates, std::move(file));
  return loaded ? "" : loaded.error().message;
}

template <class Args>
Args ArgsOf(const KubeSchedulerConfiguration& configuration, std::string_view plugin) {
  const auto& configs = configuration.profiles[0].plugin_config;
  const auto it = std::ranges::find(configs, plugin, &PluginConfig::name);
  return it == configs.end() ? Args{} : std::get<Args>(it->args);
}

std::vector<std::string> NamesOf(const std::vector<Plugin>& plugins) {
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

FeatureGates Gates(std::string_view assignments) {
  FeatureGates gates;
  EXPECT_TRUE(gates.Parse(assignments).ok());
  return gates;
}

TEST(Load, DefaultConfigurationIsAnEmptyFile) {
  const auto loaded = LoadBody("");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(DumpYaml(*loaded), DumpYaml(DefaultConfiguration({})));
  EXPECT_EQ(loaded->profiles.size(), 1u);
  EXPECT_EQ(loaded->profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(loaded->percentage_of_nodes_to_score, 0);
  EXPECT_EQ(loaded->leader_election.lease_duration, 15s);
}

TEST(Load, EveryDefaultPluginWithArgumentsHasThem) {
  std::vector<std::string> names;
  const KubeSchedulerConfiguration configuration = DefaultConfiguration({});
  for (const PluginConfig& config : configuration.profiles[0].plugin_config) {
    names.push_back(config.name);
    EXPECT_FALSE(std::holds_alternative<std::monostate>(config.args)) << config.name;
  }
  EXPECT_THAT(names,
              ElementsAre("DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeAffinity",
                          "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "VolumeBinding"));
  const auto timeouts = ArgsOf<DynamicResourcesArgs>(configuration, "DynamicResources");
  EXPECT_EQ(timeouts.filter_timeout, 10s);
  EXPECT_EQ(timeouts.binding_timeout, 600s);
}

TEST(Load, GatesChangeDefaults) {
  const KubeSchedulerConfiguration off =
      DefaultConfiguration(Gates("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false"));
  const auto timeouts = ArgsOf<DynamicResourcesArgs>(off, "DynamicResources");
  EXPECT_FALSE(timeouts.has_filter_timeout);
  EXPECT_FALSE(timeouts.has_binding_timeout);

  const KubeSchedulerConfiguration on =
      DefaultConfiguration(Gates("StorageCapacityScoring=true,GenericWorkload=true,GangScheduling=true,"
                                 "TopologyAwareWorkloadScheduling=true"));
  EXPECT_EQ(ArgsOf<VolumeBindingArgs>(on, "VolumeBinding").shape.size(), 2u);
  const std::vector<std::string> names = NamesOf(on.profiles[0].plugins.multi_point.enabled);
  EXPECT_THAT(std::vector(names.end() - 4, names.end()),
              ElementsAre("NodeDeclaredFeatures", "GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"));
}

TEST(Load, MergesPluginsInUpstreamsOrder) {
  const auto loaded = LoadBody(R"(
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Mine, weight: 4}, {name: NodeName, weight: 7}, {name: Other}]
      disabled: [{name: SchedulingGates, weight: 5}, {name: ImageLocality}]
    score:
      enabled: [{name: NodeAffinity, weight: 9}]
      disabled: [{name: '*'}]
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Plugins& plugins = loaded->profiles[0].plugins;
  const std::vector<std::string> names = NamesOf(plugins.multi_point.enabled);
  EXPECT_EQ(names[0], "PrioritySort");
  EXPECT_EQ(names[2], "NodeName");
  EXPECT_EQ(plugins.multi_point.enabled[2].weight, 7);
  EXPECT_THAT(std::vector(names.end() - 3, names.end()), ElementsAre("NodeDeclaredFeatures", "Mine", "Other"));
  EXPECT_EQ(std::ranges::count(names, "ImageLocality"), 0);
  EXPECT_THAT(NamesOf(plugins.multi_point.disabled), ElementsAre("SchedulingGates", "ImageLocality"));
  EXPECT_THAT(NamesOf(plugins.at(ExtensionPoint::kScore).enabled), ElementsAre("NodeAffinity"));
  EXPECT_THAT(NamesOf(plugins.at(ExtensionPoint::kScore).disabled), ElementsAre("*"));
}

TEST(Load, StarDropsAllDefaults) {
  const auto loaded =
      LoadBody("profiles:\n- plugins: {multiPoint: {enabled: [{name: NodeName}], disabled: [{name: '*'}]}}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(NamesOf(loaded->profiles[0].plugins.multi_point.enabled), ElementsAre("NodeName"));
  EXPECT_TRUE(loaded->profiles[0].plugin_config.empty());
}

TEST(Load, KeepsArgumentsOfUnknownPluginsUnread) {
  const auto loaded =
      LoadBody("profiles:\n- pluginConfig:\n  - name: Mine\n    args: {b: [1, x], a: null}\n  - name: Bare\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->profiles[0].plugin_config[0].raw_args, R"({"b":[1,"x"],"a":null})");
  EXPECT_EQ(loaded->profiles[0].plugin_config[1].raw_args, "");
  EXPECT_THAT(DumpJson(*loaded), HasSubstr(R"("name":"Mine","args":{"b":[1,"x"],"a":null}})"));
}

TEST(Load, KnownPluginsWithoutArgumentsGetDefaults) {
  const auto loaded =
      LoadBody("profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n  - {name: NodeAffinity, args: null}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(ArgsOf<InterPodAffinityArgs>(*loaded, "InterPodAffinity").hard_pod_affinity_weight, 1);
}

TEST(Load, ReadsExtendersWhole) {
  const auto loaded = LoadBody(R"(
extenders:
- urlPrefix: https://x
  bindVerb: bind
  enableHTTPS: true
  httpTimeout: 1m30s
  tlsConfig: {insecure: true, serverName: s, caData: aGVsbG8=, certFile: c, keyFile: k}
)");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Extender& extender = loaded->extenders[0];
  EXPECT_EQ(extender.http_timeout, 90s);
  EXPECT_EQ(extender.tls_config->ca_data, "hello");
  EXPECT_THAT(DumpJson(*loaded), HasSubstr(R"("caData":"aGVsbG8=")"));
}

TEST(Load, QpsPrintsAsItWasWritten) {
  const auto loaded = LoadBody("clientConnection: {qps: 0.1}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(DumpYaml(*loaded), HasSubstr("  qps: 0.1\n"));
}

TEST(Load, SaysWhereAndAllAtOnce) {
  const std::string error = ErrorOf(R"(parallelisms: 3
podMaxBackoffSeconds: soon
profiles:
- pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeigth: 5}
)",
                                    {}, "f.yaml");
  EXPECT_EQ(error,
            "f.yaml:4:23: podMaxBackoffSeconds: expected an integer, found string \"soon\"\n"
            "f.yaml:3:1: strict decoding error: unknown field \"parallelisms\", did you mean \"parallelism\"?\n"
            "f.yaml:8:12: strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: "
            "decoding "
            "args for plugin InterPodAffinity: strict decoding error: unknown field \"hardPodAffinityWeigth\", did "
            "you mean "
            "\"hardPodAffinityWeight\"?");
}

TEST(Load, RefusesInUpstreamsWords) {
  struct Case {
    const char* body;
    const char* error;
  } cases[] = {
      {"foo: 1\nbar: 2\n", "strict decoding error: unknown field \"foo\", unknown field \"bar\""},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: InterPodAffinityArgs}}]}]\n",
       "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
       "NodeAffinityArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs.kubescheduler.config.k8s.io"},
      {"leaderElection: {leaseDuration: 5s, renewDeadline: 10s}\n",
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than `RenewDeadline`"},
      {"leaderElection: {leaderElect: false, leaseDuration: 5s, renewDeadline: 10s, resourceLock: x}\n", ""},
      {"leaderElection: {retryPeriod: -2s}\n",
       "leaderElection.retryPeriod: Invalid value: \"-2s\": must be greater than zero"},
      {"podInitialBackoffSeconds: 20\n",
       "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds"},
      {"profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}, pluginConfig: [{name: GCEPDLimits}]}]\n",
       "[profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in version \"v1\" "
       "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\"), profiles[0].pluginConfig[0]: "
       "Invalid "
       "value: \"GCEPDLimits\": was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
       "\"kubescheduler.config.k8s.io/v1\")]"},
      {"profiles: [{schedulerName: a, percentageOfNodesToScore: 101}]\n",
       "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
      {"profiles: [{plugins: {queueSort: {enabled: [{name: A}, {name: B}]}}}]\n",
       "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled"},
      {"extenders: [{urlPrefix: a, bindVerb: b}, {urlPrefix: b, bindVerb: b}]\n",
       "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can implement bind"},
      {"extenders: [{urlPrefix: a, managedResources: [{name: a.com/x}, {name: a.com/x}, {name: requests.a/x}]}]\n",
       "[extenders[0].managedResources[1].name: Invalid value: \"a.com/x\": duplicate extender managed resource name, "
       "extenders[0].managedResources[2].name: Invalid value: \"requests.a/x\": is an invalid extended resource name]"},
      {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, "
       "minCandidateNodesAbsolute: 0}}]}]\n",
       "[profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the "
       "same time as "
       "minCandidateNodesAbsolute, profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid value: 0: "
       "cannot be "
       "zero at the same time as minCandidateNodesPercentage]"},
      {"profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: -1s, bindingTimeout: 10ms}}]}]\n",
       "[profiles[0].pluginConfig[0].args.filterTimeout: Invalid value: \"-1s\": must be zero or positive, "
       "profiles[0].pluginConfig[0].args.bindingTimeout: Invalid value: \"10ms\": must be at least 1 second]"},
      {"profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: []}}]}]\n",
       "profiles[0].pluginConfig[0].args.shape: Invalid value: []: unexpected field `shape`, remove it or turn on the "
       "feature gate StorageCapacityScoring"},
      {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: "
       "[{maxSkew: 1, "
       "topologyKey: z, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: z, whenUnsatisfiable: "
       "DoNotSchedule}]}}]}]\n",
       "profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate value: \"{z, DoNotSchedule}\""},
  };
  for (const Case& c : cases) EXPECT_EQ(ErrorOf(c.body), c.error) << c.body;
}

TEST(Load, RepeatedKeysAreFoundWhereNobodyReads) {
  EXPECT_EQ(ErrorOf("foo: 1\nprofiles:\n- pluginConfig:\n  - name: Mine\n    args: {a: 1, a: 2}\n"),
            "strict decoding error: yaml: unmarshal errors:\n  line 7: key \"a\" already set in map, unknown field "
            "\"foo\"");
  const auto json = LoadText(
      R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 1,
          "parallelism": 2})",
      {});
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "strict decoding error: duplicate field \"parallelism\"");
}

TEST(Load, ValidationErrorsHaveTheirPlace) {
  EXPECT_EQ(ErrorOf("parallelism: 0\nprofiles:\n- schedulerName: a\n  pluginConfig:\n  - name: InterPodAffinity\n    "
                    "args: {hardPodAffinityWeight: 101}\nextenders:\n- prioritizeVerb: p\n",
                    {}, "f.yaml"),
            "f.yaml:3:14: parallelism: Invalid value: 0: should be an integer value greater than zero\n"
            "f.yaml:8:35: profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid "
            "range [0, 100]\n"
            "f.yaml:10:3: extenders[0].weight: Invalid value: 0: must have a positive weight applied to it");
}

TEST(Load, ArgumentsUnderTheNameOfTheirKindAreRefused) {
  EXPECT_EQ(
      ErrorOf("profiles: [{pluginConfig: [{name: NodeResourcesFitArgs, args: {ignoredResources: [a]}}]}]\n"),
      "profiles[0].pluginConfig[0].args: Invalid value: {\"ignoredResources\":[\"a\"]}: has to match plugin args");
}

TEST(Load, GatesDecideWhatArgumentsMaySay) {
  const char* timeout = "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 1s}}]}]\n";
  EXPECT_EQ(ErrorOf(timeout, Gates("DRASchedulerFilterTimeout=false")),
            "profiles[0].pluginConfig[0].args.filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is "
            "disabled");
  const char* shape =
      "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 0, score: 11}]}}]}]\n";
  EXPECT_EQ(ErrorOf(shape, Gates("StorageCapacityScoring=true")),
            "profiles[0].pluginConfig[0].args.shape[0].score: Invalid value: 11: not in valid range [0, 10]");
}

TEST(Load, ADocumentOfAnotherShapeIsRefused) {
  for (const char* text : {"[]", "5", "just text", "kind: [1]", "{"}) {
    EXPECT_FALSE(LoadText(text, {}, "f").ok()) << text;
  }
}

TEST(Validate, ChecksAConfigurationChangedInMemory) {
  KubeSchedulerConfiguration configuration = DefaultConfiguration({});
  EXPECT_TRUE(Validate(configuration).ok());
  configuration.profiles.clear();
  EXPECT_EQ(Validate(configuration).error().message, "profiles: Required value");
}

}  // namespace
}  // namespace berth::config
