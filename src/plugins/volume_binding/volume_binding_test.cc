#include "plugins/volume_binding/volume_binding.h"

#include <gmock/gmock.h>

#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::QueueingHint;
using framework::Status;
using testing::AskHint;
using testing::FakeHandle;
using testing::Judge;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakePv;
using testing::MakePvc;
using testing::MakeStorageClass;

const api::Time kLongAgo = testing::At("2026-01-01T00:00:00Z");
constexpr char kNodeConflict[] = "node(s) didn't match PersistentVolume's node affinity";
constexpr char kBindConflict[] = "node(s) didn't find available persistent volumes to bind";
constexpr char kNotEnoughSpace[] = "node(s) did not have enough free storage";
constexpr char kVolumeMissing[] = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

Status Rejected(std::string why) { return Status::UnschedulableAndUnresolvable(std::move(why)); }

// Two nodes in zones a and b; class "local" binds to existing volumes only, class "made" provisions.
class VolumeBindingTest : public ::testing::Test {
 protected:
  VolumeBindingTest() {
    handle_.cluster().AddNode(MakeNode("a").Label("zone", "a"));
    handle_.cluster().AddNode(MakeNode("b").Label("zone", "b"));
    handle_.Add(MakeStorageClass("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"));
    handle_.Add(MakeStorageClass("made", "WaitForFirstConsumer", "csi.example.com"));
    handle_.Add(MakeStorageClass("immediate"));
  }
  // A free volume of class "local" in a zone.
  void AddLocal(std::string_view name, std::string zone, std::string capacity) {
    api::PersistentVolume volume = MakePv(name, {.storage_class = "local",
                                                 .capacity = std::move(capacity),
                                                 .node_label = "zone",
                                                 .node_label_values = {std::move(zone)}});
    volume.metadata.resource_version = "1";
    handle_.Add(volume);
  }
  void AddClaim(std::string_view name, std::string storage_class, std::string request = "1Gi") {
    api::PersistentVolumeClaim claim =
        MakePvc(name, {.storage_class = std::move(storage_class), .request = std::move(request)});
    claim.metadata.uid = "uid-" + std::string(name);
    claim.metadata.resource_version = "1";
    handle_.Add(claim);
  }
  // A pod with the claim "static" goes through PreBind on node a.
  void BindStatic(VolumeBinding& plugin) {
    const PodInfoPtr pod = MakePod("pod").Pvc("static").Info();
    CycleState state;
    ASSERT_TRUE(plugin.PreFilter(state, *pod).status.ok());
    ASSERT_TRUE(plugin.Reserve(state, *pod, "a").ok());
    ASSERT_TRUE(plugin.PreBind(handle_, state, *pod, "a").ok());
    ASSERT_EQ(handle_.api().written_volumes.size(), 1u);
  }
  const NodeInfo& Node(std::string_view name) { return *handle_.cluster().Find(name); }
  Status On(std::string_view node, const testing::PodBuilder& pod) {
    return Judge(*MakePlugin<VolumeBinding>(handle_), *pod.Info(), Node(node));
  }
  void AddCapacity(std::string_view name, std::string_view zone, std::string_view amount) {
    api::CSIStorageCapacity capacity;
    capacity.metadata.name = name;
    capacity.storage_class_name = "made";
    capacity.node_topology = testing::SelectorOf({{"zone", zone}});
    capacity.capacity = testing::Amount(amount);
    handle_.Add(capacity);
    api::CSIDriver driver;
    driver.metadata.name = "csi.example.com";
    driver.spec.storage_capacity = true;
    handle_.Add(driver);
  }

  FakeHandle handle_;
};

