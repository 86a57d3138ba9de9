#include "plugins/volume_restrictions/volume_restrictions.h"

#include <gmock/gmock.h>

#include <functional>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::PodInfoPtr;
using framework::QueueingHint;
using framework::Status;
using testing::AskHint;
using testing::FakeHandle;
using testing::Judge;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakePvc;

using Fill = std::function<void(api::VolumeSource&)>;

PodInfoPtr PodWith(std::string_view name, const Fill& fill) {
  api::VolumeSource source;
  fill(source);
  return MakePod(name).Volume("disk", source).Info();
}

Fill Gce(std::string name, bool read_only) {
  return [=](api::VolumeSource& source) { source.gce_persistent_disk = {name, "", 0, read_only}; };
}
Fill Aws(std::string id, bool read_only) {
  return [=](api::VolumeSource& source) { source.aws_elastic_block_store = {id, "", 0, read_only}; };
}
Fill Iscsi(std::string iqn, bool read_only) {
  return [=](api::VolumeSource& source) { source.iscsi = {"portal", iqn, 0, "", "", read_only}; };
}
Fill Rbd(std::vector<std::string> monitors, std::string image, bool read_only) {
  return [=](api::VolumeSource& source) { source.rbd = {monitors, image, "", "pool", "", "", read_only}; };
}

TEST(VolumeRestrictions, KeepsPodsApartThatWantTheSameDisk) {
  const struct {
    std::string_view what;
    Fill wanted, held;
    bool conflict;
  } cases[] = {
      {"same GCE disk", Gce("a", false), Gce("a", false), true},
      {"one side writes", Gce("a", true), Gce("a", false), true},
      {"both read", Gce("a", true), Gce("a", true), false},
      {"another disk", Gce("a", false), Gce("b", false), false},
      {"AWS attaches once, even to read", Aws("a", true), Aws("a", true), true},
      {"iSCSI", Iscsi("iqn", false), Iscsi("iqn", true), true},
      {"iSCSI, both read", Iscsi("iqn", true), Iscsi("iqn", true), false},
      {"RBD with a monitor in common", Rbd({"m1", "m2"}, "i", false), Rbd({"m2", "m3"}, "i", false), true},
      {"RBD without", Rbd({"m1"}, "i", false), Rbd({"m2"}, "i", false), false},
      {"RBD, another image", Rbd({"m1"}, "i", false), Rbd({"m1"}, "j", false), false},
      {"different kinds", Gce("a", false), Aws("a", false), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    FakeHandle handle;
    const framework::NodeInfo node = MakeNode("n").Info({PodWith("holder", c.held)});
    const auto plugin = MakePlugin<VolumeRestrictions>(handle);
    EXPECT_EQ(Judge(*plugin, *PodWith("pod", c.wanted), node),
              c.conflict ? Status::Unschedulable("node(s) had no available disk") : Status::Success());
  }
}

class ExclusiveClaim : public ::testing::Test {
 protected:
  ExclusiveClaim() {
    handle_.Add(MakePvc("only", {.access_modes = {"ReadWriteOncePod"}}));
    handle_.Add(MakePvc("shared"));
    handle_.cluster().AddNode(MakeNode("n1"), {holder_});
    handle_.cluster().AddNode(MakeNode("n2"));
  }

  const PodInfoPtr holder_ = MakePod("holder").Pvc("only").Pvc("shared").Info();
  FakeHandle handle_;
};

TEST_F(ExclusiveClaim, IsInUseOnEveryNodeUntilItsHolderGoes) {
  const auto plugin = MakePlugin<VolumeRestrictions>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("only").Info();
  framework::CycleState state;
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.ok());
  for (const framework::NodeInfo* node : handle_.cluster().nodes()) {
    EXPECT_EQ(plugin->Filter(state, *pod, *node),
              Status::Unschedulable("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
                                    "mode already in-use by another pod"));
  }

  const framework::NodeInfo& node = *handle_.cluster().Find("n1");
  framework::CycleState what_if = state.Clone();
  EXPECT_TRUE(plugin->RemovePod(what_if, *pod, *holder_, node).ok());
  EXPECT_TRUE(plugin->Filter(what_if, *pod, node).ok());
  EXPECT_FALSE(plugin->Filter(state, *pod, node).ok());
  EXPECT_TRUE(plugin->AddPod(what_if, *pod, *holder_, node).ok());
  EXPECT_FALSE(plugin->Filter(what_if, *pod, node).ok());
}

TEST_F(ExclusiveClaim, PreFilterLeavesOthersAlone) {
  const auto plugin = MakePlugin<VolumeRestrictions>(handle_);
  framework::CycleState state;
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("pod").Pvc("shared").Info()).status.IsSkip());
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("pod").Info()).status.IsSkip());
  EXPECT_EQ(plugin->PreFilter(state, *MakePod("pod").Pvc("gone").Info()).status,
            Status::UnschedulableAndUnresolvable("persistentvolumeclaim \"gone\" not found"));
}

TEST_F(ExclusiveClaim, OnlyTheEndOfARivalOrANewClaimHelps) {
  const auto plugin = MakePlugin<VolumeRestrictions>(handle_);
  const PodInfoPtr pod = MakePod("pod").Pvc("only").Info();
  const auto after_end_of = [&](const PodInfoPtr& gone) {
    return AskHint(*plugin, EventResource::kPod, *pod, &gone->pod(), {});
  };
  EXPECT_EQ(after_end_of(holder_), QueueingHint::kQueue);
  EXPECT_EQ(after_end_of(MakePod("other").Pvc("shared").Info()), QueueingHint::kSkip);
  EXPECT_EQ(after_end_of(MakePod("other").Namespace("elsewhere").Pvc("only").Info()), QueueingHint::kSkip);

  const api::PersistentVolumeClaim wanted = MakePvc("only"), other = MakePvc("other");
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolumeClaim, *pod, {}, &wanted), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolumeClaim, *pod, {}, &other), QueueingHint::kSkip);
}

TEST_F(ExclusiveClaim, SignsPodsThatPreFilterLeavesAlone) {
  const auto plugin = MakePlugin<VolumeRestrictions>(handle_);
  handle_.Add(MakePvc("free", {.access_modes = {"ReadWriteOncePod"}}));
  framework::SignatureBuilder signature;
  EXPECT_TRUE(plugin->Sign(*MakePod("plain").Volume("config").Info(), signature));
  EXPECT_TRUE(plugin->Sign(*MakePod("claim").Pvc("shared").Info(), signature));
  EXPECT_TRUE(plugin->Sign(*MakePod("claim").Pvc("free").Info(), signature));
  EXPECT_FALSE(plugin->Sign(*MakePod("claim").Pvc("only").Info(), signature)) << "in use";
  EXPECT_FALSE(plugin->Sign(*MakePod("claim").Pvc("gone").Info(), signature));
  EXPECT_FALSE(plugin->Sign(*PodWith("disk", Gce("a", false)), signature));
}

TEST(VolumeRestrictions, ExplainsWhoUsesTheClaims) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a"), {MakePod("x").Pvc("data").Info(), MakePod("y").Pvc("other").Info(),
                                           MakePod("z").Namespace("elsewhere").Pvc("data").Info()});
  const auto plugin = MakePlugin<VolumeRestrictions>(handle);
  EXPECT_THAT(testing::FindingsOf(*plugin, *MakePod("p").Pvc("data").Info(), MakeNode("n").Info()),
              ::testing::ElementsAre("claim data | unused | default/x | claim data is used by default/x on a"));
}

}  // namespace
}  // namespace berth::plugins
