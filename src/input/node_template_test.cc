#include "input/node_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::input {
namespace {

using ::testing::ElementsAre;

std::string Label(const api::Node& node, std::string_view key) {
  const Symbol* value = node.metadata.labels.Find(Symbol(key));
  return value ? std::string(value->str()) : "-";
}

std::string Amount(const api::Node& node, std::string_view name) {
  const api::Quantity* amount = node.status.allocatable.Find(Symbol(name));
  return amount ? amount->ToString() : "-";
}

TEST(NodeTemplate, MakesNodesAsAWholeDescriptionSays) {
  const Result<NodeTemplate> parsed = ParseNodeTemplate(
      "count=4,cpu=32,memory=128Gi,pods=50,zones=3,name=worker,label.disk=ssd,label.example.com/rack=r1,"
      "taint.gpu=true:NoSchedule,taint.gpu=NoExecute,nvidia.com/gpu=8");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const std::vector<api::Node> nodes = MakeNodes(*parsed);
  ASSERT_EQ(nodes.size(), 4u);
  const api::Node& last = nodes.back();
  EXPECT_EQ(last.metadata.name, "worker-4");
  EXPECT_EQ(Label(last, "kubernetes.io/hostname"), "worker-4");
  EXPECT_EQ(Label(last, "kubernetes.io/os"), "linux");
  EXPECT_EQ(Label(last, "kubernetes.io/arch"), "amd64");
  EXPECT_EQ(Label(last, "topology.kubernetes.io/zone"), "zone-1");
  EXPECT_EQ(Label(nodes[2], "topology.kubernetes.io/zone"), "zone-3");
  EXPECT_EQ(Label(last, "topology.kubernetes.io/region"), "region-1");
  EXPECT_EQ(Label(last, "disk"), "ssd");
  EXPECT_EQ(Label(last, "example.com/rack"), "r1");
  EXPECT_EQ(Amount(last, "cpu"), "32");
  EXPECT_EQ(Amount(last, "memory"), "128Gi");
  EXPECT_EQ(Amount(last, "pods"), "50");
  EXPECT_EQ(Amount(last, "nvidia.com/gpu"), "8");
  ASSERT_EQ(last.spec.taints.size(), 2u);
  EXPECT_EQ(last.spec.taints[0].ToString(), "gpu=true:NoSchedule");
  EXPECT_EQ(last.spec.taints[1].ToString(), "gpu:NoExecute");
}

TEST(NodeTemplate, WhatIsNotSaid) {
  const Result<NodeTemplate> parsed = ParseNodeTemplate("cpu=4,memory=8Gi");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const std::vector<api::Node> nodes = MakeNodes(*parsed);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].metadata.name, "node-1");
  EXPECT_EQ(Amount(nodes[0], "pods"), "110");
  EXPECT_EQ(Label(nodes[0], "topology.kubernetes.io/zone"), "zone-1");
}

TEST(NodeTemplate, NodesComeBesideOthers) {
  api::Node first;
  first.metadata.name = "node-2";
  first.metadata.labels.Set(Symbol("topology.kubernetes.io/zone"), Symbol("eu-1b"));
  first.metadata.labels.Set(Symbol("topology.kubernetes.io/region"), Symbol("eu-1"));
  api::Node second;
  second.metadata.name = "other";
  second.metadata.labels.Set(Symbol("topology.kubernetes.io/zone"), Symbol("eu-1a"));
  const std::vector<const api::Node*> existing = {&first, &second};
  const std::vector<api::Node> nodes = MakeNodes(*ParseNodeTemplate("count=3,cpu=4,memory=8Gi"), existing);
  std::vector<std::string> names, zones;
  for (const api::Node& node : nodes) {
    names.push_back(node.metadata.name);
    zones.push_back(Label(node, "topology.kubernetes.io/zone"));
  }
  EXPECT_THAT(names, ElementsAre("node-1", "node-3", "node-4"));
  EXPECT_THAT(zones, ElementsAre("eu-1a", "eu-1b", "eu-1a"));
  EXPECT_EQ(Label(nodes[1], "topology.kubernetes.io/region"), "eu-1");

  const std::vector<api::Node> named = MakeNodes(*ParseNodeTemplate("cpu=4,memory=8Gi,zones=eu-1b:x"), existing);
  EXPECT_EQ(Label(named[0], "topology.kubernetes.io/zone"), "eu-1b");
}

TEST(NodeTemplate, WhatIsWrongIsSaidWithItsPlace) {
  const struct {
    std::string_view text;
    std::string_view error;
  } cases[] = {
      {"", "character 1: expected KEY=VALUE, found \"\""},
      {"cpu=4,memory=1Gi,", "character 18: expected KEY=VALUE, found \"\""},
      {"count=0,cpu=4,memory=1Gi", "character 7: count: expected 1 to 100000, found \"0\""},
      {"count=-1,cpu=4,memory=1Gi", "character 7: count: expected 1 to 100000, found \"-1\""},
      {"count=1000000000000000000000,cpu=4,memory=1Gi", "character 7: count: expected 1 to 100000"},
      {"cpu=4x,memory=1Gi", "character 5: cpu: expected a quantity such as 500m or 2Gi, found \"4x\""},
      {"cpu=-4,memory=1Gi", "character 5: cpu: must not be negative, found -4"},
      {"cpu=4", "memory: missing: expected cpu=N,memory=N, found \"cpu=4\""},
      {"cpu=4,cpu=5,memory=1Gi", "character 7: cpu is given twice"},
      {"cpus=4,cpu=1,memory=1Gi", "character 1: expected count, name, zones, label.KEY, taint.KEY, devices, "},
      {"cpu=4,memory=1Gi,name=No_Good", "character 23: name: bad name \"No_Good\": "},
      {"cpu=4,memory=1Gi,label.a b=c", "character 24: label.a b: bad key: "},
      {"cpu=4,memory=1Gi,label.a=b c", "character 26: label.a: bad value \"b c\": "},
      {"cpu=4,memory=1Gi,taint.gpu=true", "character 28: taint.gpu: expected [VALUE:]EFFECT with NoSchedule, "},
      {"cpu=4,memory=1Gi,zones=0", "character 24: zones: expected 1 to 1000, found 0"},
      {"cpu=4,memory=1Gi,zones=", "character 24: zones: expected a number, or names"},
  };
  for (const auto& [text, error] : cases) {
    const Result<NodeTemplate> parsed = ParseNodeTemplate(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr(error)) << text;
  }
}

}  // namespace
}  // namespace berth::input