TEST_F(VolumeBindingTest, PreFilterSaysWhatIsWrongWithClaims) {
  AddClaim("waiting", "made");
  AddClaim("unbound", "immediate");
  AddClaim("prebound", "made");
  api::PersistentVolumeClaim prebound = *handle_.objects().persistent_volume_claims.Find("default", "prebound");
  prebound.spec.volume_name = "v";
  handle_.Add(prebound);
  api::PersistentVolumeClaim lost = MakePvc("lost", {.volume_name = "v"});
  lost.status.phase = "Lost";
  handle_.Add(lost);
  api::PersistentVolumeClaim deleting = MakePvc("deleting", {.volume_name = "v"});
  deleting.metadata.deletion_timestamp = kLongAgo;
  handle_.Add(deleting);
  AddClaim("modeless", "modeless");
  api::StorageClass modeless = MakeStorageClass("modeless");
  modeless.volume_binding_mode.reset();
  handle_.Add(modeless);

  const struct {
    std::string_view claim;
    Status want;
  } cases[] = {
      {"waiting", Status::Success()},
      {"missing", Rejected("persistentvolumeclaim \"missing\" not found")},
      {"unbound", Rejected("pod has unbound immediate PersistentVolumeClaims")},
      {"prebound", Rejected("pod has unbound immediate PersistentVolumeClaims")},
      {"lost", Rejected("persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"v\"")},
      {"deleting", Rejected("persistentvolumeclaim \"deleting\" is being deleted")},
      {"modeless", Status::Error("VolumeBindingMode not set for StorageClass \"modeless\"")},
  };
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  CycleState state;
  for (const auto& c : cases) {
    EXPECT_EQ(plugin->PreFilter(state, *MakePod("pod").Pvc(c.claim).Info()).status, c.want) << c.claim;
  }
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("pod").Volume("config").Info()).status.IsSkip());
}

TEST_F(VolumeBindingTest, EphemeralClaimMustBeThePodsOwn) {
  api::VolumeSource source;
  source.ephemeral.emplace();
  const testing::PodBuilder pod = MakePod("pod").Uid("u").Volume("scratch", source);
  EXPECT_EQ(On("a", pod), Rejected("waiting for ephemeral volume controller to create the persistentvolumeclaim "
                                   "\"pod-scratch\""));
  AddClaim("pod-scratch", "made");
  EXPECT_EQ(On("a", pod), Rejected("PVC default/pod-scratch was not created for pod default/pod (pod is not owner)"));
  api::PersistentVolumeClaim owned = *handle_.objects().persistent_volume_claims.Find("default", "pod-scratch");
  owned.metadata.owner_references.push_back({"v1", "Pod", "pod", "u", true});
  handle_.Add(owned);
  EXPECT_TRUE(On("a", pod).ok());
}

TEST_F(VolumeBindingTest, BoundVolumesDecideWhereThePodGoes) {
  handle_.Add(MakePv("v", {.node_label = "zone", .node_label_values = {"a"}}));
  handle_.Add(MakePvc("bound", {.volume_name = "v"}));
  handle_.Add(MakePvc("dangling", {.volume_name = "gone"}));
  EXPECT_TRUE(On("a", MakePod("pod").Pvc("bound")).ok());
  EXPECT_EQ(On("b", MakePod("pod").Pvc("bound")), Rejected(kNodeConflict));
  EXPECT_EQ(On("a", MakePod("pod").Pvc("dangling")), Rejected(kVolumeMissing));
  AddClaim("waiting", "local");
  EXPECT_EQ(On("b", MakePod("pod").Pvc("bound").Pvc("waiting")),
            Status(Code::kUnschedulableAndUnresolvable, {kNodeConflict, kBindConflict}));
}

TEST_F(VolumeBindingTest, MigratedVolumesGoByTheDriversLabels) {
  api::PersistentVolume volume = MakePv("v");
  volume.spec.source.gce_persistent_disk.emplace().pd_name = "disk";
  volume.metadata.labels.Set(Symbol("topology.kubernetes.io/zone"), Symbol("z"));
  handle_.Add(volume);
  handle_.Add(MakePvc("bound", {.volume_name = "v"}));
  EXPECT_TRUE(On("a", MakePod("pod").Pvc("bound")).ok()) << "in-tree, the volume has no affinity";
  api::CSINode csi_node;
  csi_node.metadata.name = "a";
  csi_node.metadata.annotations.Set(std::string(kMigratedPluginsAnnotation), "kubernetes.io/gce-pd");
  handle_.Add(csi_node);
  EXPECT_EQ(On("a", MakePod("pod").Pvc("bound")), Rejected(kNodeConflict));
}

