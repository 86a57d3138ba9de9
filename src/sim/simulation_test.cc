#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "plugins/registry.h"
#include "plugins/volume/claims.h"
#include "report/report.h"
#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeCsiNode;
using berth::testing::MakeNode;
using berth::testing::MakePdb;
using berth::testing::MakePod;
using berth::testing::MakePv;
using berth::testing::MakePvc;
using berth::testing::MakeStorageClass;
using berth::testing::NodeBuilder;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

NodeBuilder SmallNode(std::string_view name, std::string_view cpu = "4") {
  return MakeNode(name).Capacity("cpu", cpu).Label("kubernetes.io/hostname", name);
}
PodBuilder SmallPod(std::string_view name, std::string_view cpu = "1") { return MakePod(name).Request("cpu", cpu); }

class SimulationTest : public ::testing::Test {
 protected:
  template <class... T>
  void Add(T... values) {
    (..., objects.push_back(api::MakeObject(std::move(values))));
  }

  const SimulationReport& Run(uint64_t seed = 1) {
    Result<std::unique_ptr<Simulation>> made = Simulation::Create(objects, configuration, plugins::InTreeRegistry(),
                                                                  gates, {.seed = seed, .verify_incremental = true});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    simulation = std::move(*made);
    return report = simulation->Run();
  }

  // "node", "Pending", "Gated" … of a pod that was pending.
  std::string Fate(std::string_view name) const { return FateOf(Report(name)); }
  static std::string FateOf(const PodReport& pod) {
    switch (pod.outcome) {
      case PodOutcome::kScheduled:
        return pod.node;
      case PodOutcome::kPending:
        return "Pending";
      case PodOutcome::kGated:
        return "Gated";
      case PodOutcome::kForeign:
        return "Foreign";
      case PodOutcome::kPreempted:
        return "Preempted";
    }
    return "?";
  }
  const PodReport& Report(std::string_view name) const {
    for (const PodReport& pod : report.pods) {
      if (pod.key == "default/" + std::string(name)) return pod;
    }
    ADD_FAILURE() << "no report of " << name;
    static const PodReport kNone;
    return kNone;
  }
  std::vector<std::string> Victims() const {
    std::vector<std::string> victims;
    for (const PodReport& pod : report.preempted) victims.push_back(pod.key + " for " + pod.preempted_by);
    return victims;
  }

  config::FeatureGates gates;
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates);
  std::vector<api::Object> objects;
  std::unique_ptr<Simulation> simulation;
  SimulationReport report;
};

TEST_F(SimulationTest, MorePodsMayComeAfterARun) {
  Add(SmallNode("a", "2").Obj(), SmallPod("first").Obj());
  Run();
  simulation->Submit(std::make_shared<const api::Pod>(SmallPod("second").Obj()));
  report = simulation->Run();
  EXPECT_EQ(Fate("first"), "a");
  EXPECT_EQ(Fate("second"), "a");
  simulation->Submit(std::make_shared<const api::Pod>(SmallPod("third").Obj()));
  report = simulation->Run();
  EXPECT_EQ(Fate("third"), "Pending");
  EXPECT_EQ(report.pods.size(), 3u);
}

TEST_F(SimulationTest, NothingToDo) {
  EXPECT_THAT(Run().pods, IsEmpty());
  EXPECT_EQ(report.nodes, 0u);
  EXPECT_EQ(report::ToTable(report),
            "POD  NODE  OUTCOME    DETAIL\n\n0 of 0 pods scheduled onto 0 nodes; 0 pods were bound before.\n");
}

TEST_F(SimulationTest, WithoutNodesEveryPodPends) {
  Add(SmallPod("a").Obj(), SmallPod("b").NominatedNode("gone").Obj());
  Run();
  EXPECT_EQ(Fate("a"), "Pending");
  EXPECT_EQ(Report("a").message, "no nodes available to schedule pods");
  EXPECT_EQ(Report("b").nominated_node, "");
}

