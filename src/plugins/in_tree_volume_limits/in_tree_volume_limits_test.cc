#include "plugins/in_tree_volume_limits/in_tree_volume_limits.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::CycleState;
using framework::EventResource;
using framework::PodInfoPtr;
using framework::QueueingHint;
using framework::Status;
using testing::AskHint;
using testing::FakeHandle;
using testing::MakeCsiNode;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakePv;
using testing::MakePvc;
using testing::MakeStorageClass;

const Status kFull = Status::Unschedulable("node(s) exceed max volume count");
constexpr char kEbsLimit[] = "attachable-volumes-aws-ebs";

api::VolumeSource Ebs(std::string_view id) {
  api::VolumeSource source;
  source.aws_elastic_block_store.emplace().volume_id = id;
  return source;
}

testing::PodBuilder WithDisks(std::string_view name, std::vector<std::string> ids) {
  testing::PodBuilder pod = MakePod(name);
  for (const std::string& id : ids) pod.Volume(id, Ebs(id));
  return pod;
}

class InTreeVolumeLimitsTest : public ::testing::Test {
 protected:
  InTreeVolumeLimitsTest() { unsetenv("KUBE_MAX_PD_VOLS"); }
  ~InTreeVolumeLimitsTest() override { unsetenv("KUBE_MAX_PD_VOLS"); }

  template <class P = EBSLimits>
  Status Judge(const testing::PodBuilder& pod, const testing::NodeBuilder& node,
               const std::vector<PodInfoPtr>& running = {}) {
    return MakePlugin<P>(handle_)->Filter(CycleState(), *pod.Info(), node.Info(running));
  }
  void AddEbsVolume(std::string_view name, std::string_view id) {
    api::PersistentVolume volume = MakePv(name);
    volume.spec.source.aws_elastic_block_store.emplace().volume_id = id;
    handle_.Add(volume);
  }
  // How many disks the plugin allows on the node, up to 300.
  template <class P, class AddDisk>
  int RoomOn(const testing::NodeBuilder& node, AddDisk add) {
    testing::PodBuilder pod = MakePod("p");
    int room = 0;
    for (; room < 300; ++room) {
      api::VolumeSource source;
      add(source, "disk-" + std::to_string(room));
      pod.Volume("v" + std::to_string(room), source);
      if (!Judge<P>(pod, node).ok()) break;
    }
    return room;
  }

  FakeHandle handle_;
};

TEST_F(InTreeVolumeLimitsTest, CountsEachDiskOnce) {
  const testing::NodeBuilder node = MakeNode("n").Allocatable(kEbsLimit, "2");
  const std::vector<PodInfoPtr> running = {WithDisks("a", {"one"}).Info(), WithDisks("b", {"one"}).Info()};
  EXPECT_TRUE(Judge(WithDisks("p", {"two"}), node, running).ok());
  EXPECT_TRUE(Judge(WithDisks("p", {"one", "two"}), node, running).ok());
  EXPECT_EQ(Judge(WithDisks("p", {"two", "three"}), node, running), kFull);
  EXPECT_TRUE(Judge(MakePod("p").Volume("config"), node, running).ok());
  EXPECT_TRUE(Judge<GCEPDLimits>(WithDisks("p", {"two", "three"}), node, running).ok()) << "disks of another cloud";
  EXPECT_EQ(Judge(WithDisks("p", {"one"}), MakeNode("n").Allocatable(kEbsLimit, "0")), kFull);
}

TEST_F(InTreeVolumeLimitsTest, TellsTheNumbersBehindARejection) {
  const Status status = Judge(WithDisks("p", {"two", "three"}), MakeNode("n").Allocatable(kEbsLimit, "2"),
                              {WithDisks("a", {"one"}).Info()});
  ASSERT_EQ(status.shortfalls().size(), 1u);
  EXPECT_EQ(status.shortfalls()[0].requested, 2);
  EXPECT_EQ(status.shortfalls()[0].used, 1);
  EXPECT_EQ(status.shortfalls()[0].capacity, 2);
}