TEST_F(VolumeBindingTest, MatchesFreeVolumesByWhatTheClaimAsks) {
  const struct {
    std::string_view what;
    std::function<void(api::PersistentVolume&, api::PersistentVolumeClaim&)> change;
    bool fits;
  } cases[] = {
      {"as it is", [](auto&, auto&) {}, true},
      {"too small", [](auto& v, auto&) { v.spec.capacity.Set(Symbol("storage"), testing::Amount("1Mi")); }, false},
      {"another mode", [](auto& v, auto&) { v.spec.volume_mode = "Block"; }, false},
      {"Filesystem is the default mode", [](auto& v, auto&) { v.spec.volume_mode = "Filesystem"; }, true},
      {"access mode not offered", [](auto&, auto& c) { c.spec.access_modes = {"ReadWriteMany"}; }, false},
      {"labels not selected",
       [](auto&, auto& c) {
         c.spec.selector = testing::SelectorOf({{"k", "v"}});
       },
       false},
      {"not available", [](auto& v, auto&) { v.status.phase = "Released"; }, false},
      {"being deleted", [&](auto& v, auto&) { v.metadata.deletion_timestamp = kLongAgo; }, false},
      {"another attributes class", [](auto& v, auto&) { v.spec.volume_attributes_class_name = "gold"; }, false},
      {"another's volume", [](auto& v, auto&) { v.spec.claim_ref.emplace().name = "other"; }, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    AddLocal("v", "a", "5Gi");
    AddClaim("claim", "local");
    api::PersistentVolume volume = *handle_.objects().persistent_volumes.Find("v");
    api::PersistentVolumeClaim claim = *handle_.objects().persistent_volume_claims.Find("default", "claim");
    c.change(volume, claim);
    handle_.Add(volume);
    handle_.Add(claim);
    EXPECT_EQ(On("a", MakePod("pod").Pvc("claim")), c.fits ? Status::Success() : Rejected(kBindConflict));
    EXPECT_EQ(On("b", MakePod("pod").Pvc("claim")), Rejected(kBindConflict));
  }
}

TEST_F(VolumeBindingTest, APreboundVolumeWinsAndRulesOutOtherNodes) {
  AddLocal("v1", "b", "1Gi");
  AddLocal("v2", "a", "5Gi");
  AddClaim("claim", "local");
  api::PersistentVolume mine = *handle_.objects().persistent_volumes.Find("v2");
  mine.spec.claim_ref = {"", Symbol("default"), "claim"};
  mine.status.phase = "Bound";
  handle_.Add(mine);
  EXPECT_TRUE(On("a", MakePod("pod").Pvc("claim")).ok());
  EXPECT_EQ(On("b", MakePod("pod").Pvc("claim")), Rejected(kBindConflict)) << "although v1 would do";
}

TEST_F(VolumeBindingTest, SmallClaimsChooseFirst) {
  AddLocal("large", "a", "10Gi");
  AddLocal("small", "a", "2Gi");
  AddClaim("big", "local", "8Gi");
  AddClaim("tiny", "local", "1Gi");
  EXPECT_TRUE(On("a", MakePod("pod").Pvc("big").Pvc("tiny")).ok());
  AddClaim("third", "local", "1Gi");
  EXPECT_EQ(On("a", MakePod("pod").Pvc("big").Pvc("tiny").Pvc("third")), Rejected(kBindConflict));
}

TEST_F(VolumeBindingTest, ProvisionsWhereTheClassAllowsAndThereIsSpace) {
  AddClaim("claim", "made", "5Gi");
  const testing::PodBuilder pod = MakePod("pod").Pvc("claim");
  EXPECT_TRUE(On("a", pod).ok());

  api::StorageClass zonal = *handle_.objects().storage_classes.Find("made");
  zonal.allowed_topologies.push_back({{{Symbol("zone"), {Symbol("a")}}}});
  handle_.Add(zonal);
  EXPECT_TRUE(On("a", pod).ok());
  EXPECT_EQ(On("b", pod), Rejected(kBindConflict));

  AddCapacity("pool", "a", "4Gi");
  EXPECT_EQ(On("a", pod), Rejected(kNotEnoughSpace));
  AddCapacity("pool", "a", "5Gi");
  EXPECT_TRUE(On("a", pod).ok());
}

TEST_F(VolumeBindingTest, StaysWithTheNodeThatProvisioningBeganFor) {
  AddClaim("claim", "made");
  api::PersistentVolumeClaim claim = *handle_.objects().persistent_volume_claims.Find("default", "claim");
  claim.metadata.annotations.Set(std::string(kSelectedNodeAnnotation), "a");
  handle_.Add(claim);
  EXPECT_TRUE(On("a", MakePod("pod").Pvc("claim")).ok());
  EXPECT_EQ(On("b", MakePod("pod").Pvc("claim")), Rejected(kBindConflict));
}

TEST_F(VolumeBindingTest, ReservedVolumesAreTakenUntilUnreserved) {
  AddLocal("v", "a", "5Gi");
  AddClaim("first", "local");
  AddClaim("second", "local");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr first = MakePod("first").Pvc("first").Info(), second = MakePod("second").Pvc("second").Info();
  CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *first).status.ok());
  ASSERT_TRUE(plugin->Reserve(state, *first, "a").ok());
  EXPECT_EQ(Judge(*plugin, *second, Node("a")), Rejected(kBindConflict));
  EXPECT_TRUE(Judge(*plugin, *first, Node("a")).ok()) << "a second attempt of the same pod finds its own volume";
  plugin->Unreserve(state, *first, "a");
  plugin->Unreserve(state, *first, "a");
  EXPECT_TRUE(Judge(*plugin, *second, Node("a")).ok());
}

