#include "perf/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/runner.h"

namespace berth::perf {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSuite[] = R"(
- name: Basic
  labels: [all]
  defaultPodTemplatePath: ../templates/pod.yaml
  featureGates: {SchedulerQueueingHints: true}
  workloadTemplate:
  - opcode: createNodes
    countParam: $nodes
    nodeAllocatableStrategy:
      nodeAllocatable: {example.com/disk: 3}
      csiNodeAllocatable: {disks.example.com: {count: 39}}
  - opcode: createPodSets
    countParam: $sets
    namespacePrefix: set
    createPodsOp:
      opcode: createPods
      countParam: $pods
      collectMetrics: true
  - opcode: sleep
    durationParam: $pause
  workloads:
  - name: small
    labels: [short]
    threshold: {misc: 30, other: 40}
    params: {nodes: 5, sets: 2, pods: 10, pause: 1m30s}
  - name: large
    Threshold: 270.5
    thresholdMetricSelector:
      name: scheduler_scheduling_attempt_duration_seconds
      labels: {result: scheduled}
      dataBucket: Perc99
      expectLower: true
    params: {nodes: 5000, sets: 1, pods: 10, pause: 0s}
)";

Suite Parse(std::string_view text) {
  Result<Suite> suite = ParseSuite(text, "topic/config.yaml");
  EXPECT_TRUE(suite) << (suite ? "" : suite.error().message);
  return suite ? std::move(*suite) : Suite{};
}

std::string Problem(std::string_view text) {
  const Result<Suite> suite = ParseSuite(text, "config.yaml");
  return suite ? "" : suite.error().message;
}

TEST(Config, ReadsTestCasesAndWorkloads) {
  const Suite suite = Parse(kSuite);
  ASSERT_EQ(suite.cases.size(), 1u);
  const TestCase& basic = suite.cases[0];
  EXPECT_EQ(basic.name, "Basic");
  EXPECT_EQ(suite.PathOf(*basic.default_pod_template_path), "templates/pod.yaml");
  ASSERT_EQ(basic.operations.size(), 3u);
  // A number where a string is expected is read as a string, as in sigs.k8s.io/yaml.
  EXPECT_EQ(*basic.operations[0].node_allocatable_strategy->node_allocatable.Find("example.com/disk"), "3");
  EXPECT_EQ(basic.operations[0].node_allocatable_strategy->csi_node_allocatable.Find("disks.example.com")->count, 39);
  EXPECT_EQ(basic.operations[0].where.line, 7u);
  ASSERT_EQ(basic.workloads.size(), 2u);
  EXPECT_EQ(basic.workloads[0].threshold.For("misc"), 30);
  EXPECT_EQ(basic.workloads[0].threshold.For("unknown"), 0);
  EXPECT_EQ(basic.workloads[1].threshold.For("misc"), 270.5);
  EXPECT_EQ(SelectorOf(basic, basic.workloads[0]).name, "SchedulingThroughput");
  EXPECT_TRUE(SelectorOf(basic, basic.workloads[1]).expect_lower);
}

TEST(Config, PutsParametersInAndUnrollsPodSets) {
  const Suite suite = Parse(kSuite);
  const Result<std::vector<Operation>> operations =
      ResolveOperations(suite, suite.cases[0], suite.cases[0].workloads[0]);
  ASSERT_TRUE(operations) << operations.error().message;
  ASSERT_EQ(operations->size(), 4u);
  EXPECT_EQ((*operations)[0].count, 5);
  EXPECT_EQ((*operations)[1].code, Opcode::kCreatePods);
  EXPECT_EQ((*operations)[1].name_space, "set-0");
  EXPECT_EQ((*operations)[2].name_space, "set-1");
  EXPECT_EQ((*operations)[2].count, 10);
  EXPECT_TRUE((*operations)[2].collect_metrics);
  EXPECT_EQ((*operations)[3].duration.value, std::chrono::seconds(90));
}

std::string ProblemOf(const std::string& operations, const std::string& params) {
  const Suite suite = Parse(
      "- name: A\n  workloadTemplate:\n" + operations +
      "  - {opcode: createPods, count: 1, collectMetrics: true}\n  workloads:\n  - name: w\n    params: " + params +
      "\n");
  if (suite.cases.empty()) return "not read";
  const Result<std::vector<Operation>> resolved = ResolveOperations(suite, suite.cases[0], suite.cases[0].workloads[0]);
  return resolved ? "" : resolved.error().message;
}