TEST_F(SimulationTest, PodsThatNeedNoPlaceAreLeftAlone) {
  Add(SmallNode("n").Obj(), SmallPod("bound").Node("n").Obj(), SmallPod("elsewhere").Node("unknown").Obj(),
      SmallPod("done").Phase("Succeeded").Obj(), SmallPod("failed").Node("n").Phase("Failed").Obj());
  Run();
  EXPECT_THAT(report.pods, IsEmpty());
  EXPECT_EQ(report.bound_before, 1u);
  EXPECT_EQ(report.lost.size(), 1u) << "its node is not there";
}

TEST_F(SimulationTest, PodsOfOtherSchedulersAreNotOurs) {
  // Its nomination must not count either.
  Add(SmallNode("n", "1").Obj(), SmallPod("theirs").SchedulerName("other").NominatedNode("n").Priority(5).Obj(),
      SmallPod("ours").Obj());
  Run();
  EXPECT_EQ(Fate("theirs"), "Foreign");
  EXPECT_EQ(Report("theirs").message, "no profile has the name \"other\"");
  EXPECT_EQ(Fate("ours"), "n");
}

TEST_F(SimulationTest, PreemptionLeavesPodsOfOtherSchedulersOutOfTheQueue) {
  Add(SmallNode("n", "1").Obj(), SmallPod("theirs").SchedulerName("other").NominatedNode("n").Obj(),
      SmallPod("low").Node("n").Obj(), SmallPod("high").Priority(9).Obj());
  Run();
  EXPECT_EQ(Fate("high"), "n");
  EXPECT_EQ(Fate("theirs"), "Foreign");
}

TEST_F(SimulationTest, APodThatIsBeingDeletedIsNotScheduled) {
  Add(SmallNode("n").Obj(), SmallPod("going").Terminating().Obj());
  Run();
  EXPECT_EQ(Fate("going"), "Pending");
  EXPECT_EQ(Report("going").message, "skip schedule deleting pod: default/going");
}

TEST_F(SimulationTest, GatedPodsSayWhatHoldsThem) {
  Add(SmallNode("n").Obj(), SmallPod("held").Gate("example.com/quota").Obj(), SmallPod("free").Obj());
  Run();
  EXPECT_EQ(Fate("held"), "Gated");
  EXPECT_EQ(Report("held").message, "waiting for scheduling gates: [example.com/quota]");
  EXPECT_EQ(Fate("free"), "n");
}

TEST_F(SimulationTest, TheImportantComeFirstThenTheOld) {
  Add(SmallNode("n", "1").Obj(), SmallPod("old").CreatedAt("2024-01-01T00:00:00Z").Obj(),
      SmallPod("new").CreatedAt("2024-02-01T00:00:00Z").Obj(), SmallPod("a-undated").Obj());
  Run();
  EXPECT_EQ(Fate("old"), "n");
  EXPECT_EQ(Fate("new"), "Pending");
  EXPECT_EQ(Report("new").message,
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are "
            "available: 1 No preemption victims found for incoming pod.");

  Add(SmallPod("boss").Priority(1).Obj());
  Run();
  EXPECT_EQ(Fate("boss"), "n");
  EXPECT_EQ(Fate("old"), "Pending");
  EXPECT_THAT(Victims(), IsEmpty());
}

TEST_F(SimulationTest, APodThatPreemptsGetsTheNode) {
  Add(SmallNode("n", "2").Obj(), SmallPod("low-1").Node("n").Obj(), SmallPod("low-2").Node("n").Priority(1).Obj(),
      SmallPod("high").Priority(10).Obj(), SmallPod("opportunist").Obj());
  Run();
  EXPECT_EQ(Fate("high"), "n");
  EXPECT_TRUE(Report("high").preempting);
  EXPECT_EQ(Report("high").nominated_node, "");
  EXPECT_THAT(Victims(), ElementsAre("default/low-1 for default/high"));
  // It was tried before the freed room was taken, but must not take what is nominated to another pod.
  EXPECT_EQ(Fate("opportunist"), "Pending");
  EXPECT_EQ(report.preempted[0].node, "n");
}