TEST_F(VolumeBindingTest, WhatTheServerSaysEndsAnAssumption) {
  AddLocal("v", "a", "5Gi");
  AddClaim("first", "local");
  AddClaim("second", "local");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  CycleState state;
  const PodInfoPtr first = MakePod("first").Pvc("first").Info();
  ASSERT_TRUE(plugin->PreFilter(state, *first).status.ok());
  ASSERT_TRUE(plugin->Reserve(state, *first, "a").ok());
  api::PersistentVolume updated = *handle_.objects().persistent_volumes.Find("v");
  updated.metadata.resource_version = "2";
  handle_.Add(updated);
  EXPECT_TRUE(Judge(*plugin, *MakePod("second").Pvc("second").Info(), Node("a")).ok());
}

TEST_F(VolumeBindingTest, PreBindWritesAndWaitsForTheVolumeController) {
  AddLocal("v", "a", "5Gi");
  AddClaim("static", "local");
  AddClaim("dynamic", "made");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("static").Pvc("dynamic").Info();
  CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  ASSERT_TRUE(plugin->Reserve(state, *pod, "a").ok());
  EXPECT_TRUE(plugin->PreBindPreFlight(state, *pod, "a").status.ok());
  ASSERT_TRUE(plugin->PreBind(handle_, state, *pod, "a").ok());

  ASSERT_EQ(handle_.api().written_volumes.size(), 1u);
  api::PersistentVolume volume = *handle_.api().written_volumes[0];
  EXPECT_EQ(volume.spec.claim_ref->uid, "uid-static");
  EXPECT_NE(FindAnnotation(volume.metadata, kBoundByControllerAnnotation), nullptr);
  ASSERT_EQ(handle_.api().written_claims.size(), 1u);
  api::PersistentVolumeClaim dynamic = *handle_.api().written_claims[0];
  EXPECT_EQ(*FindAnnotation(dynamic.metadata, kSelectedNodeAnnotation), "a");

  ASSERT_TRUE(handle_.api().awaited);
  EXPECT_FALSE(handle_.api().awaited()) << "nothing has come back yet";
  volume.metadata.resource_version = dynamic.metadata.resource_version = "2";
  handle_.Add(volume);
  handle_.Add(dynamic);
  EXPECT_FALSE(handle_.api().awaited()) << "the controller has not bound anything";
  handle_.Add(MakePvc("static", {.volume_name = "v"}));
  handle_.Add(MakePv("made"));
  dynamic.spec.volume_name = "made";
  dynamic.metadata.annotations.Set(std::string(kBindCompletedAnnotation), "yes");
  handle_.Add(dynamic);
  EXPECT_EQ(handle_.api().awaited(), Status::Success());

  dynamic.metadata.annotations.Erase(std::string(kSelectedNodeAnnotation));
  handle_.Add(dynamic);
  EXPECT_EQ(handle_.api().awaited(), Status::Error("binding volumes: provisioning failed for PVC \"dynamic\""));
}

