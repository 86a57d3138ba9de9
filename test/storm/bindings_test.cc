#include "storm/bindings.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/builders.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// One node with room for one pod, and a scheduler that binds "a" there.
struct OneNode {
  OneNode() {
    AddNode();
    AddPod("a");
  }

  void AddNode() {
    store.Put(berth::testing::MakeNode("n").Capacity("cpu", "1").Capacity("memory", "1Gi").Capacity("pods", "5").Obj());
  }
  void AddPod(const std::string& name) {
    store.Put(berth::testing::MakePod(name).Uid(name + "-uid").Request("cpu", "1").Obj());
  }
  void SetPhase(const std::string& name, const std::string& phase) {
    api::Pod pod = *store.Find<api::Pod>("default/" + name);
    pod.status.phase = phase;
    store.Put(std::move(pod));
  }
  // The decision knew what is there now.
  SentBinding Decide(const std::string& name) const {
    return {.uid = name + "-uid", .node = "n", .nodes_seen = store.revision(), .pods_seen = store.revision()};
  }
  // The first violation: of what is sent, or of what arrives.
  std::string Bind(const SentBinding& binding) {
    if (const auto found = bindings.OnSent(process, binding)) return found->invariant;
    const std::string name = binding.uid.substr(0, binding.uid.find('-'));
    const Write write{.write_class = WriteClass::kBind,
                      .process = "p",
                      .life = process.life(),
                      .sent = timeline.Now(),
                      .key = "default/" + name,
                      .uid = binding.uid,
                      .node = "n"};
    if (const auto found = bindings.Check(write)) return found->invariant;
    api::Pod pod = *store.Find<api::Pod>(write.key);
    pod.spec.node_name = "n";
    store.Put(std::move(pod));
    bindings.OnBound(write);
    return "";
  }

  Timeline timeline;
  Store store{timeline};
  Process process{timeline, "p", 1};
  Bindings bindings{timeline, store};
};

TEST(Bindings, ANodeThatGoesAfterTheDecisionIsNobodysFault) {
  OneNode world;
  const SentBinding decided = world.Decide("a");
  world.store.Delete<api::Node>("n");
  EXPECT_EQ(world.Bind(decided), "");
}

TEST(Bindings, ANodeThatWasGoneBeforeTheDecisionIsNotToBeChosen) {
  OneNode world;
  world.store.Delete<api::Node>("n");
  EXPECT_EQ(world.Bind(world.Decide("a")), "no pod is bound to a node that was gone");
}

TEST(Bindings, ANodeThatComesBackAfterTheDecisionDoesNotExcuseIt) {
  OneNode world;
  world.store.Delete<api::Node>("n");
  SentBinding decided = world.Decide("a");
  world.timeline.RunUntil(1s);
  world.AddNode();
  EXPECT_EQ(world.Bind(decided), "") << "which may have been told of the new node";
  world.AddPod("b");
  world.store.Delete<api::Node>("n");
  decided = world.Decide("b");
  world.timeline.RunUntil(2s);
  world.AddNode();
  decided.age = 1s;
  EXPECT_EQ(world.Bind(decided), "no pod is bound to a node that was gone");
}

TEST(Bindings, ANodeThatGrowsAfterTheDecisionDoesNotExcuseIt) {
  OneNode world;
  EXPECT_EQ(world.Bind(world.Decide("a")), "");
  world.AddPod("b");
  SentBinding decided = world.Decide("b");
  decided.age = 1s;
  world.timeline.RunUntil(1s);
  world.store.Put(
      berth::testing::MakeNode("n").Capacity("cpu", "2").Capacity("memory", "1Gi").Capacity("pods", "5").Obj());
  EXPECT_EQ(world.Bind(decided), "no node is over its allocatable by our binds");
}

// Storm seed 731.
TEST(Bindings, APodThatWasMeantToBeThereBeforeTheNodeGrewIsNotOverIt) {
  OneNode world;
  world.AddPod("b");
  SentBinding early = world.Decide("a");
  early.age = 1s;
  world.timeline.RunUntil(1s);
  world.store.Put(
      berth::testing::MakeNode("n").Capacity("cpu", "2").Capacity("memory", "1Gi").Capacity("pods", "5").Obj());
  EXPECT_EQ(world.Bind(world.Decide("b")), "");
  EXPECT_EQ(world.Bind(early), "");
  world.AddPod("c");
  EXPECT_EQ(world.Bind(world.Decide("c")), "no node is over its allocatable by our binds");
}

TEST(Bindings, APodThatWasBoundBeforeTheDecisionIsNotToBeBound) {
  OneNode world;
  const SentBinding early = world.Decide("a");
  EXPECT_EQ(world.Bind(early), "");
  EXPECT_EQ(world.bindings.OnSent(world.process, early), std::nullopt) << "which could not know";
  EXPECT_EQ(world.Bind(world.Decide("a")), "no pod is bound twice");
}

TEST(Bindings, APodThatWasGoneBeforeTheDecisionIsNotToBeBound) {
  OneNode world;
  world.AddPod("b");
  const SentBinding early = world.Decide("a");
  world.SetPhase("a", "Failed");
  EXPECT_EQ(world.bindings.OnSent(world.process, early), std::nullopt);
  EXPECT_EQ(world.Bind(world.Decide("a")), "no pod is bound that was gone");
  world.SetPhase("a", "Pending");
  EXPECT_EQ(world.bindings.OnSent(world.process, world.Decide("a")), std::nullopt);
  world.store.Delete<api::Pod>("default/b");
  EXPECT_EQ(world.Bind(world.Decide("b")), "no pod is bound that was gone");
}

TEST(Bindings, ANodeHoldsNoMoreThanItsAllocatable) {
  OneNode world;
  world.AddPod("b");
  EXPECT_EQ(world.Bind(world.Decide("a")), "");
  EXPECT_EQ(world.Bind(world.Decide("b")), "no node is over its allocatable by our binds");
}

TEST(Bindings, APodThatReturnsAfterTheDecisionMayComeToAFullNode) {
  OneNode world;
  world.AddPod("b");
  const SentBinding decided = world.Decide("a");
  world.SetPhase("a", "Failed");
  const SentBinding other = world.Decide("b");
  world.SetPhase("a", "Pending");
  EXPECT_EQ(world.Bind(decided), "");
  EXPECT_EQ(world.Bind(other), "") << "which could not know that the first one is bound after all";
  world.AddPod("c");
  EXPECT_EQ(world.Bind(world.Decide("c")), "no node is over its allocatable by our binds");
}

TEST(Bindings, APodThatHadReturnedBeforeTheDecisionCountsLikeAnyOther) {
  OneNode world;
  world.AddPod("b");
  EXPECT_EQ(world.Bind(world.Decide("b")), "");
  world.SetPhase("a", "Failed");
  world.SetPhase("a", "Pending");
  EXPECT_EQ(world.Bind(world.Decide("a")), "no node is over its allocatable by our binds");
}

}  // namespace
}  // namespace berth::storm