TEST_F(SimulationTest, APodScheduledInThisRunMayBePreemptedToo) {
  // `high` fits nowhere until its friend is placed, which happens later; by then `filler` has the room.
  Add(SmallNode("n", "2").Obj(), SmallPod("filler").Priority(1).Obj(),
      SmallPod("friend").Label("app", "friend").Priority(10).CreatedAt("2024-02-01T00:00:00Z").Obj(),
      SmallPod("high")
          .Priority(10)
          .CreatedAt("2024-01-01T00:00:00Z")
          .PodAffinity("kubernetes.io/hostname", {{"app", "friend"}})
          .Obj());
  Run();
  EXPECT_EQ(Fate("friend"), "n");
  EXPECT_EQ(Fate("high"), "n");
  EXPECT_EQ(Fate("filler"), "Preempted");
  EXPECT_EQ(Report("filler").node, "n");
  EXPECT_EQ(Report("filler").preempted_by, "default/high");
  EXPECT_THAT(Victims(), ElementsAre("default/filler for default/high"));
}

TEST_F(SimulationTest, TerminatingVictimsGoWithoutMuchAdo) {
  Add(SmallNode("n", "1").Obj(), SmallPod("dying").Node("n").Terminating().Obj(), SmallPod("high").Priority(10).Obj());
  Run();
  EXPECT_EQ(Fate("high"), "n");
  EXPECT_THAT(Victims(), ElementsAre("default/dying for default/high"));
}

TEST_F(SimulationTest, ANeverPreemptingPodWaits) {
  Add(SmallNode("n", "1").Obj(), SmallPod("low").Node("n").Obj(),
      SmallPod("polite").Priority(10).PreemptionPolicy("Never").Obj());
  Run();
  EXPECT_EQ(Fate("polite"), "Pending");
  EXPECT_THAT(Report("polite").message, HasSubstr("not eligible due to preemptionPolicy=Never"));
  EXPECT_THAT(Victims(), IsEmpty());
}

// Each needs what the other holds and outranks nobody else: the simulation must end.
TEST_F(SimulationTest, PodsThatCannotAllFitComeToRest) {
  Add(SmallNode("n", "1").Obj(), SmallNode("m", "1").Obj());
  for (int i = 0; i < 12; ++i) {
    Add(SmallPod("p" + std::to_string(i))
            .Priority(i % 5)
            .Label("app", i % 2 ? "odd" : "even")
            .PodAntiAffinity("kubernetes.io/hostname", {{"app", i % 2 ? "even" : "odd"}})
            .Obj());
  }
  Run();
  EXPECT_EQ(report.Count(PodOutcome::kScheduled), 2u);
}

TEST_F(SimulationTest, TheSameSeedGivesTheSameBytes) {
  for (int i = 0; i < 5; ++i) Add(SmallNode("n" + std::to_string(i)).Obj());
  for (int i = 0; i < 12; ++i) Add(SmallPod("p" + std::to_string(i)).Priority(i % 3).Obj());
  const std::string first = report::ToJson(Run(7));
  std::reverse(objects.begin(), objects.end());
  EXPECT_EQ(report::ToJson(Run(7)), first);
}

TEST_F(SimulationTest, APodWhoseCyclesFailIsGivenUp) {
  // The class has no binding mode, which the API server would not accept.
  api::StorageClass broken = MakeStorageClass("broken");
  broken.volume_binding_mode.reset();
  broken.provisioner = "kubernetes.io/no-provisioner";
  Add(SmallNode("n").Obj(), broken, MakePvc("data", {.storage_class = "broken"}), SmallPod("p").Pvc("data").Obj());
  Run();
  EXPECT_EQ(Fate("p"), "Pending");
  EXPECT_THAT(Report("p").message, HasSubstr("VolumeBindingMode not set for StorageClass \"broken\""));
}

TEST_F(SimulationTest, AConfigurationThatCannotWorkIsAnError) {
  configuration.profiles.push_back(configuration.profiles.front());
  EXPECT_FALSE(Simulation::Create(objects, configuration, plugins::InTreeRegistry(), gates, {}));
}

// Volumes.