TEST(Config, SaysWhichParameterIsWrong) {
  const std::string nodes = "  - {opcode: createNodes, countParam: $nodes}\n";
  EXPECT_EQ(ProblemOf(nodes, "{nodes: 3}"), "");
  EXPECT_EQ(ProblemOf(nodes, "{}"), "topic/config.yaml:6:5: workload \"w\": params: nodes is missing");
  EXPECT_EQ(ProblemOf(nodes, "{nodes: many}"),
            "topic/config.yaml:7:21: workload \"w\": params.nodes: expected a number, found string \"many\"");
  EXPECT_THAT(ProblemOf(nodes, "{nodes: -1}"), HasSubstr("params.nodes: expected a count"));
  EXPECT_EQ(ProblemOf(nodes, "{nodes: 3, more: 4}"),
            "topic/config.yaml:6:5: workload \"w\": params: more: defined, but no operation uses it");
  EXPECT_THAT(ProblemOf("  - {opcode: sleep, durationParam: $pause}\n", "{pause: long}"),
              HasSubstr("params.pause: expected a duration"));
  EXPECT_THAT(ProblemOf("  - {opcode: createPods, count: 1, steadyStateParam: $steady}\n", "{steady: 1}"),
              HasSubstr("params.steady: expected true or false, found number 1"));
  EXPECT_THAT(ProblemOf("  - {opcode: createPods, count: 1, steadyState: true}\n", "{}"),
              HasSubstr("steadyState needs a duration"));
}

TEST(Config, DevicesOfADriverAreCountedByNumberOrParameter) {
  const Suite suite = Parse(R"(
- name: A
  workloadTemplate:
  - {opcode: createResourceDriver, driverName: one, nodes: "node-*", maxClaimsPerNode: 10}
  - {opcode: createResourceDriver, driverName: other, nodes: "*", maxClaimsPerNodeParam: $devices}
  - {opcode: createResourceClaims, namespace: a, templatePath: claim.yaml, countParam: $claims}
  - {opcode: allocResourceClaims, namespace: a}
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads: [{name: w, params: {devices: 4, claims: 7}}]
)");
  const Result<std::vector<Operation>> resolved = ResolveOperations(suite, suite.cases[0], suite.cases[0].workloads[0]);
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ((*resolved)[0].max_claims_per_node, 10);
  EXPECT_EQ((*resolved)[1].max_claims_per_node, 4);
  EXPECT_EQ((*resolved)[1].driver_name, "other");
  EXPECT_EQ((*resolved)[2].count, 7);
  EXPECT_EQ((*resolved)[3].name_space, "a");
}

TEST(Config, DeviceOperationsSayWhatIsMissing) {
  const auto problem = [](const std::string& operation) {
    const Result<Suite> suite = ParseSuite("- name: A\n  workloadTemplate:\n  - " + operation +
                                               "\n  - {opcode: createPods, count: 1, collectMetrics: true}\n"
                                               "  workloads: [{name: w}]\n",
                                           "config.yaml");
    return suite ? "" : suite.error().message;
  };
  EXPECT_THAT(problem("{opcode: createResourceDriver, nodes: x}"), HasSubstr("driverName: missing"));
  EXPECT_THAT(problem("{opcode: createResourceDriver, driverName: x}"), HasSubstr("nodes: missing"));
  EXPECT_THAT(problem("{opcode: createResourceClaims, count: 1, templatePath: x}"), HasSubstr("namespace: missing"));
  EXPECT_THAT(problem("{opcode: createResourceClaims, count: 1, namespace: x}"), HasSubstr("templatePath: missing"));
  EXPECT_THAT(problem("{opcode: createResourceDriver, nodes: x, driverName: y, maxClaimsPerNodeParam: z}"),
              HasSubstr("maxClaimsPerNodeParam: expected the name of a parameter"));
}

