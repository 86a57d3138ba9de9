#include "testing/fake_handle.h"

#include <gmock/gmock.h>

#include "testing/builders.h"

namespace berth::testing {
namespace {

using framework::Code;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FakeHandle, KeepsObjectsByKind) {
  FakeHandle handle;
  handle.Add(MakePv("v"));
  handle.Add(MakePvc("c"));
  handle.Add(MakePvc("c", {.volume_name = "v"}));
  const framework::Handle& seen = handle;
  EXPECT_NE(seen.objects().persistent_volumes.Find("v"), nullptr);
  ASSERT_EQ(seen.objects().persistent_volume_claims.size(), 1u);
  EXPECT_EQ(seen.objects().persistent_volume_claims.Find("default", "c")->spec.volume_name, "v");
}

TEST(FakeHandle, RemembersWritesAndAnswersAsTold) {
  FakeHandle handle;
  framework::ApiWriter& api = static_cast<framework::Handle&>(handle).api();
  const framework::PodInfoPtr pod = MakePod("p").Info(), victim = MakePod("v").Info();
  EXPECT_TRUE(api.Bind(*pod, "n").ok());
  EXPECT_TRUE(api.Evict(*victim, *pod).ok());
  EXPECT_TRUE(api.SetNominatedNode(*pod, "n").ok());
  handle.api().answer = Status::Error("conflict");
  EXPECT_EQ(api.UpdatePersistentVolume(std::make_shared<api::PersistentVolume>(MakePv("v"))).Message(), "conflict");
  EXPECT_TRUE(api.Await([] { return Status::Skip(); }, {}).ok());

  EXPECT_THAT(handle.api().bound, ElementsAre(Pair("default/p", "n")));
  EXPECT_THAT(handle.api().evicted, ElementsAre(Pair("default/v", "default/p")));
  EXPECT_THAT(handle.api().nominated, ElementsAre(Pair("default/p", "n")));
  EXPECT_EQ(handle.api().written_volumes.size(), 1u);
  EXPECT_TRUE(handle.api().awaited()->IsSkip());
}

TEST(FakeHandle, FiltersAsTold) {
  FakeHandle handle{FitsCpu};
  handle.cluster().AddNode(MakeNode("free").Capacity("cpu", "2"));
  handle.cluster().AddNode(MakeNode("full").Capacity("cpu", "2"), {MakePod("x").Request("cpu", "2").Info()});
  handle.cluster().AddNode(MakeNode("small").Capacity("cpu", "1"));
  handle.nominator().Nominate(MakePod("promised").Priority(5).Request("cpu", "2").Info(), "free");
  const auto run = [&](int32_t priority, std::string_view node) {
    framework::CycleState state;
    return handle.RunFilterWithNominatedPods(state, *MakePod("p").Priority(priority).Request("cpu", "2").Info(),
                                             handle.cluster().Node(node));
  };
  EXPECT_TRUE(run(6, "free").ok()) << "the promise is to a lesser pod";
  EXPECT_EQ(run(5, "free").code(), Code::kUnschedulable);
  EXPECT_EQ(run(6, "small").code(), Code::kUnschedulableAndUnresolvable);
  handle.BreakFilterOn("free");
  EXPECT_TRUE(run(6, "free").IsError());

  const framework::NodeToStatus all = handle.FilterAll(*MakePod("p").Request("cpu", "2").Info());
  EXPECT_FALSE(all.IsExplicit(handle.cluster().Node("free").index()));
  EXPECT_EQ(all.Get(handle.cluster().Node("full").index()).code(), Code::kUnschedulable);
  EXPECT_EQ(all.Get(handle.cluster().Node("small").index()).code(), Code::kUnschedulableAndUnresolvable);
}

TEST(FakeHandle, WithoutAFilterEveryNodeFits) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("n"));
  framework::CycleState state;
  const framework::PodInfoPtr pod = MakePod("p").Request("cpu", "64").Info();
  EXPECT_TRUE(handle.RunFilterWithNominatedPods(state, *pod, handle.cluster().Node("n")).ok());
  EXPECT_EQ(handle.FilterAll(*pod).explicit_count(), 0u);
}

}  // namespace
}  // namespace berth::testing
