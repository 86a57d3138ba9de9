// Runs the short workloads of bench/workloads, and small ones defined here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing/temporary_folder.h"
#include "codec/json.h"
#include "perf/runner.h"
#include "plugins/registry.h"

namespace berth::perf {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFolder = std::string(BERTH_SOURCE_DIR) + "/bench/workloads/";

class ShortWorkloads : public ::testing::TestWithParam<const char*> {};

TEST_P(ShortWorkloads, RunAndAreMeasured) {
  const Result<Suite> suite = ReadSuite(kFolder + GetParam() + "/performance-config.yaml");
  ASSERT_TRUE(suite) << suite.error().message;
  const RunOptions options{.labels = "short", .timeout = std::chrono::seconds(60), .verify_incremental = true};
  const Result<std::vector<Chosen>> chosen = Choose(*suite, options);
  ASSERT_TRUE(chosen) << chosen.error().message;
  std::set<std::string> seen;
  for (const Chosen& one : *chosen) {
    const WorkloadResult result = RunWorkload(*suite, one, plugins::InTreeRegistry(), options);
    ASSERT_FALSE(result.error) << result.error->message;
    seen.insert(one.test_case->name);
    ASSERT_EQ(result.collections.size(), 1u) << result.name;
    const Collection& collection = result.collections[0];
    EXPECT_TRUE(collection.name.starts_with(result.name + "/")) << collection.name;
    const codec::FileRaw* measured = one.workload->params.Find("measurePods");
    ASSERT_TRUE(measured) << result.name;
    EXPECT_GE(collection.throughput.pods, std::stoul(std::string(measured->value.text()))) << result.name;
    EXPECT_GT(collection.throughput.average, 0) << result.name;

    std::set<std::string> metrics;
    for (const DataItem& item : collection.items) {
      EXPECT_EQ(item.labels.find("Name")->second, collection.name);
      metrics.insert(item.labels.find("Metric")->second);
    }
    for (const char* metric :
         {"SchedulingThroughput", "SchedulingDuration", "heap_memory_usage", "memory_growth_rate",
          "scheduler_scheduling_attempt_duration_seconds", "scheduler_framework_extension_point_duration_seconds",
          "scheduler_plugin_execution_duration_seconds", "scheduler_pod_scheduling_sli_duration_seconds",
          "scheduler_event_handling_duration_seconds"}) {
      EXPECT_THAT(metrics, Contains(metric)) << result.name;
    }
    EXPECT_TRUE(codec::ParseJson(ToJson(collection.items), "items")) << result.name;
  }
  // Every test case has a short workload.
  EXPECT_EQ(seen.size(), suite->cases.size());
}

INSTANTIATE_TEST_SUITE_P(Topics, ShortWorkloads,
                         ::testing::Values("affinity", "misc", "topology_spreading", "volumes", "event_handling",
                                           "starvation", "dra"));

// A suite defined by the test, with templates beside it.
class MadeUp : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("pod.yaml",
          "metadata: {generateName: p-}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n");
    Write("large.yaml",
          "metadata: {generateName: l-}\nspec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}\n");
  }

  void Write(const std::string& name, std::string_view text) { folder_.Write(name, text); }

  // `operations` as YAML, indented by two; the workload has a threshold if one is given.
  WorkloadResult Run(const std::string& operations, const std::string& workload = "{name: w}",
                     const std::string& more = "", RunOptions options = {}) {
    Write("config.yaml",
          "- name: A\n" + more + "  workloadTemplate:\n" + operations + "  workloads:\n  - " + workload + "\n");
    const Result<Suite> suite = ReadSuite(folder_.path() + "/config.yaml");
    EXPECT_TRUE(suite) << (suite ? "" : suite.error().message);
    if (!suite) return {};
    return RunWorkload(*suite, {&suite->cases[0], &suite->cases[0].workloads[0]}, plugins::InTreeRegistry(), options);
  }
  static std::string ErrorOf(const WorkloadResult& result) { return result.error ? result.error->message : ""; }

  const base::testing::TemporaryFolder folder_;
};

