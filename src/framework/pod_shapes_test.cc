#include "framework/pod_shapes.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "api/object.h"
#include "framework/pod_info.h"
#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::MakeAffinityTerm;
using berth::testing::MakePod;
using berth::testing::PodBuilder;

PodBuilder Replica(const std::string& name) {
  return MakePod(name)
      .Node("node-of-" + name)
      .Label("app", "web")
      .Request("cpu", "500m")
      .Request("example.com/gpu", "1")
      .HostPort(80)
      .Priority(7);
}

std::string JsonOf(const std::shared_ptr<const api::Pod>& pod) { return api::EncodeJson(api::Object(pod)); }

class PodShapesTest : public ::testing::Test {
 protected:
  PodInfoPtr Pack(const api::Pod& pod) { return PodInfo::Pack(pod, RunningPodOptions(gates_), shapes_); }
  PodInfoPtr Pack(const PodBuilder& pod) { return Pack(pod.Obj()); }

  config::FeatureGates gates_;
  PodShapes shapes_;
};

TEST_F(PodShapesTest, PodsOfOneTemplateShareAShape) {
  const PodInfoPtr a = Pack(Replica("a"));
  const PodInfoPtr b = Pack(Replica("b"));
  EXPECT_EQ(shapes_.size(), 1u);
  EXPECT_EQ(&a->requests(), &b->requests());
  EXPECT_EQ(&a->labels(), &b->labels());
  EXPECT_EQ(a->name(), "a");
  EXPECT_EQ(b->name(), "b");
  const PodInfoPtr other = Pack(Replica("c").Label("tier", "front"));
  EXPECT_EQ(shapes_.size(), 2u);
  EXPECT_TRUE(other->labels().Contains(Symbol("tier")));
  EXPECT_FALSE(a->labels().Contains(Symbol("tier")));
}

// A packed pod answers every question of a plugin like one that kept its object.
TEST_F(PodShapesTest, APackedPodAnswersAsBefore) {
  api::Pod pod = Replica("a").Obj();
  pod.metadata.deletion_timestamp = api::Time(std::chrono::seconds(5));
  pod.status.start_time = api::Time(std::chrono::seconds(3));
  api::PodAffinity& apart = pod.spec.affinity.emplace().pod_anti_affinity.emplace();
  apart.required_during_scheduling_ignored_during_execution.push_back(MakeAffinityTerm("zone", {{"app", "web"}}));
  pod.spec.volumes.resize(2);
  pod.spec.volumes[0].name = "config";
  auto source = std::make_shared<api::VolumeSource>();
  source->persistent_volume_claim = {"data", true};
  pod.spec.volumes[1] = {"data", source};

  const PodInfoPtr kept = PodInfo::Make(std::make_shared<const api::Pod>(pod), RunningPodOptions(gates_));
  const PodInfoPtr packed = Pack(pod);
  EXPECT_EQ(packed->Key(), kept->Key());
  EXPECT_EQ(packed->uid(), kept->uid());
  EXPECT_EQ(packed->namespace_(), kept->namespace_());
  EXPECT_EQ(packed->labels(), kept->labels());
  EXPECT_EQ(packed->priority(), 7);
  EXPECT_EQ(packed->start_time(), kept->start_time());
  EXPECT_TRUE(packed->is_terminating());
  EXPECT_EQ(packed->requests(), kept->requests());
  EXPECT_EQ(packed->non_zero_memory(), kept->non_zero_memory());
  EXPECT_EQ(packed->host_ports(), kept->host_ports());
  EXPECT_TRUE(packed->has_affinity_terms());
  EXPECT_EQ(packed->required_anti_affinity_terms().size(), 1u);
  ASSERT_EQ(packed->volumes().size(), 1u) << "of the config map nobody reads anything";
  EXPECT_EQ(packed->volumes()[0].from().persistent_volume_claim->claim_name, "data");
  EXPECT_EQ(JsonOf(packed->shared_pod()), JsonOf(kept->shared_pod()));
  EXPECT_EQ(packed->pod().spec.node_name, "node-of-a");
}

TEST_F(PodShapesTest, TheDecodedObjectIsTheSameForEverybodyWhoAsks) {
  const PodInfoPtr packed = Pack(Replica("a"));
  std::vector<const api::Pod*> seen(4);
  std::vector<std::thread> threads;
  for (const api::Pod*& pod : seen) threads.emplace_back([&] { pod = &packed->pod(); });
  for (std::thread& thread : threads) thread.join();
  for (const api::Pod* pod : seen) EXPECT_EQ(pod, &packed->pod());
}

TEST_F(PodShapesTest, ShapesOfPodsThatAreGoneDoNotPileUp) {
  const PodInfoPtr stays = Pack(Replica("stays"));
  for (int i = 0; i < 1'000; ++i) Pack(Replica("a").Label("hash", std::to_string(i)));
  EXPECT_LE(shapes_.size(), 64u);
  EXPECT_EQ(&Pack(Replica("b"))->requests(), &stays->requests());
}

}  // namespace
}  // namespace berth::framework
