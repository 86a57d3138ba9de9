#include "framework/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::Amount;
using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using R = EventResource;
using A = ActionType;

TEST(ClusterEvent, Covers) {
  const struct {
    ClusterEvent registered;
    ClusterEvent happened;
    bool covers;
  } kCases[] = {
      {{R::kWildCard, A::kAll}, {R::kNode, A::kAdd}, true},
      {{R::kWildCard, A::kAdd}, {R::kNode, A::kAdd}, true},
      {{R::kWildCard, A::kAdd}, {R::kNode, A::kDelete}, false},
      {{R::kNode, A::kAdd}, {R::kNode, A::kAdd}, true},
      {{R::kNode, A::kAdd}, {R::kPersistentVolume, A::kAdd}, false},
      {{R::kNode, A::kAdd | A::kUpdateNodeTaint}, {R::kNode, A::kUpdateNodeTaint}, true},
      {{R::kNode, A::kAdd | A::kUpdateNodeTaint}, {R::kNode, A::kUpdateNodeLabel}, false},
      {{R::kNode, A::kUpdate}, {R::kNode, A::kUpdateNodeLabel}, true},
      {{R::kPod, A::kUpdatePodLabel}, {R::kPod, A::kUpdate}, false},
      {{R::kPod, A::kUpdate}, {R::kPod, A::kUpdate}, true},
      {{R::kPod, A::kAll}, {R::kPod, A::kUpdate}, true},
      {{R::kPod, A::kDelete}, {R::kAssignedPod, A::kDelete}, true},
      {{R::kPod, A::kUpdatePodToleration}, {R::kUnschedulablePod, A::kUpdatePodToleration}, true},
      {{R::kAssignedPod, A::kDelete}, {R::kPod, A::kDelete}, false},
      // The wildcard event moves every pod anyway, without asking what plugins registered for.
      {{R::kNode, A::kAll}, {R::kWildCard, A::kAll}, false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(c.registered.Covers(c.happened), c.covers) << c.registered.Label() << " / " << c.happened.Label();
  }
}

TEST(ClusterEvent, Labels) {
  EXPECT_EQ((ClusterEvent{R::kNode, A::kAdd}.Label()), "NodeAdd");
  EXPECT_EQ((ClusterEvent{R::kAssignedPod, A::kDelete}.Label()), "AssignedPodDelete");
  EXPECT_EQ((ClusterEvent{R::kUnschedulablePod, A::kUpdate}.Label()), "UnschedulablePodUpdate");
  EXPECT_EQ((ClusterEvent{R::kNode, A::kUpdateNodeTaint}.Label()), "NodeUpdateNodeTaint");
  EXPECT_EQ((ClusterEvent{R::kCSINode, A::kUpdate}.Label()), "storage.k8s.io/CSINodeUpdate");
  EXPECT_EQ((ClusterEvent{}.Label()), "*All");
}

TEST(EventObject, IsOfOneKind) {
  const api::Node node = MakeNode("n").Obj();
  const EventObject object(&node);
  EXPECT_EQ(object.As<api::Node>(), &node);
  EXPECT_EQ(object.As<api::Pod>(), nullptr);
  EXPECT_FALSE(object.empty());
  EXPECT_TRUE(EventObject().empty());
}

TEST(NodeUpdateActions, TellsWhatSchedulingReads) {
  const api::Node base = MakeNode("n")
                             .Label("zone", "a")
                             .Capacity("cpu", "4")
                             .Taint("gpu")
                             .Condition("Ready", "True")
                             .Condition("DiskPressure", "False")
                             .Annotation("note", "x")
                             .DeclaredFeature("F")
                             .Unschedulable()
                             .Obj();
  const struct {
    std::string_view what;
    std::function<void(api::Node&)> change;
    ActionType actions;
  } kCases[] = {
      {"nothing", [](api::Node&) {}, A::kNone},
      {"resource version", [](api::Node& n) { n.metadata.resource_version = "2"; }, A::kNone},
      {"capacity alone", [](api::Node& n) { n.status.capacity.Set(Symbol("cpu"), Amount("5")); }, A::kNone},
      {"images",
       [](api::Node& n) {
         n.status.images.push_back({{"x"}, 1});
       },
       A::kNone},
      {"another spelling of the same amount",
       [](api::Node& n) { n.status.allocatable.Set(Symbol("cpu"), Amount("4000m")); }, A::kNone},
      {"allocatable", [](api::Node& n) { n.status.allocatable.Set(Symbol("cpu"), Amount("3")); },
       A::kUpdateNodeAllocatable},
      {"labels", [](api::Node& n) { n.metadata.labels.Erase(Symbol("zone")); }, A::kUpdateNodeLabel},
      {"taints", [](api::Node& n) { n.spec.taints.clear(); }, A::kUpdateNodeTaint},
      {"uncordoned", [](api::Node& n) { n.spec.unschedulable = false; }, A::kUpdateNodeTaint},
      {"condition", [](api::Node& n) { n.status.conditions[0].status = "False"; }, A::kUpdateNodeCondition},
      {"order of conditions", [](api::Node& n) { std::swap(n.status.conditions[0], n.status.conditions[1]); },
       A::kNone},
      {"annotations", [](api::Node& n) { n.metadata.annotations.Set("note", "y"); }, A::kUpdateNodeAnnotation},
      {"features", [](api::Node& n) { n.status.declared_features.clear(); }, A::kUpdateNodeDeclaredFeature},
      {"two at once",
       [](api::Node& n) {
         n.spec.taints.clear();
         n.metadata.labels = {};
       },
       A::kUpdateNodeTaint | A::kUpdateNodeLabel},
  };
  for (const auto& c : kCases) {
    api::Node after = base;
    c.change(after);
    EXPECT_EQ(NodeUpdateActions(base, after), c.actions) << c.what;
  }

  api::Node cordoned = base, open = base;
  open.spec.unschedulable = false;
  EXPECT_EQ(NodeUpdateActions(open, cordoned), A::kNone) << "cordoning helps nobody";
  config::FeatureGates gates;
  ASSERT_TRUE(gates.Set("NodeDeclaredFeatures", false).ok());
  api::Node featureless = base;
  featureless.status.declared_features.clear();
  EXPECT_EQ(NodeUpdateActions(base, featureless, gates), A::kNone);
}

TEST(PodUpdateActions, TellsParticularChangesApart) {
  const api::Pod base =
      MakePod("p").Label("app", "web").Request("cpu", "1").Request("memory", "1Gi").Gate("g1").Gate("g2").Obj();
  const auto set_request = [](const char* name, const char* amount) {
    return [=](api::Pod& p) { p.spec.containers[0].resources.requests.Set(Symbol(name), Amount(amount)); };
  };
  const struct {
    std::string_view what;
    std::function<void(api::Pod&)> change;
    ActionType actions;
  } kCases[] = {
      {"something else", [](api::Pod& p) { p.metadata.annotations.Set("a", "b"); }, A::kUpdate},
      {"labels", [](api::Pod& p) { p.metadata.labels.Set(Symbol("app"), Symbol("db")); }, A::kUpdatePodLabel},
      {"less cpu", set_request("cpu", "999m"), A::kUpdatePodScaleDown},
      {"more cpu", set_request("cpu", "2"), A::kUpdate},
      {"a request gone", [](api::Pod& p) { p.spec.containers[0].resources.requests.Erase(Symbol("memory")); },
       A::kUpdatePodScaleDown},
      {"one gate of two gone", [](api::Pod& p) { p.spec.scheduling_gates.pop_back(); }, A::kUpdate},
      {"all gates gone", [](api::Pod& p) { p.spec.scheduling_gates.clear(); }, A::kUpdatePodSchedulingGatesEliminated},
      {"a toleration more", [](api::Pod& p) { p.spec.tolerations.emplace_back(); }, A::kUpdatePodToleration},
      {"a claim made",
       [](api::Pod& p) {
         p.status.resource_claim_statuses.push_back({"gpu", "gpu-x"});
       },
       A::kUpdatePodGeneratedResourceClaim},
      {"two at once",
       [](api::Pod& p) {
         p.metadata.labels = {};
         p.spec.scheduling_gates.clear();
       },
       A::kUpdatePodLabel | A::kUpdatePodSchedulingGatesEliminated},
  };
  for (const auto& c : kCases) {
    api::Pod after = base;
    c.change(after);
    EXPECT_EQ(PodUpdateActions(base, after), c.actions) << c.what;
  }
}

TEST(EventsOf, OneForEachAction) {
  EXPECT_THAT(EventsOf(R::kNode, A::kNone), IsEmpty());
  EXPECT_THAT(EventsOf(R::kNode, A::kUpdateNodeTaint | A::kUpdateNodeLabel),
              ElementsAre(ClusterEvent{R::kNode, A::kUpdateNodeLabel}, ClusterEvent{R::kNode, A::kUpdateNodeTaint}));
  EXPECT_THAT(EventsOf(R::kAssignedPod, A::kUpdate), ElementsAre(ClusterEvent{R::kAssignedPod, A::kUpdate}));
  EXPECT_THAT(EventsOf(R::kPod, A::kUpdatePodGeneratedResourceClaim),
              ElementsAre(ClusterEvent{R::kPod, A::kUpdatePodGeneratedResourceClaim}));
}

}  // namespace
}  // namespace berth::framework
