#include "plugins/dynamic_resources/dynamic_resources.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::Code;
using testing::FakeHandle;
using testing::MakeNode;
using testing::MakePlugin;
using testing::MakePod;

class DynamicResourcesTest : public ::testing::Test {
 protected:
  void AddClaim(std::string_view name, std::string_view owner_uid = {}, bool deleting = false) {
    api::ResourceClaim claim;
    claim.metadata.name = name;
    claim.metadata.namespace_ = Symbol("default");
    if (!owner_uid.empty()) {
      api::OwnerReference owner;
      owner.uid = owner_uid;
      owner.controller = true;
      claim.metadata.owner_references = {owner};
    }
    if (deleting) claim.metadata.deletion_timestamp.emplace();
    handle_.Add(claim);
  }
  static testing::PodBuilder TemplatePod(std::optional<std::string> made_claim) {
    testing::PodBuilder pod = MakePod("p");
    pod.raw().spec.resource_claims = {{"gpu", std::nullopt, "gpu-template"}};
    if (made_claim) pod.raw().status.resource_claim_statuses = {{"gpu", made_claim}};
    return pod;
  }

  FakeHandle handle_;
};

TEST_F(DynamicResourcesTest, PodsWithoutClaimsPassThrough) {
  const auto plugin = MakePlugin<DynamicResources>(handle_);
  const framework::PodInfoPtr pod = MakePod("p").Info();
  framework::CycleState state;
  EXPECT_TRUE(plugin->PreEnqueue(*pod).ok());
  EXPECT_TRUE(plugin->PreFilter(state, *pod).status.IsSkip());
  EXPECT_TRUE(plugin->Filter(state, *pod, MakeNode("n").Info()).ok());
  EXPECT_EQ(plugin->Score(state, *pod, MakeNode("n").Info()).score, 0);
  EXPECT_TRUE(plugin->Reserve(state, *pod, "n").ok());
  EXPECT_TRUE(plugin->PreBindPreFlight(state, *pod, "n").status.IsSkip());
}

TEST_F(DynamicResourcesTest, PostFilterSaysWhatItHasToSay) {
  const auto plugin = MakePlugin<DynamicResources>(handle_);
  const framework::PodInfoPtr pod = MakePod("p").Info();
  framework::CycleState state;
  const framework::Status cut_short = plugin->PostFilter(state, *pod, framework::NodeToStatus()).status;
  EXPECT_EQ(cut_short.code(), Code::kError);
  EXPECT_EQ(cut_short.Message(), "not found");
  ASSERT_TRUE(plugin->PreFilter(state, *pod).status.IsSkip());
  const framework::Status status = plugin->PostFilter(state, *pod, framework::NodeToStatus()).status;
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.Message(), "no new claims to deallocate");
}

TEST_F(DynamicResourcesTest, PodsWaitForTheirClaims) {
  AddClaim("here");
  AddClaim("going", {}, /*deleting=*/true);
  AddClaim("mine", "default/p");
  AddClaim("theirs", "default/q");
  struct {
    const char* what;
    framework::PodInfoPtr pod;
    std::string_view reason;  // empty: may enter the queue
  } const cases[] = {
      {"exists", MakePod("p").ResourceClaim("gpu", "here").Info(), ""},
      {"missing", MakePod("p").ResourceClaim("gpu", "gone").Info(), "could not find ResourceClaim \"default/gone\""},
      {"going", MakePod("p").ResourceClaim("gpu", "going").Info(), "resourceclaim \"going\" is being deleted"},
      {"not made yet", TemplatePod(std::nullopt).Info(), "pod \"default/p\": ResourceClaim not created yet"},
      {"made", TemplatePod("mine").Info(), ""},
      {"made for another", TemplatePod("theirs").Info(),
       "ResourceClaim default/theirs was not created for Pod default/p (Pod is not owner)"},
  };
  const auto plugin = MakePlugin<DynamicResources>(handle_);
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const framework::Status status = plugin->PreEnqueue(*test.pod);
    EXPECT_EQ(status.Message(), test.reason);
    EXPECT_EQ(status.code(), test.reason.empty() ? Code::kSuccess : Code::kUnschedulableAndUnresolvable);
  }
}

TEST_F(DynamicResourcesTest, PodsWithClaimsShareNoEvaluation) {
  const auto plugin = MakePlugin<DynamicResources>(handle_);
  framework::SignatureBuilder signature;
  EXPECT_TRUE(plugin->Sign(*MakePod("p").Info(), signature));
  EXPECT_FALSE(plugin->Sign(*MakePod("p").ResourceClaim("gpu", "here").Info(), signature));
}

// A claim that has its devices, which every node can use; reserved for the pod if that is said.
class ClaimBindingTest : public DynamicResourcesTest {
 protected:
  api::ResourceClaim Allocated(bool reserved, std::string_view condition = {}) {
    api::ResourceClaim claim;
    claim.metadata.name = "c";
    claim.metadata.uid = "uid-c";
    claim.metadata.namespace_ = Symbol("default");
    claim.metadata.resource_version = "5";
    claim.metadata.finalizers = {std::string(dra::kClaimFinalizer)};
    api::DeviceRequestAllocationResult& result = claim.status.allocation.emplace().devices.results.emplace_back();
    result.request = "r";
    result.driver = "gpu.example.com";
    result.pool = "n";
    result.device = "g0";
    if (!condition.empty()) result.binding_conditions.emplace_back(condition);
    if (reserved) claim.status.reserved_for.push_back({"", "pods", "p", pod_->uid()});
    return claim;
  }
  // A cycle up to PreBind, with its verdict.
  framework::Status Bind() {
    const framework::NodeInfo node = MakeNode("n").Info();
    state_.emplace();
    EXPECT_TRUE(plugin_->PreFilter(*state_, *pod_).status.ok());
    EXPECT_TRUE(plugin_->Filter(*state_, *pod_, node).ok());
    EXPECT_TRUE(plugin_->Reserve(*state_, *pod_, "n").ok());
    return plugin_->PreBind(handle_, *state_, *pod_, "n");
  }

