#include "sim/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/load.h"
#include "plugins/registry.h"
#include "report/capacity_report.h"
#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

api::Pod Small() { return MakePod("small-pod").Request("cpu", "150m").Request("memory", "100Mi").Obj(); }

class CapacityTest : public ::testing::Test {
 protected:
  void AddNode(std::string_view name, std::string_view cpu) {
    Add(MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "4Gi").Capacity("pods", "110").Obj());
  }
  template <class T>
  void Add(T value) {
    objects.push_back(api::MakeObject(std::move(value)));
  }
  static CapacityShare Share(api::Pod pod, size_t per_round = 1) {
    return {std::make_shared<const api::Pod>(std::move(pod)), per_round};
  }

  CapacityReport Measure(const CapacityRequest& request) {
    Result<std::unique_ptr<Simulation>> made = Simulation::Create(
        objects, config::DefaultConfiguration(gates), plugins::InTreeRegistry(), gates, {.verify_incremental = true});
    EXPECT_TRUE(made);
    (*made)->Run();
    return MeasureCapacity(**made, request, gates);
  }

  config::FeatureGates gates;
  std::vector<api::Object> objects;
};

TEST_F(CapacityTest, CountsWhatFitsAndSaysWhatStopsTheNextOne) {
  for (const char* name : {"kube-node-1", "kube-node-2", "kube-node-3", "kube-node-4"}) AddNode(name, "2");
  const CapacityReport report = Measure({{Share(Small())}, 1000});
  EXPECT_EQ(report.instances(), 52u);
  EXPECT_EQ(report.rounds, 52u);
  EXPECT_EQ(report.stop, CapacityStop::kUnschedulable);
  EXPECT_THAT(report.message, HasSubstr("0/4 nodes are available: 4 Insufficient cpu."));
  EXPECT_THAT(report.shares[0].by_node, ElementsAre(Pair("kube-node-1", 13), Pair("kube-node-2", 13),
                                                    Pair("kube-node-3", 13), Pair("kube-node-4", 13)));
}

TEST_F(CapacityTest, PodsOfTheInputHaveTheirTurnFirst) {
  AddNode("node-1", "2");
  Add(MakePod("waiting").Request("cpu", "1500m").Obj());
  EXPECT_EQ(Measure({{Share(Small())}, 1000}).instances(), 3u);
}

TEST_F(CapacityTest, RoundsEndWithTheFirstThatDoesNotFit) {
  AddNode("node-1", "2");
  AddNode("node-2", "2");
  const api::Pod web = MakePod("web").Request("cpu", "100m").Obj();
  const api::Pod db = MakePod("db").Request("cpu", "800m").Obj();
  const CapacityReport report = Measure({{Share(web, 3), Share(db)}, 1000});
  // Each node takes a db and the pods around it: 2 * (100 * 3 + 800) and no more than half a third round.
  EXPECT_EQ(report.rounds, 3u);
  EXPECT_EQ(report.shares[0].instances, 12u);
  EXPECT_EQ(report.shares[1].instances, 3u);
  EXPECT_EQ(report.stopped_share, 1u);
  EXPECT_THAT(report::ToText(report, false),
              HasSubstr("3 complete round(s) of 3 web and 1 db. The next db has no place."));
}

TEST_F(CapacityTest, StopsAtTheLimit) {
  AddNode("node-1", "2");
  const CapacityReport report = Measure({{Share(Small())}, 5});
  EXPECT_EQ(report.stop, CapacityStop::kLimitReached);
  EXPECT_EQ(report::ToText(report, false),
            "The cluster can schedule 5 instance(s) of the pod small-pod.\n"
            "\n"
            "Termination reason: LimitReached: Maximum number of pods simulated: 5\n");
}

TEST_F(CapacityTest, InstancesPreemptOnlyWhenTheyMay) {
  AddNode("node-1", "2");
  Add(MakePod("low").Request("cpu", "1900m").Node("node-1").Priority(0).Obj());
  const api::Pod high = MakePod("high").Request("cpu", "1").Priority(1000).Obj();
  const CapacityReport without = Measure({{Share(high)}, 1000});
  EXPECT_EQ(without.instances(), 0u);
  EXPECT_THAT(without.message, HasSubstr("preemption: not eligible due to preemptionPolicy=Never."));
  const CapacityReport with = Measure({{Share(high)}, 1000, /*may_preempt=*/true});
  EXPECT_EQ(with.instances(), 2u);
  ASSERT_EQ(with.preempted.size(), 1u);
  EXPECT_EQ(with.preempted[0].key, "default/low");
}

