#include "plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

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
using testing::MakeCsiNode;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakePv;
using testing::MakePvc;
using testing::MakeStorageClass;

constexpr char kDriver[] = "csi.example.com";
const Status kExceeded = Status::Unschedulable("node(s) exceed max volume count");

// Claims c1..c4 with volumes v1..v4 of one driver, and a node that can attach `limit` of them.
class NodeVolumeLimitsTest : public ::testing::Test {
 protected:
  NodeVolumeLimitsTest() {
    for (const std::string i : {"1", "2", "3", "4"}) {
      handle_.Add(MakePv("v" + i, {.csi_driver = kDriver}));
      handle_.Add(MakePvc("c" + i, {.volume_name = "v" + i}));
    }
    handle_.Add(MakeStorageClass("made-later", "WaitForFirstConsumer", kDriver));
    handle_.Add(MakePvc("unbound", {.storage_class = "made-later"}));
    handle_.cluster().AddNode(MakeNode("n"));
  }
  void Limit(int32_t limit) { handle_.Add(MakeCsiNode("n", kDriver, limit)); }
  void Attach(std::string_view name, std::string_view volume) {
    api::VolumeAttachment attachment;
    attachment.metadata.name = name;
    attachment.spec.attacher = kDriver;
    attachment.spec.node_name = "n";
    attachment.spec.source.persistent_volume_name = volume;
    handle_.Add(attachment);
  }
  Status JudgePod(const testing::PodBuilder& pod, const std::vector<PodInfoPtr>& running = {}) {
    return Judge(*MakePlugin<NodeVolumeLimits>(handle_), *pod.Info(), MakeNode("n").Info(running));
  }

  FakeHandle handle_;
};

TEST_F(NodeVolumeLimitsTest, CountsVolumesOfPodsOnTheNode) {
  const std::vector<PodInfoPtr> running = {MakePod("a").Pvc("c1").Info(), MakePod("b").Pvc("c1").Pvc("c2").Info()};
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c3"), running).ok()) << "no limit";
  Limit(2);
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c3"), running), kExceeded);
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c2"), running).ok()) << "a volume that is here already costs nothing";
  EXPECT_TRUE(JudgePod(MakePod("p").Volume("config"), running).IsSkip());
  Limit(3);
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c3"), running).ok());
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c3").Pvc("c4"), running), kExceeded);
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c3").Pvc("unbound"), running), kExceeded) << "will come from the same driver";
}

TEST_F(NodeVolumeLimitsTest, TellsTheSmallestLimitThatWouldDo) {
  Limit(2);
  const auto plugin = MakePlugin<NodeVolumeLimits>(handle_);
  const framework::NodeInfo node = MakeNode("n").Info({MakePod("a").Pvc("c1").Info()});
  const PodInfoPtr pod = MakePod("p").Pvc("c2").Pvc("c3").Info();
  const std::vector<framework::Remedy> remedies = testing::RemediesOf(*plugin, *pod, node);
  ASSERT_EQ(remedies.size(), 1u);
  EXPECT_EQ(testing::TextOf(remedies[0]), fmt::format("a limit of 3 volumes of {} on n (2 now)", kDriver));
  framework::Objects changed = handle_.objects();
  remedies[0].ApplyTo(changed);
  EXPECT_EQ(changed.csi_nodes.Find("n")->spec.drivers[0].allocatable->count, 3);
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c2").Pvc("c3"), {MakePod("a").Pvc("c1").Info()}), kExceeded);
  Limit(3);
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c2").Pvc("c3"), {MakePod("a").Pvc("c1").Info()}).ok());
}

TEST_F(NodeVolumeLimitsTest, TellsTheNumbersBehindARejection) {
  Limit(1);
  const Status status = JudgePod(MakePod("p").Pvc("c2").Pvc("c3"), {MakePod("a").Pvc("c1").Info()});
  ASSERT_EQ(status.shortfalls().size(), 1u);
  EXPECT_EQ(status.shortfalls()[0].requested, 2);
  EXPECT_EQ(status.shortfalls()[0].used, 1);
  EXPECT_EQ(status.shortfalls()[0].capacity, 1);
}

TEST_F(NodeVolumeLimitsTest, CountsAttachmentsThatNoPodAccountsFor) {
  Limit(2);
  Attach("a1", "v1");
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c3")).ok());
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c3"), {MakePod("a").Pvc("c1").Info()}).ok()) << "counted once";
  Attach("a2", "v2");
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c3")), kExceeded);
  Attach("a2", "no-such-volume");
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c3")).ok());
}