constexpr char kNodes[] = "  - {opcode: createNodes, count: 2}\n";
constexpr char kMeasured[] = "  - {opcode: createPods, count: 4, podTemplatePath: pod.yaml, collectMetrics: true}\n";

TEST_F(MadeUp, APodThatFitsNowhereEndsTheWaitWithItsReason) {
  const WorkloadResult result = Run(
      std::string(kNodes) + "  - {opcode: createPods, count: 1, podTemplatePath: large.yaml, collectMetrics: true}\n");
  EXPECT_EQ(result.error->code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(ErrorOf(result),
              AllOf(HasSubstr("config.yaml:4:5: op 1 (createPods): waits in vain for 1 pods of namespace namespace-1"),
                    HasSubstr("0/2 nodes are available: 2 Insufficient cpu")));
}

TEST_F(MadeUp, AWaitEndsWithTheTimeout) {
  const WorkloadResult result = Run(std::string(kNodes) + "  - {opcode: sleep, duration: 1h}\n" + kMeasured,
                                    "{name: w}", "", {.timeout = std::chrono::milliseconds(20)});
  EXPECT_THAT(ErrorOf(result), HasSubstr("op 1 (sleep): waited 20ms for 1h0m0s to pass"));
}

TEST_F(MadeUp, CreatingPodsEndsWithTheTimeoutToo) {
  const WorkloadResult result =
      Run(std::string(kNodes) + "  - {opcode: createPods, count: 100000, collectMetrics: true}\n", "{name: w}", "",
          {.timeout = std::chrono::milliseconds(1)});
  EXPECT_THAT(ErrorOf(result), HasSubstr("op 1 (createPods): waited 1ms to create 100000 objects; "));
}

TEST_F(MadeUp, AThresholdThatIsMissedIsTold) {
  const WorkloadResult result = Run(std::string(kNodes) + kMeasured, "{name: w, threshold: 1e12}");
  ASSERT_EQ(result.collections.size(), 1u) << ErrorOf(result);
  EXPECT_THAT(result.collections[0].missed, Contains(HasSubstr("A/w/namespace-1: expected \"SchedulingThroughput\"")));
  EXPECT_THAT(Run(std::string(kNodes) + kMeasured, "{name: w, threshold: 0.001}").collections[0].missed, IsEmpty());
}

TEST_F(MadeUp, MetricsMustBeStartedAndStoppedInTurn) {
  EXPECT_THAT(ErrorOf(Run("  - {opcode: stopCollectingMetrics}\n")), HasSubstr("startCollectingMetrics is missing"));
  EXPECT_THAT(ErrorOf(Run(std::string(kNodes) + "  - {opcode: startCollectingMetrics, namespaces: [a]}\n" + kMeasured)),
              HasSubstr("metrics are already being collected"));
}

TEST_F(MadeUp, TemplatesThatAreWrongAreToldWithTheirPlace) {
  Write("bad.yaml", "spec:\n  containers: [{name: c, imag: x}]\n");
  Write("node.yaml", "kind: Node\nmetadata: {name: n}\n");
  Write("loop.yaml", "metadata:\n  name: {{ range .Index }}\n");
  const auto error = [&](const std::string& path) {
    return ErrorOf(Run("  - {opcode: createPods, count: 1, podTemplatePath: " + path + ", collectMetrics: true}\n"));
  };
  EXPECT_THAT(error("bad.yaml"), HasSubstr("bad.yaml:2:26: spec.containers[0].imag: unknown field"));
  EXPECT_THAT(error("node.yaml"), HasSubstr("node.yaml:1:7: kind: expected Pod, found string \"Node\""));
  EXPECT_THAT(error("loop.yaml"), HasSubstr("loop.yaml:2: cannot expand {{ range .Index }}"));
  EXPECT_THAT(error("none.yaml"), HasSubstr("none.yaml"));
  EXPECT_THAT(ErrorOf(Run("  - {opcode: createAny, templatePath: node.yaml}\n" + std::string(kMeasured))),
              HasSubstr("apiVersion: missing"));
}

TEST_F(MadeUp, FeatureGatesAreThoseOfTheFile) {
  EXPECT_THAT(ErrorOf(Run(kMeasured, "{name: w}", "  featureGates: {NoSuchThing: true}\n")),
              HasSubstr("featureGates: unrecognized feature gate: NoSuchThing"));
  const WorkloadResult off =
      Run(std::string(kNodes) + kMeasured, "{name: w, featureGates: {SchedulerQueueingHints: false}}");
  EXPECT_EQ(ErrorOf(off), "");
  EXPECT_THAT(off.notes, Contains(HasSubstr("SchedulerQueueingHints=false")));
  // What depends on a gate is disabled with it.
  EXPECT_EQ(ErrorOf(Run(std::string(kNodes) + kMeasured, "{name: w, featureGates: {NodeDeclaredFeatures: false}}")),
            "");
}

TEST_F(MadeUp, TheSchedulerIsTheOneOfTheConfigurationFile) {
  Write("scheduler.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: other}]\n");
  // The pods ask for default-scheduler, which no profile has now.
  EXPECT_THAT(ErrorOf(Run(std::string(kNodes) + kMeasured, "{name: w}", "  schedulerConfigPath: scheduler.yaml\n")),
              HasSubstr("4 pods of namespace namespace-1 to be scheduled; 0 are"));
}

TEST_F(MadeUp, APodWithAGracePeriodKeepsItsRoomWhenDeleted) {
  Write("once.yaml", "metadata: {name: once}\nspec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}\n");
  Write("quick.yaml",
        "metadata: {name: once}\nspec: {terminationGracePeriodSeconds: 0, containers: [{name: c, resources: {requests: "
        "{cpu: 3}}}]}\n");
  const auto run = [&](const std::string& first) {
    return Run(
        "  - {opcode: createNodes, count: 1}\n  - {opcode: createPods, count: 1, namespace: a, podTemplatePath: " +
        first + "}\n  - {opcode: deletePods, namespace: a}\n" +
        "  - {opcode: createPods, count: 1, namespace: b, podTemplatePath: once.yaml, collectMetrics: true}\n");
  };
  EXPECT_EQ(ErrorOf(run("quick.yaml")), "");
  EXPECT_THAT(ErrorOf(run("once.yaml")), HasSubstr("Insufficient cpu"));
}

TEST_F(MadeUp, ANameThatIsTakenIsRefused) {
  Write("named.yaml", "metadata: {name: same}\nspec: {containers: [{name: c}]}\n");
  EXPECT_THAT(ErrorOf(Run(std::string(kNodes) +
                          "  - {opcode: createPods, count: 2, podTemplatePath: named.yaml, collectMetrics: true}\n")),
              HasSubstr("pods \"namespace-1/same\" already exists"));
}

TEST_F(MadeUp, MoreClaimsThanDevicesAreTold) {
  Write("class.yaml", "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n");
  Write(
      "claim.yaml",
      "metadata: {name: 'c-{{.Index}}'}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
  const auto run = [&](const std::string& claims) {
    return ErrorOf(
        Run("  - {opcode: createNodes, count: 2}\n"
            "  - {opcode: createResourceDriver, driverName: d.example.com, nodes: 'node-0-*', maxClaimsPerNode: 3}\n"
            "  - {opcode: createAny, templatePath: class.yaml}\n"
            "  - {opcode: createResourceClaims, namespace: a, templatePath: claim.yaml, count: " +
            claims + "}\n  - {opcode: allocResourceClaims}\n" + kMeasured));
  };
  EXPECT_EQ(run("6"), "");
  EXPECT_THAT(run("7"),
              AllOf(HasSubstr("op 4 (allocResourceClaims)"), HasSubstr("no node has devices left for claim a/c-")));
}

}  // namespace
}  // namespace berth::perf