// Storm seed 117365: an earlier attempt had set aside a volume of another node. That write had no answer and took
// effect late, and the controller chose that volume.
TEST_F(VolumeBindingTest, APodWasBoundAlthoughItsClaimHadGotAnotherVolume) {
  AddLocal("v", "a", "5Gi");
  AddLocal("other", "b", "5Gi");
  AddClaim("static", "local");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  ASSERT_NO_FATAL_FAILURE(BindStatic(*plugin));
  api::PersistentVolume volume = *handle_.api().written_volumes[0];
  ASSERT_EQ(volume.metadata.name, "v");
  volume.metadata.resource_version = "2";
  handle_.Add(volume);
  handle_.Add(MakePvc("static", {.volume_name = "other"}));
  EXPECT_EQ(handle_.api().awaited(),
            Status::Error("binding volumes: claim \"default/static\" is bound to volume \"other\", not \"v\""));
}

// Storm seed 14285: what an earlier attempt of the pod had only set aside counted as written, and was gone when that
// attempt ended.
TEST_F(VolumeBindingTest, WhatAnEarlierAttemptHadNotWrittenYetWasNeverWritten) {
  AddLocal("v", "a", "5Gi");
  AddClaim("static", "local");
  AddClaim("another", "local");
  AddClaim("dynamic", "made");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("static").Pvc("dynamic").Info();
  CycleState earlier, later;
  for (CycleState* state : {&earlier, &later}) {
    ASSERT_TRUE(plugin->PreFilter(*state, *pod).status.ok());
    ASSERT_TRUE(plugin->Filter(*state, *pod, Node("a")).ok());
    ASSERT_TRUE(plugin->Reserve(*state, *pod, "a").ok());
  }
  plugin->Unreserve(earlier, *pod, "a");
  EXPECT_FALSE(Judge(*plugin, *MakePod("other").Pvc("another").Info(), Node("a")).ok());
  ASSERT_TRUE(plugin->PreBind(handle_, later, *pod, "a").ok());
  EXPECT_EQ(handle_.api().written_volumes.size(), 1u);
  EXPECT_EQ(handle_.api().written_claims.size(), 1u);
}

// Until the time-out of ten minutes.
TEST_F(VolumeBindingTest, APodWaitedForAVolumeThatAnotherClaimHadGot) {
  AddLocal("v", "a", "5Gi");
  AddClaim("static", "local");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  ASSERT_NO_FATAL_FAILURE(BindStatic(*plugin));
  api::PersistentVolume volume = *handle_.api().written_volumes[0];
  volume.metadata.resource_version = "2";
  volume.spec.claim_ref->name = "another";
  volume.spec.claim_ref->uid = "uid-another";
  handle_.Add(volume);
  EXPECT_EQ(
      handle_.api().awaited(),
      Status::Error("binding volumes: volume \"v\" is bound to claim \"default/another\", not \"default/static\""));
}

