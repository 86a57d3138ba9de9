#include "framework/pod_resources.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "framework/pod_info.h"
#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::Amount;
using berth::testing::MakePod;
using berth::testing::PodBuilder;

// "cpu=1 memory=2Gi", in name order.
std::string Text(const api::ResourceList& list) {
  std::string text;
  for (const auto& [name, amount] : list) {
    if (!text.empty()) text += ' ';
    text.append(name.str()).append("=").append(amount.ToString());
  }
  return text;
}

TEST(PodRequests, AddsUpWhatRunsTogether) {
  const struct {
    std::string_view what;
    PodBuilder pod;
    std::string_view expected;
  } kCases[] = {
      {"nothing", MakePod("p").Container(), ""},
      {"containers add up",
       MakePod("p").Container().Request("cpu", "100m").Request("memory", "1Gi").Container().Request("cpu", "200m"),
       "cpu=300m memory=1Gi"},
      {"parts of a unit are added before rounding",
       MakePod("p").Container().Request("cpu", "0.5m").Container().Request("cpu", "0.5m"), "cpu=1m"},
      {"a larger init container decides",
       MakePod("p").InitContainer().Request("cpu", "1").Container().Request("cpu", "300m").Request("memory", "1Gi"),
       "cpu=1 memory=1Gi"},
      {"init containers run one after the other",
       MakePod("p").InitContainer().Request("cpu", "2").InitContainer().Request("cpu", "1").Container(), "cpu=2"},
      {"a sidecar runs beside containers", MakePod("p").Sidecar().Request("cpu", "1").Container().Request("cpu", "2"),
       "cpu=3"},
      {"an init container runs beside the sidecars before it",
       MakePod("p").Sidecar().Request("cpu", "1").InitContainer().Request("cpu", "5").Container().Request("cpu", "2"),
       "cpu=6"},
      {"but not beside those after it",
       MakePod("p").InitContainer().Request("cpu", "5").Sidecar().Request("cpu", "1").Container().Request("cpu", "2"),
       "cpu=5"},
      {"overhead comes on top", MakePod("p").Request("cpu", "1").Overhead("cpu", "250m").Overhead("memory", "64Mi"),
       "cpu=1250m memory=64Mi"},
      {"pod-level amounts replace the sum; overhead still comes on top",
       MakePod("p")
           .Request("cpu", "1")
           .Request("nvidia.com/gpu", "1")
           .PodLevelRequest("cpu", "4")
           .PodLevelRequest("hugepages-2Mi", "2Mi")
           .Overhead("cpu", "1"),
       "cpu=5 hugepages-2Mi=2Mi nvidia.com/gpu=1"},
      {"other pod-level resources do not count",
       MakePod("p").Request("cpu", "1").PodLevelRequest("ephemeral-storage", "1Gi"), "cpu=1"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Text(PodRequests(c.pod.Obj(), {})), c.expected) << c.what;
}

TEST(PodRequests, PodLevelResourcesCanBeSkipped) {
  const api::Pod pod = MakePod("p").Request("cpu", "1").PodLevelRequest("cpu", "4").Obj();
  EXPECT_EQ(Text(PodRequests(pod, {.skip_pod_level_resources = true})), "cpu=1");
}

TEST(PodRequests, FillsInWhatContainersDoNotName) {
  const PodRequestOptions options{.missing_container_requests = {{CpuName(), Amount("100m")}}};
  const api::Pod pod =
      MakePod("p").Container().Request("cpu", "0").Container().Container().Request("memory", "1Mi").Obj();
  EXPECT_EQ(Text(PodRequests(pod, options)), "cpu=200m memory=1Mi");
}

// A pod of one container that wants 2 cpus, has 1 in force and was granted 1500m.
api::Pod Resizing(std::string_view reason, bool sidecar = false) {
  PodBuilder builder = MakePod("p");
  (sidecar ? builder.Sidecar() : builder.Container()).Request("cpu", "2");
  if (!reason.empty()) builder.Condition("PodResizePending", "True", reason);
  api::Pod pod = builder.Obj();
  api::ContainerStatus status;
  status.name = sidecar ? pod.spec.init_containers[0].name : pod.spec.containers[0].name;
  status.allocated_resources.Set(CpuName(), Amount("1500m"));
  status.resources.emplace().requests.Set(CpuName(), Amount("1"));
  (sidecar ? pod.status.init_container_statuses : pod.status.container_statuses).push_back(status);
  return pod;
}

TEST(PodRequests, HoldsTheLargestAmountDuringAResize) {
  const PodRequestOptions with_status{.use_status_resources = true};
  EXPECT_EQ(Text(PodRequests(Resizing(""), with_status)), "cpu=2");
  EXPECT_EQ(Text(PodRequests(Resizing("Deferred"), with_status)), "cpu=2");
  EXPECT_EQ(Text(PodRequests(Resizing("Infeasible"), with_status)), "cpu=1500m");
  EXPECT_EQ(Text(PodRequests(Resizing("Infeasible", /*sidecar=*/true), with_status)), "cpu=1500m");
  EXPECT_EQ(Text(PodRequests(Resizing("Infeasible"), {})), "cpu=2") << "status not considered";

  api::Pod shrinking = Resizing("");
  shrinking.spec.containers[0].resources.requests.Set(CpuName(), Amount("500m"));
  EXPECT_EQ(Text(PodRequests(shrinking, with_status)), "cpu=1500m") << "not given back yet";

  api::Pod plain_init = Resizing("Infeasible", /*sidecar=*/true);
  plain_init.spec.init_containers[0].restart_policy.reset();
  EXPECT_EQ(Text(PodRequests(plain_init, with_status)), "cpu=2") << "ordinary init containers cannot be resized";

  api::Pod unreported = Resizing("Infeasible");
  unreported.status.container_statuses[0].resources.reset();
  EXPECT_EQ(Text(PodRequests(unreported, with_status)), "cpu=2");
}

TEST(PodRequests, HoldsTheLargestAmountDuringAPodLevelResize) {
  api::Pod pod = MakePod("p").Container().PodLevelRequest("cpu", "1").PodLevelRequest("memory", "1Gi").Obj();
  pod.status.allocated_resources.Set(CpuName(), Amount("2"));
  pod.status.resources.emplace().requests.Set(CpuName(), Amount("3"));
  EXPECT_EQ(Text(PodRequests(pod, {.use_status_resources = true})), "cpu=1 memory=1Gi");
  const PodRequestOptions options{.use_status_resources = true, .in_place_pod_level_resize = true};
  EXPECT_EQ(Text(PodRequests(pod, options)), "cpu=3 memory=1Gi");
  pod.status.conditions.push_back({"PodResizePending", "True", "Infeasible", ""});
  EXPECT_EQ(Text(PodRequests(pod, options)), "cpu=3 memory=0");
}

TEST(PodRequests, OptionsFollowTheGates) {
  const PodRequestOptions by_default = RunningPodOptions({});
  EXPECT_TRUE(by_default.use_status_resources);
  EXPECT_FALSE(by_default.skip_pod_level_resources);
  EXPECT_TRUE(by_default.in_place_pod_level_resize);
  config::FeatureGates gates;
  ASSERT_TRUE(gates.Set("InPlacePodLevelResourcesVerticalScaling", false).ok());
  ASSERT_TRUE(gates.Set("PodLevelResources", false).ok());
  EXPECT_TRUE(RunningPodOptions(gates).skip_pod_level_resources);
  EXPECT_FALSE(RunningPodOptions(gates).in_place_pod_level_resize);
}

TEST(PodLimits, AddUpLikeRequestsAndTakeOverheadWhereThereIsALimit) {
  api::Pod pod = MakePod("p").Container().Limit("cpu", "1").Container().Limit("cpu", "2").Limit("memory", "1Gi").Obj();
  EXPECT_EQ(Text(PodLimits(pod)), "cpu=3 memory=1Gi");
  pod.spec.init_containers.resize(2);
  pod.spec.init_containers[0].restart_policy = "Always";
  pod.spec.init_containers[0].resources.limits.Set(CpuName(), Amount("500m"));
  pod.spec.init_containers[1].resources.limits.Set(CpuName(), Amount("4"));
  EXPECT_EQ(Text(PodLimits(pod)), "cpu=4500m memory=1Gi");
  pod.spec.resources.emplace().limits.Set(CpuName(), Amount("8"));
  pod.spec.resources->limits.Set(Symbol("nvidia.com/gpu"), Amount("1"));
  pod.spec.overhead.Set(CpuName(), Amount("250m"));
  pod.spec.overhead.Set(Symbol("ephemeral-storage"), Amount("1Gi"));
  EXPECT_EQ(Text(PodLimits(pod)), "cpu=8250m memory=1Gi");
}

TEST(PodLevelRequests, OnlySupportedRequestsCount) {
  EXPECT_FALSE(HasPodLevelRequests(MakePod("p").Request("cpu", "1").Obj()));
  EXPECT_FALSE(HasPodLevelRequests(MakePod("p").PodLevelRequest("nvidia.com/gpu", "1").Obj()));
  EXPECT_TRUE(HasPodLevelRequests(MakePod("p").PodLevelRequest("hugepages-1Gi", "1Gi").Obj()));
}

}  // namespace
}  // namespace berth::framework