class SimulatedVolumes : public SimulationTest {
 protected:
  const api::PersistentVolumeClaim& Claim(std::string_view name) {
    return *simulation->cluster().objects().persistent_volume_claims.Find("default", name);
  }
  const api::PersistentVolume* Volume(std::string_view name) {
    return simulation->cluster().objects().persistent_volumes.Find(name);
  }
};

TEST_F(SimulatedVolumes, AClaimThatWaitsGetsTheVolumeOfTheNodeChosen) {
  Add(SmallNode("a").Obj(), SmallNode("b").Obj(),
      MakeStorageClass("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
      MakePv("disk-b", {.storage_class = "local", .node_label = "kubernetes.io/hostname", .node_label_values = {"b"}}),
      MakePvc("data", {.storage_class = "local"}), MakePvc("more", {.storage_class = "local"}),
      SmallPod("db").Pvc("data").Obj(), SmallPod("db-2").Pvc("more").Obj());
  objects[3] = api::MakeObject([&] {
    api::PersistentVolume versioned = *objects[3].As<api::PersistentVolume>();
    versioned.metadata.resource_version = "12";
    return versioned;
  }());
  Run();
  EXPECT_EQ(Fate("db"), "b");
  EXPECT_EQ(Claim("data").spec.volume_name, "disk-b");
  EXPECT_EQ(Claim("data").status.phase, "Bound");
  EXPECT_TRUE(plugins::IsFullyBound(Claim("data")));
  EXPECT_EQ(Volume("disk-b")->status.phase, "Bound");
  EXPECT_EQ(Volume("disk-b")->spec.claim_ref->name, "data");
  EXPECT_EQ(Fate("db-2"), "Pending");
  EXPECT_THAT(Report("db-2").message, HasSubstr("node(s) didn't find available persistent volumes to bind"));
}

TEST_F(SimulatedVolumes, AClaimThatWaitsIsProvisionedWhereThePodGoes) {
  api::StorageClass zonal = MakeStorageClass("zonal", "WaitForFirstConsumer", "csi.example.com");
  zonal.allowed_topologies = {{{{Symbol("zone"), {Symbol("z1"), Symbol("z2")}}}}};
  Add(SmallNode("a").Label("zone", "z1").Obj(), SmallNode("b").Label("zone", "z2").Obj(),
      SmallNode("c").Label("zone", "z3").Obj(), zonal, MakePvc("data", {.storage_class = "zonal", .request = "5Gi"}),
      SmallPod("first").Pvc("data").NodeSelector("kubernetes.io/hostname", "b").Obj());
  Run();
  EXPECT_EQ(Fate("first"), "b");
  const api::PersistentVolume* volume = Volume(Claim("data").spec.volume_name);
  ASSERT_NE(volume, nullptr);
  EXPECT_THAT(volume->metadata.name, StartsWith("pvc-"));
  EXPECT_EQ(volume->spec.capacity.Find(Symbol("storage"))->ToString(), "5Gi");
  EXPECT_EQ(volume->spec.storage_class_name, "zonal");
  EXPECT_EQ(volume->spec.source.csi->driver, "csi.example.com");
  const api::NodeSelectorTerm& term = volume->spec.node_affinity->required->node_selector_terms.at(0);
  EXPECT_EQ(term.match_expressions.at(0).key, Symbol("zone"));
  EXPECT_THAT(term.match_expressions.at(0).values, ElementsAre(Symbol("z2")));
}

TEST_F(SimulatedVolumes, ANewVolumeTiesLaterPodsToItsPlace) {
  api::CSINode csi = MakeCsiNode("a", "csi.example.com");
  csi.spec.drivers[0].topology_keys = {"kubernetes.io/hostname"};
  Add(SmallNode("a", "1").Obj(), SmallNode("b", "1").Obj(), csi,
      MakeStorageClass("fast", "WaitForFirstConsumer", "csi.example.com"), MakePvc("data", {.storage_class = "fast"}),
      SmallPod("first").Priority(1).NodeSelector("kubernetes.io/hostname", "a").Pvc("data").Obj(),
      SmallPod("second").Pvc("data").Obj());
  Run();
  EXPECT_EQ(Fate("first"), "a");
  EXPECT_EQ(Fate("second"), "Pending");
  EXPECT_THAT(Report("second").message, HasSubstr("1 node(s) didn't match PersistentVolume's node affinity"));
}

TEST_F(SimulatedVolumes, AProvisionHalfDoneInTheInputIsFinished) {
  api::PersistentVolumeClaim claim = MakePvc("data", {.storage_class = "fast"});
  claim.metadata.annotations.Set("volume.kubernetes.io/selected-node", "b");
  claim.metadata.resource_version = "7";
  Add(SmallNode("a").Obj(), SmallNode("b").Obj(), MakeStorageClass("fast", "WaitForFirstConsumer", "csi.example.com"),
      claim, SmallPod("p").Pvc("data").Obj());
  Run();
  EXPECT_EQ(report.Count(PodOutcome::kScheduled), 1u);
  EXPECT_TRUE(plugins::IsFullyBound(Claim("data")));
}

TEST_F(SimulatedVolumes, ImmediateClaimsAreBoundBeforeAnyPodIsScheduled) {
  api::StorageClass usual = MakeStorageClass("usual", "Immediate", "csi.example.com");
  usual.metadata.annotations.Set("storageclass.kubernetes.io/is-default-class", "true");
  api::PersistentVolume fresh = MakePv("small", {.storage_class = "static", .capacity = "2Gi"});
  fresh.status.phase.clear();
  Add(SmallNode("n").Obj(), usual, fresh, MakePv("large", {.storage_class = "static", .capacity = "9Gi"}),
      MakePvc("matched", {.storage_class = "static"}), MakePvc("made"), MakePvc("unserved", {.storage_class = ""}),
      SmallPod("p").Pvc("matched").Pvc("made").Obj(), SmallPod("q").Pvc("unserved").Obj());
  Run();
  EXPECT_EQ(Fate("p"), "n");
  EXPECT_EQ(Claim("matched").spec.volume_name, "small");
  EXPECT_EQ(Claim("made").spec.storage_class_name, "usual");
  EXPECT_TRUE(plugins::IsFullyBound(Claim("made")));
  EXPECT_EQ(Fate("q"), "Pending");
  EXPECT_THAT(Report("q").message, HasSubstr("pod has unbound immediate PersistentVolumeClaims"));
}

TEST_F(SimulatedVolumes, ClaimsAndVolumesThatNameEachOtherBelongTogether) {
  api::PersistentVolumeClaim names = MakePvc("names", {.storage_class = ""});
  names.spec.volume_name = "v1";
  Add(SmallNode("n").Obj(), MakePv("v1"), names, MakePv("v2", {.claim_namespace = "default", .claim_name = "named"}),
      MakePvc("named", {.storage_class = ""}), SmallPod("p").Pvc("names").Pvc("named").Obj());
  Run();
  EXPECT_EQ(Fate("p"), "n");
  EXPECT_EQ(Claim("named").spec.volume_name, "v2");
}

TEST_F(SimulatedVolumes, EphemeralVolumesGetTheirClaims) {
  api::VolumeSource source;
  api::PersistentVolumeClaimTemplate& claim = source.ephemeral.emplace().volume_claim_template.emplace();
  claim.spec = MakePvc("x", {.storage_class = "fast"}).spec;
  Add(SmallNode("n").Obj(), MakeStorageClass("fast", "WaitForFirstConsumer", "csi.example.com"),
      SmallPod("p").Volume("scratch", source).Obj());
  Run();
  EXPECT_EQ(Fate("p"), "n");
  EXPECT_TRUE(plugins::IsFullyBound(Claim("p-scratch")));
}

TEST_F(SimulatedVolumes, AClaimThatIsNotThereIsSaidInUpstreamsWords) {
  Add(SmallNode("n").Obj(), SmallPod("p").Pvc("nowhere").Obj());
  Run();
  EXPECT_THAT(Report("p").message, HasSubstr("persistentvolumeclaim \"nowhere\" not found"));
}

}  // namespace
}  // namespace berth::sim