TEST(Config, ReportsEveryMistakeWithItsPlace) {
  const std::pair<const char*, const char*> kTable[] = {
      {"name: x\n", "config.yaml:1:1: expected a list of test cases"},
      {"[]\n", "no test cases defined"},
      {"- nam: A\n", "config.yaml:1:3: [0].nam: unknown field, did you mean \"name\"?"},
      {"- name: A\n", "[0].workloadTemplate: no operations"},
      {"- name: A\n  workloadTemplate: [{opcode: barrier}]\n", "no operation collects metrics"},
      {"- name: A\n  workloadTemplate: [{opcode: jump}]\n",
       "config.yaml:2:31: [0].workloadTemplate[0].opcode: unknown opcode \"jump\", expected one of createAny, "},
      {"- name: A\n  workloadTemplate: [{count: 1}]\n", "[0].workloadTemplate[0].opcode: missing"},
      {"- name: A\n  workloadTemplate: [{opcode: createNodes, podTemplatePath: x}]\n",
       "config.yaml:2:44: [0].workloadTemplate[0].podTemplatePath: unknown field"},
      {"- name: A\n  workloadTemplate: [{opcode: createNodes, countParam: nodes}]\n",
       "expected the name of a parameter such as $initNodes, found \"nodes\""},
      {"- name: A\n  workloadTemplate: [{opcode: createNodes, count: -1}]\n", ".count: must not be negative"},
      {"- name: A\n  workloadTemplate: [{opcode: createPods, collectMetrics: true, skipWaitToCompletion: true}]\n",
       "cannot be true together with skipWaitToCompletion"},
      {"- name: A\n  workloadTemplate: [{opcode: churn, mode: stir, templatePaths: [a]}]\n",
       "expected create or recreate, found \"stir\""},
      {"- name: A\n  workloadTemplate: [{opcode: churn, mode: recreate, templatePaths: [a]}]\n",
       "must not be 0 when mode is recreate"},
      {"- name: A\n  workloadTemplate: [{opcode: barrier, stageRequirement: Started}]\n",
       "expected Scheduled or Attempted, found \"Started\""},
      {"- name: A\n  workloadTemplate: [{opcode: startCollectingMetrics}]\n", ".namespaces: missing"},
      {"- name: A\n  workloadTemplate: [{opcode: createPodSets, count: 1}]\n", ".createPodsOp: missing"},
      {"- name: A\n  workloadTemplate: [{opcode: sleep, duration: soon}]\n", "expected a duration such as"},
      {"- name: A\n  workloads: [{name: w, threshold: fast}]\n", "expected a non-negative number"},
      {"- name: A\n  workloads: [{name: w}, {name: w}]\n", "\"w\" is the name of an earlier workload"},
      {"- name: A\n- name: A\n", "\"A\" is the name of an earlier test case"},
      {"- name: A\n  workloads: [{name: w, thresholdMetricSelector: {name: x}}]\n", "dataBucket: missing"},
  };
  for (const auto& [text, problem] : kTable) EXPECT_THAT(Problem(text), HasSubstr(problem)) << text;
}

TEST(Labels, AreFilteredAsUpstreamDoes) {
  const std::vector<std::string> kLabels = {"performance", "short"};
  for (const char* filter : {"", "performance", "+short", "performance,short", "-integration-test,performance"})
    EXPECT_TRUE(LabelsMatch(filter, kLabels)) << filter;
  for (const char* filter : {"integration-test", "-short", "performance,-short", "performanc"})
    EXPECT_FALSE(LabelsMatch(filter, kLabels)) << filter;
}

TEST(Choose, TakesTestCasesAndWorkloadsByNameAndLabel) {
  const Suite suite = Parse(kSuite);
  const auto names = [&](std::vector<std::string> workloads, std::string labels) {
    std::vector<std::string> chosen;
    const Result<std::vector<Chosen>> found = Choose(suite, {.workloads = std::move(workloads), .labels = labels});
    if (!found) return std::vector<std::string>{found.error().message};
    for (const Chosen& one : *found) chosen.push_back(one.workload->name);
    return chosen;
  };
  EXPECT_THAT(names({}, ""), ElementsAre("small", "large"));
  EXPECT_THAT(names({"Basic"}, "short"), ElementsAre("small"));
  EXPECT_THAT(names({"Basic/large"}, "all"), ElementsAre("large"));
  EXPECT_THAT(names({"Fancy"}, ""), ElementsAre(AllOf(HasSubstr("\"Fancy\""), HasSubstr("test cases: Basic"))));
  EXPECT_THAT(names({}, "none"), ElementsAre(HasSubstr("no workload has the labels \"none\"")));
}

TEST(Topic, IsTheFolderWithoutUnderscores) {
  EXPECT_EQ(TopicOf("/a/event_handling/performance-config.yaml"), "eventhandling");
}

}  // namespace
}  // namespace berth::perf