TEST_F(InTreeVolumeLimitsTest, LooksThroughClaims) {
  AddEbsVolume("pv-one", "one");
  handle_.Add(MakePv("elsewhere", {.csi_driver = "csi.example.com"}));
  handle_.Add(MakePvc("one", {.volume_name = "pv-one"}));
  handle_.Add(MakePvc("other", {.volume_name = "elsewhere"}));
  handle_.Add(MakeStorageClass("ebs", "WaitForFirstConsumer", "kubernetes.io/aws-ebs"));
  handle_.Add(MakeStorageClass("csi", "WaitForFirstConsumer", "csi.example.com"));
  handle_.Add(MakePvc("unbound", {.storage_class = "ebs"}));
  handle_.Add(MakePvc("lost", {.storage_class = "ebs", .volume_name = "gone"}));
  handle_.Add(MakePvc("unbound-csi", {.storage_class = "csi"}));
  handle_.Add(MakePvc("no-class"));
  struct {
    const char* claim;
    bool counted;
  } const cases[] = {{"one", true},          {"other", false},    {"unbound", true}, {"lost", true},
                     {"unbound-csi", false}, {"no-class", false}, {"missing", false}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.claim);
    const Status status = Judge(MakePod("p").Pvc(test.claim), MakeNode("n").Allocatable(kEbsLimit, "0"));
    EXPECT_EQ(status, test.counted ? kFull : Status::Success());
  }
  EXPECT_TRUE(
      Judge(MakePod("p").Pvc("one"), MakeNode("n").Allocatable(kEbsLimit, "1"), {WithDisks("a", {"one"}).Info()}).ok())
      << "the same disk";
  EXPECT_EQ(Judge(MakePod("p").Pvc(""), MakeNode("n")), Status::Error("PersistentVolumeClaim had no name"));
}

TEST_F(InTreeVolumeLimitsTest, KnowsWhatCloudsTake) {
  const auto ebs = [](api::VolumeSource& source, std::string id) {
    source.aws_elastic_block_store.emplace().volume_id = std::move(id);
  };
  const auto gce = [](api::VolumeSource& source, std::string id) {
    source.gce_persistent_disk.emplace().pd_name = std::move(id);
  };
  const auto azure = [](api::VolumeSource& source, std::string id) {
    source.azure_disk.emplace().disk_name = std::move(id);
  };
  const auto cinder = [](api::VolumeSource& source, std::string id) {
    source.cinder.emplace().volume_id = std::move(id);
  };
  constexpr char kType[] = "node.kubernetes.io/instance-type";
  EXPECT_EQ(RoomOn<EBSLimits>(MakeNode("n"), ebs), 39);
  EXPECT_EQ(RoomOn<EBSLimits>(MakeNode("n").Label(kType, "m4.large"), ebs), 39);
  EXPECT_EQ(RoomOn<EBSLimits>(MakeNode("n").Label(kType, "m5.large"), ebs), 25);
  EXPECT_EQ(RoomOn<EBSLimits>(MakeNode("n").Label(kType, "t3.nano"), ebs), 25);
  EXPECT_EQ(RoomOn<EBSLimits>(MakeNode("n").Label("beta.kubernetes.io/instance-type", "z1d.large"), ebs), 25);
  EXPECT_EQ(RoomOn<GCEPDLimits>(MakeNode("n").Label(kType, "m5.large"), gce), 16);
  EXPECT_EQ(RoomOn<AzureDiskLimits>(MakeNode("n"), azure), 16);
  EXPECT_EQ(RoomOn<CinderLimits>(MakeNode("n"), cinder), 256);
  EXPECT_EQ(RoomOn<CinderLimits>(MakeNode("n").Allocatable("attachable-volumes-cinder", "3"), cinder), 3);
  setenv("KUBE_MAX_PD_VOLS", "7", 1);
  EXPECT_EQ(RoomOn<GCEPDLimits>(MakeNode("n"), gce), 7);
  EXPECT_EQ(RoomOn<GCEPDLimits>(MakeNode("n").Allocatable("attachable-volumes-gce-pd", "3"), gce), 3);
  for (const char* bad : {"", "-1", "0", "many", "7x"}) {
    setenv("KUBE_MAX_PD_VOLS", bad, 1);
    EXPECT_EQ(RoomOn<AzureDiskLimits>(MakeNode("n"), azure), 16) << bad;
  }
}