TEST_F(CapacityTest, AGatedPodAndAPodOfAnotherSchedulerNeverFit) {
  AddNode("node-1", "2");
  api::Pod held = MakePod("held").Obj();
  held.spec.scheduling_gates.push_back({"example.com/approval"});
  EXPECT_EQ(Measure({{Share(held)}, 10}).stop, CapacityStop::kGated);
  EXPECT_EQ(Measure({{Share(MakePod("other").SchedulerName("other").Obj())}, 10}).stop, CapacityStop::kForeign);
}

TEST_F(CapacityTest, VerboseTellsRequirementsAndPlaces) {
  AddNode("node-1", "300m");
  api::Pod pod = Small();
  pod.spec.node_selector[Symbol("disk")] = Symbol("ssd");
  objects.clear();
  Add(MakeNode("node-1").Capacity("cpu", "300m").Capacity("memory", "4Gi").Label("disk", "ssd").Obj());
  EXPECT_THAT(report::ToText(Measure({{Share(pod)}, 2}), true),
              "small-pod pod requirements:\n"
              "\t- CPU: 150m\n"
              "\t- Memory: 100Mi\n"
              "\t- NodeSelector: disk=ssd\n"
              "\n"
              "The cluster can schedule 2 instance(s) of the pod small-pod.\n"
              "\n"
              "Termination reason: LimitReached: Maximum number of pods simulated: 2\n"
              "\n"
              "Pod distribution among nodes:\n"
              "small-pod\n"
              "\t- node-1: 2 instance(s)\n");
}

TEST_F(CapacityTest, JsonHasTheSame) {
  AddNode("node-1", "300m");
  const std::string json = report::ToJson(Measure({{Share(Small())}, 10}));
  EXPECT_THAT(json, HasSubstr("\"kind\": \"CapacityReport\""));
  EXPECT_THAT(json, HasSubstr("\"reason\": \"Unschedulable\",\n        \"pod\": \"default/small-pod\""));
  EXPECT_THAT(json, HasSubstr("\"node\": \"node-1\",\n                    \"instances\": 2"));
}

class PodTemplateTest : public ::testing::Test {
 protected:
  ~PodTemplateTest() override { std::filesystem::remove(path_); }
  Result<PodTemplate> Read(const std::string& text, const std::vector<api::Object>& cluster = {}) {
    std::ofstream(path_) << text;
    return ReadPodTemplate(path_, cluster);
  }
  const std::string path_ = ::testing::TempDir() + "/pod_template_" + std::to_string(getpid()) + ".yaml";
};

constexpr char kWeb[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: c}]";

TEST_F(PodTemplateTest, FindsThePriorityClassInTheCluster) {
  const Result<PodTemplate> unknown = Read(std::string(kWeb) + ", priorityClassName: high}\n");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no PriorityClass \"high\" in the input"));
  api::PriorityClass high;
  high.metadata.name = "high";
  high.value = 7;
  const Result<PodTemplate> found = Read(std::string(kWeb) + ", priorityClassName: high}\n", {api::MakeObject(high)});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->pod->spec.priority, 7);
  EXPECT_TRUE(found->others.empty());
}

TEST_F(PodTemplateTest, WantsExactlyOnePod) {
  const std::string web = std::string(kWeb) + "}\n";
  std::string db = web;
  db.replace(db.find("web"), 3, "db");
  const Result<PodTemplate> two = Read(web + "---\n" + db);
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("expected one pod, found 2: Pod default/db, Pod default/web"));
  const std::string service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n";
  const Result<PodTemplate> none = Read(service);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("expected a pod, found none"));
  const Result<PodTemplate> both = Read(web + "---\n" + service);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->others.size(), 1u);
}

}  // namespace
}  // namespace berth::sim