TEST_F(VolumeBindingTest, AFailedWriteEndsPreBind) {
  AddClaim("dynamic", "made");
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("dynamic").Info();
  CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  ASSERT_TRUE(plugin->Reserve(state, *pod, "a").ok());
  handle_.api().answer = Status::Error("conflict");
  EXPECT_EQ(plugin->PreBind(handle_, state, *pod, "a"), Status::Error("conflict"));
  EXPECT_FALSE(handle_.api().awaited);
  EXPECT_EQ(Judge(*plugin, *pod, Node("b")), Rejected(kBindConflict));
  plugin->Unreserve(state, *pod, "a");
  EXPECT_TRUE(Judge(*plugin, *pod, Node("b")).ok());
}

TEST_F(VolumeBindingTest, NothingToBindMeansNoPreBind) {
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  handle_.Add(MakePv("v"));
  handle_.Add(MakePvc("bound", {.volume_name = "v"}));
  for (const PodInfoPtr& pod : {MakePod("plain").Info(), MakePod("bound").Pvc("bound").Info()}) {
    CycleState state;
    (void)plugin->PreFilter(state, *pod);
    ASSERT_TRUE(plugin->Reserve(state, *pod, "a").ok());
    EXPECT_TRUE(plugin->PreBindPreFlight(state, *pod, "a").status.IsSkip());
    EXPECT_TRUE(plugin->PreBind(handle_, state, *pod, "a").ok());
  }
  EXPECT_TRUE(handle_.api().written_volumes.empty());
}

TEST_F(VolumeBindingTest, ScoresFreeStorageOnlyWithTheGate) {
  AddClaim("claim", "made", "2Gi");
  AddCapacity("pool-a", "a", "8Gi");
  AddCapacity("pool-b", "b", "4Gi");
  const PodInfoPtr pod = MakePod("pod").Pvc("claim").Info();
  CycleState state;
  EXPECT_TRUE(MakePlugin<VolumeBinding>(handle_)->PreScore(state, *pod, {}).IsSkip());

  ASSERT_TRUE(handle_.gates().Set("StorageCapacityScoring", true).ok());
  const auto score = [&](const VolumeBinding& plugin, std::string_view node) {
    CycleState fresh;
    (void)plugin.PreFilter(fresh, *pod);
    EXPECT_TRUE(plugin.PreScore(fresh, *pod, {}).ok());
    return plugin.Score(fresh, *pod, Node(node)).score;
  };
  const auto emptiest = MakePlugin<VolumeBinding>(handle_);
  EXPECT_EQ(score(*emptiest, "a"), 75);
  EXPECT_EQ(score(*emptiest, "b"), 50);
  config::VolumeBindingArgs args;
  args.shape = {{0, 0}, {50, 10}, {100, 0}};
  const auto half_full = MakePlugin<VolumeBinding>(handle_, args);
  EXPECT_EQ(score(*half_full, "a"), 50);
  EXPECT_EQ(score(*half_full, "b"), 100);
}

