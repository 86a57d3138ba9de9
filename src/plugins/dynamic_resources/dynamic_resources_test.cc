#include "plugins/dynamic_resources/dynamic_resources.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace berth::plugins