  const framework::PodInfoPtr pod_ = MakePod("p").ResourceClaim("gpu", "c").Info();
  const std::unique_ptr<DynamicResources> plugin_ = MakePlugin<DynamicResources>(handle_);
  std::optional<framework::CycleState> state_;
};

TEST_F(ClaimBindingTest, AReservationWhoseEndIsOnItsWayIsWrittenAgain) {
  handle_.Add(Allocated(/*reserved=*/true));
  EXPECT_TRUE(Bind().ok());
  EXPECT_TRUE(handle_.api().written_statuses.empty()) << "it is reserved";
  plugin_->Unreserve(*state_, *pod_, "n");
  EXPECT_EQ(handle_.api().unreserved, std::vector<std::string>{"c"});
  // The end has not been reported; after a conflict it has taken effect.
  handle_.api().conflicts = 1;
  handle_.api().claim_on_read = std::make_shared<const api::ResourceClaim>(Allocated(/*reserved=*/false));
  EXPECT_TRUE(Bind().ok());
  ASSERT_EQ(handle_.api().written_statuses.size(), 2u);
  for (const api::ResourceClaim& written : handle_.api().written_statuses) {
    ASSERT_EQ(written.status.reserved_for.size(), 1u) << "once";
    EXPECT_EQ(written.status.reserved_for[0].uid, pod_->uid());
  }
}

TEST_F(ClaimBindingTest, APodThatIsBoundLostItsReservationWhenAnAttemptFailed) {
  handle_.Add(Allocated(/*reserved=*/true));
  EXPECT_TRUE(Bind().ok());
  handle_.cluster().AddNode(MakeNode("m"));
  handle_.cluster().AddPod(MakePod("p").ResourceClaim("gpu", "c").Node("m"));
  plugin_->Unreserve(*state_, *pod_, "n");
  EXPECT_TRUE(handle_.api().unreserved.empty());
}

TEST_F(ClaimBindingTest, AConflictIsTriedAgainFourTimes) {
  handle_.Add(Allocated(/*reserved=*/false));
  handle_.api().claim_on_read = std::make_shared<const api::ResourceClaim>(Allocated(/*reserved=*/false));
  handle_.api().conflicts = 5;
  EXPECT_EQ(Bind().Message(), "add reservation to claim default/c: the object has been modified");
  EXPECT_EQ(handle_.api().written_statuses.size(), 5u);
  handle_.api().conflicts = 4;
  EXPECT_TRUE(Bind().ok());
  EXPECT_EQ(handle_.api().written_statuses.size(), 10u);
}

TEST_F(ClaimBindingTest, AClaimThatIsGoneOrLostItsDevicesMeanwhileIsNotBound) {
  handle_.Add(Allocated(/*reserved=*/false));
  api::ResourceClaim fresh = Allocated(/*reserved=*/false);
  fresh.status.allocation.reset();
  handle_.api().conflicts = 1;
  handle_.api().claim_on_read = std::make_shared<const api::ResourceClaim>(fresh);
  EXPECT_EQ(Bind().Message(), "claim default/c got deallocated elsewhere in the meantime");
  fresh.metadata.deletion_timestamp.emplace();
  handle_.api().conflicts = 1;
  handle_.api().claim_on_read = std::make_shared<const api::ResourceClaim>(fresh);
  EXPECT_EQ(Bind().Message(), "claim default/c got deleted in the meantime");
}

// Storm seed 1174: another pod that shares the claim had it deallocated, and allocated on another node.
TEST_F(ClaimBindingTest, APodWasBoundBesideTheDevicesThatItsClaimHadGotMeanwhile) {
  handle_.Add(Allocated(/*reserved=*/false));
  api::ResourceClaim fresh = Allocated(/*reserved=*/false);
  fresh.status.allocation->devices.results[0].pool = "another-node";
  handle_.api().conflicts = 1;
  handle_.api().claim_on_read = std::make_shared<const api::ResourceClaim>(fresh);
  EXPECT_EQ(Bind().Message(), "claim default/c got other devices in the meantime");
}

TEST_F(ClaimBindingTest, DevicesThatDoNotBecomeReadyTimeOutUnderTheirOwnName) {
  handle_.Add(Allocated(/*reserved=*/true, "example.com/ready"));
  EXPECT_TRUE(Bind().ok());
  ASSERT_TRUE(handle_.api().awaited);
  EXPECT_EQ(handle_.api().awaited(), std::nullopt);
  handle_.clock().Advance(std::chrono::hours(1));
  const std::optional<framework::Status> late = handle_.api().awaited();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->Message(), "device binding timeout: context deadline exceeded");
}

}  // namespace
}  // namespace berth::plugins