TEST_F(NodeVolumeLimitsTest, CountsInTreeDisksForTheDriverTheyMovedTo) {
  api::VolumeSource disk;
  disk.gce_persistent_disk.emplace().pd_name = "disk";
  handle_.Add(MakeCsiNode("n", "pd.csi.storage.gke.io", 0));
  EXPECT_EQ(JudgePod(MakePod("p").Volume("d", disk)), kExceeded);
  handle_.Add(MakeStorageClass("in-tree", "WaitForFirstConsumer", "kubernetes.io/gce-pd"));
  handle_.Add(MakePvc("in-tree", {.storage_class = "in-tree"}));
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("in-tree")), kExceeded);

  api::VolumeSource unknown;
  unknown.aws_elastic_block_store.emplace().volume_id = "aws://bad";
  EXPECT_EQ(JudgePod(MakePod("p").Volume("d", unknown)),
            Status::Error("converting volume(d) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
                          "Invalid format for AWS volume (aws://bad)"));
}

TEST_F(NodeVolumeLimitsTest, NeedsTheClaimsOfTheIncomingPodOnly) {
  Limit(1);
  EXPECT_EQ(
      JudgePod(MakePod("p").Pvc("gone")),
      Status::UnschedulableAndUnresolvable("looking up PVC default/gone: persistentvolumeclaim \"gone\" not found"));
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c1"), {MakePod("a").Pvc("gone").Info()}).ok());

  api::VolumeSource scratch;
  scratch.ephemeral.emplace();
  handle_.Add(MakePvc("p-scratch", {.volume_name = "v1"}));
  EXPECT_EQ(JudgePod(MakePod("p").Volume("scratch", scratch)),
            Status::Error("PVC default/p-scratch was not created for pod default/p (pod is not owner)"));
}

TEST_F(NodeVolumeLimitsTest, MayInsistOnTheDriverBeingThere) {
  api::CSIDriver driver;
  driver.metadata.name = kDriver;
  driver.spec.prevent_pod_scheduling_if_missing = true;
  handle_.Add(driver);
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c1")).ok()) << "not without the gate";
  ASSERT_TRUE(handle_.gates().Set("VolumeLimitScaling", true).ok());
  const Status missing = Status::Unschedulable("csi.example.com CSI driver is not installed on the node");
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c1")), missing);
  handle_.Add(MakeCsiNode("n", "other"));
  EXPECT_EQ(JudgePod(MakePod("p").Pvc("c1")), missing);
  handle_.Add(MakeCsiNode("n", kDriver));
  EXPECT_TRUE(JudgePod(MakePod("p").Pvc("c1")).ok());
}

TEST_F(NodeVolumeLimitsTest, QueuesForWhatFreesOrAddsPlaces) {
  const auto plugin = MakePlugin<NodeVolumeLimits>(handle_);
  const PodInfoPtr pod = MakePod("p").Pvc("c1").Info();
  const auto after_end_of = [&](const api::Pod& gone) {
    return AskHint(*plugin, EventResource::kPod, *pod, &gone, {});
  };
  EXPECT_EQ(after_end_of(MakePod("a").Pvc("c2").Node("n").Obj()), QueueingHint::kQueue);
  EXPECT_EQ(after_end_of(MakePod("a").Pvc("c2").Obj()), QueueingHint::kSkip);
  EXPECT_EQ(after_end_of(MakePod("a").Node("n").Obj()), QueueingHint::kSkip);

  const api::VolumeAttachment attachment;
  EXPECT_EQ(AskHint(*plugin, EventResource::kVolumeAttachment, *pod, &attachment, {}), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kVolumeAttachment, *MakePod("q").Info(), &attachment, {}),
            QueueingHint::kSkip);

  const auto updated = plugin->EventsToRegister()[1].hint;
  const api::CSINode none = MakeCsiNode("n", kDriver);
  const api::CSINode one = MakeCsiNode("n", kDriver, 1), two = MakeCsiNode("n", kDriver, 2);
  EXPECT_EQ(updated(*pod, &one, &two), QueueingHint::kQueue);
  EXPECT_EQ(updated(*pod, &two, &one), QueueingHint::kSkip);
  EXPECT_EQ(updated(*pod, &none, &one), QueueingHint::kQueue);
}

}  // namespace
}  // namespace berth::plugins