TEST_F(InTreeVolumeLimitsTest, CountsForTheDriverWhereTheNodeHasMoved) {
  AddEbsVolume("pv-one", "aws://zone-a/vol-1");
  handle_.Add(MakePvc("one", {.volume_name = "pv-one"}));
  handle_.Add(MakePv("native", {.csi_driver = "ebs.csi.aws.com"}));
  handle_.Add(MakePvc("native", {.volume_name = "native"}));
  const testing::NodeBuilder node = MakeNode("n").Allocatable(kEbsLimit, "1");
  const std::vector<PodInfoPtr> running = {MakePod("a").Pvc("native").Info()};
  api::CSINode csi_node = MakeCsiNode("n", "ebs.csi.aws.com", 1);
  handle_.Add(csi_node);
  EXPECT_TRUE(Judge(MakePod("p").Pvc("one"), node, running).ok()) << "by type: the other is no in-tree disk";

  csi_node.metadata.annotations.Set("storage.alpha.kubernetes.io/migrated-plugins",
                                    "kubernetes.io/gce-pd,kubernetes.io/aws-ebs");
  handle_.Add(csi_node);
  EXPECT_EQ(Judge(MakePod("p").Pvc("one"), node, running), kFull);
  EXPECT_TRUE(Judge(MakePod("p").Pvc("one"), node).ok());
  EXPECT_TRUE(Judge(WithDisks("p", {"vol-1"}), node, {MakePod("a").Pvc("one").Info()}).ok())
      << "one disk under two in-tree names is one for the driver";
  EXPECT_TRUE(Judge(MakePod("p").Pvc("native"), node, running).ok());

  csi_node.spec.drivers.clear();
  handle_.Add(csi_node);
  EXPECT_TRUE(Judge(WithDisks("p", {"vol-2", "vol-3"}), node).ok()) << "the CSINode gives no limit";
}

TEST_F(InTreeVolumeLimitsTest, SharesOnlyWhatHasNothingToCount) {
  const auto plugin = MakePlugin<EBSLimits>(handle_);
  framework::SignatureBuilder signature;
  EXPECT_TRUE(plugin->Sign(*MakePod("p").Volume("config").Info(), signature));
  EXPECT_FALSE(plugin->Sign(*WithDisks("p", {"one"}).Info(), signature));
  EXPECT_FALSE(plugin->Sign(*MakePod("p").Pvc("one").Info(), signature));

  std::vector<uint8_t> verdicts(2, 7);
  const auto range = [&](const testing::PodBuilder& pod) {
    return plugin->FilterRange(CycleState(), *pod.Info(), handle_.cluster().columns(), 0, verdicts);
  };
  EXPECT_FALSE(range(WithDisks("p", {"one"})));
  EXPECT_TRUE(range(MakePod("p").Volume("config")));
  EXPECT_THAT(verdicts, ::testing::Each(0));
}

TEST_F(InTreeVolumeLimitsTest, WakesWhenADiskMayBeGone) {
  const auto plugin = MakePlugin<EBSLimits>(handle_);
  const PodInfoPtr pod = WithDisks("p", {"one"}).Info();
  const auto after_end_of = [&](const api::Pod& gone) {
    return AskHint(*plugin, EventResource::kPod, *pod, &gone, {});
  };
  EXPECT_EQ(after_end_of(WithDisks("a", {"two"}).Node("n").Obj()), QueueingHint::kQueue);
  EXPECT_EQ(after_end_of(WithDisks("a", {"two"}).Obj()), QueueingHint::kSkip);
  EXPECT_EQ(after_end_of(MakePod("a").Node("n").Obj()), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