TEST_F(VolumeBindingTest, QueuesForWhatCouldHelp) {
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("claim").Info();
  const auto hint = [&](EventResource resource, framework::EventObject before, framework::EventObject after) {
    return AskHint(*plugin, resource, *pod, before, after);
  };
  const api::PersistentVolumeClaim mine = MakePvc("claim"), other = MakePvc("other");
  EXPECT_EQ(hint(EventResource::kPersistentVolumeClaim, {}, &mine), QueueingHint::kQueue);
  EXPECT_EQ(hint(EventResource::kPersistentVolumeClaim, {}, &other), QueueingHint::kSkip);

  const api::StorageClass old_class = MakeStorageClass("c");
  api::StorageClass new_class = old_class;
  EXPECT_EQ(hint(EventResource::kStorageClass, &old_class, &new_class), QueueingHint::kSkip);
  new_class.allowed_topologies.push_back({{{Symbol("zone"), {Symbol("a")}}}});
  EXPECT_EQ(hint(EventResource::kStorageClass, &old_class, &new_class), QueueingHint::kQueue);

  api::CSIStorageCapacity less, more;
  less.capacity = testing::Amount("1Gi");
  more.capacity = testing::Amount("2Gi");
  EXPECT_EQ(hint(EventResource::kCSIStorageCapacity, &less, &more), QueueingHint::kQueue);
  EXPECT_EQ(hint(EventResource::kCSIStorageCapacity, &more, &less), QueueingHint::kSkip);

  const api::CSINode plain;
  api::CSINode migrated;
  migrated.metadata.annotations.Set(std::string(kMigratedPluginsAnnotation), "kubernetes.io/gce-pd");
  EXPECT_EQ(hint(EventResource::kCSINode, &plain, &migrated), QueueingHint::kQueue);
  EXPECT_EQ(hint(EventResource::kCSINode, &plain, &plain), QueueingHint::kSkip);
}

TEST_F(VolumeBindingTest, APodThatIsGoneHelpsOnlyIfItsClaimsWereNotBoundYet) {
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  handle_.Add(MakePvc("waiting", {.storage_class = "local"}));
  handle_.Add(MakePvc("bound", {.storage_class = "local", .volume_name = "disk"}));
  const auto after = [&](const testing::PodBuilder& gone) {
    const api::Pod pod = testing::PodBuilder(gone).Obj();
    return AskHint(*plugin, EventResource::kAssignedPod, *MakePod("pod").Pvc("claim").Info(), &pod, {});
  };
  EXPECT_EQ(after(MakePod("gone").Node("a").Pvc("waiting")), QueueingHint::kQueue);
  EXPECT_EQ(after(MakePod("gone").Node("a").Pvc("bound").Pvc("waiting")), QueueingHint::kQueue);
  EXPECT_EQ(after(MakePod("gone").Node("a").Pvc("bound")), QueueingHint::kSkip);
  EXPECT_EQ(after(MakePod("gone").Node("a").Pvc("unknown")), QueueingHint::kQueue) << "nobody can tell any more";
  EXPECT_EQ(after(MakePod("gone").Node("a")), QueueingHint::kSkip);
}

TEST_F(VolumeBindingTest, ExplainsWhereTheVolumeOfAClaimIs) {
  AddClaim("unbound", "made");
  handle_.Add(MakePv("disk-a", {.node_label = "zone", .node_label_values = {"a"}}));
  handle_.Add(MakePvc("data", {.volume_name = "disk-a"}));
  handle_.Add(MakePvc("lost", {.volume_name = "gone"}));
  const auto plugin = MakePlugin<VolumeBinding>(handle_);
  const PodInfoPtr pod = MakePod("p").Pvc("unbound").Pvc("data").Pvc("lost").Info();
  const std::string unbound = "claim unbound | bound | unbound | claim unbound is not bound (storage class made)";
  const std::string lost = "claim lost | volume gone |  | claim lost is bound to volume gone, which does not exist";
  EXPECT_THAT(testing::FindingsOf(*plugin, *pod, Node("a")), ::testing::ElementsAre(unbound, lost));
  EXPECT_THAT(testing::FindingsOf(*plugin, *pod, Node("b")),
              ::testing::ElementsAre(unbound,
                                     "claim data | zone=a | b | claim data is bound to volume disk-a, which wants "
                                     "zone=a, the node has zone=b",
                                     lost));
  EXPECT_THAT(testing::RemediesOf(*plugin, *pod, Node("b")), ::testing::IsEmpty());
}

}  // namespace
}  // namespace berth::plugins
