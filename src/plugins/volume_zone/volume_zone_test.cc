#include "plugins/volume_zone/volume_zone.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::QueueingHint;
using framework::Status;
using testing::AskHint;
using testing::FakeHandle;
using testing::Judge;
using testing::kZoneLabel;
using testing::LabelPairs;
using testing::LabelsOf;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;
using testing::MakePv;
using testing::MakePvc;
using testing::MakeStorageClass;

constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";

api::PersistentVolume Labelled(LabelPairs labels) {
  api::PersistentVolume volume = MakePv("pv");
  volume.metadata.labels = LabelsOf(labels);
  return volume;
}

TEST(VolumeZone, ComparesLabelsOfVolumeAndNode) {
  const struct {
    std::string_view what;
    LabelPairs volume, node;
    bool fits;
  } cases[] = {
      {"same zone", {{kZoneLabel, "a"}}, {{kZoneLabel, "a"}}, true},
      {"another zone", {{kZoneLabel, "a"}}, {{kZoneLabel, "b"}}, false},
      {"one of several", {{kZoneLabel, "a__b"}}, {{kZoneLabel, "b"}}, true},
      {"none of several", {{kZoneLabel, "a__b"}}, {{kZoneLabel, "c"}}, false},
      {"a node without labels is in a cluster of one zone", {{kZoneLabel, "a"}}, {{"x", "y"}}, true},
      {"a node that says only its region", {{kZoneLabel, "a"}}, {{kRegion, "r"}}, false},
      {"old label on the volume, today's on the node", {{kBetaZone, "a"}}, {{kZoneLabel, "a"}}, true},
      {"but not the other way round", {{kZoneLabel, "a"}}, {{kBetaZone, "a"}}, false},
      {"both labels count", {{kZoneLabel, "a"}, {kRegion, "r"}}, {{kZoneLabel, "a"}, {kRegion, "s"}}, false},
      {"an unreadable label is no demand",
       {{kZoneLabel, "a__"}, {kRegion, "r"}},
       {{kZoneLabel, "b"}, {kRegion, "r"}},
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    FakeHandle handle;
    handle.Add(Labelled(c.volume));
    handle.Add(MakePvc("data", {.volume_name = "pv"}));
    testing::NodeBuilder node = MakeNode("n");
    for (const auto& [key, value] : c.node) node.Label(key, value);
    const auto plugin = MakePlugin<VolumeZone>(handle);
    EXPECT_EQ(
        Judge(*plugin, *MakePod("pod").Pvc("data").Info(), node.Info()),
        c.fits ? Status::Success() : Status::UnschedulableAndUnresolvable("node(s) had no available volume zone"));
  }
}

TEST(VolumeZone, PreFilterSaysWhatIsWrongWithTheClaim) {
  FakeHandle handle;
  handle.Add(MakePvc("plain", {.volume_name = "plain"}));
  handle.Add(MakePv("plain"));
  handle.Add(MakePvc("dangling", {.volume_name = "gone"}));
  handle.Add(MakePvc("classless"));
  handle.Add(MakePvc("lost-class", {.storage_class = "gone"}));
  handle.Add(MakePvc("immediate", {.storage_class = "immediate"}));
  handle.Add(MakePvc("waiting", {.storage_class = "waiting"}));
  handle.Add(MakePvc("modeless", {.storage_class = "modeless"}));
  handle.Add(MakeStorageClass("immediate"));
  handle.Add(MakeStorageClass("waiting", "WaitForFirstConsumer"));
  api::StorageClass modeless = MakeStorageClass("modeless");
  modeless.volume_binding_mode.reset();
  handle.Add(modeless);

  const Status skip = Status::Skip();
  const auto rejected = [](std::string why) { return Status::UnschedulableAndUnresolvable(std::move(why)); };
  const struct {
    std::string_view claim;
    Status want;
  } cases[] = {
      {"plain", skip},  // a volume without zone labels
      {"waiting", skip},
      {"missing", rejected("persistentvolumeclaim \"missing\" not found")},
      {"dangling", rejected("persistentvolume \"gone\" not found")},
      {"classless", rejected("PersistentVolumeClaim had no pv name and storageClass name")},
      {"lost-class", rejected("storageclass.storage.k8s.io \"gone\" not found")},
      {"immediate", rejected("PersistentVolume had no name")},
      {"modeless", rejected("VolumeBindingMode not set for StorageClass \"modeless\"")},
      {"", rejected("PersistentVolumeClaim had no name")},
  };
  const auto plugin = MakePlugin<VolumeZone>(handle);
  for (const auto& c : cases) {
    framework::CycleState state;
    EXPECT_EQ(plugin->PreFilter(state, *MakePod("pod").Pvc(c.claim).Info()).status, c.want) << c.claim;
  }
}

TEST(VolumeZone, QueuesForWhatCouldMoveAVolumeNearer) {
  FakeHandle handle;
  const auto plugin = MakePlugin<VolumeZone>(handle);
  const framework::PodInfoPtr pod = MakePod("pod").Pvc("data").Info();

  const api::PersistentVolume a = Labelled({{kZoneLabel, "a"}}), b = Labelled({{kZoneLabel, "b"}});
  api::PersistentVolume grown = a;
  grown.spec.capacity.Set(Symbol("storage"), testing::Amount("5Gi"));
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolume, *pod, {}, &a), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolume, *pod, &a, &b), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolume, *pod, &a, &grown), QueueingHint::kSkip);

  const api::StorageClass waiting = MakeStorageClass("w", "WaitForFirstConsumer"), immediate = MakeStorageClass("i");
  EXPECT_EQ(AskHint(*plugin, EventResource::kStorageClass, *pod, {}, &waiting), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kStorageClass, *pod, {}, &immediate), QueueingHint::kSkip);

  const api::PersistentVolumeClaim data = MakePvc("data"), other = MakePvc("other");
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolumeClaim, *pod, {}, &data), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPersistentVolumeClaim, *pod, {}, &other), QueueingHint::kSkip);
}

TEST(VolumeZone, ExplainsByTheClaimsOfThePod) {
  FakeHandle handle;
  handle.Add(MakePv("disk-a", {.node_label = "zone", .node_label_values = {"a"}}));
  handle.Add(MakePvc("data", {.volume_name = "disk-a"}));
  const auto plugin = MakePlugin<VolumeZone>(handle);
  EXPECT_THAT(testing::FindingsOf(*plugin, *MakePod("p").Pvc("data").Info(), MakeNode("n").Info()),
              ::testing::ElementsAre("claim data | zone=a |  | claim data is bound to volume disk-a, which wants "
                                     "zone=a, the node has no label zone"));
}

}  // namespace
}  // namespace berth::plugins
