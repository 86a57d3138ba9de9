// A resource claim that could not be given back: the pod for which that was tried must not wait for an event, since
// there is none. In virtual time; the loop takes its turns on the test's own thread.
#include <gtest/gtest.h>

#include <chrono>

#include "live/testing/virtual_loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using client::ObjectChange;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kClaim[] = R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c"}})";

api::ResourceClaim MakeClaim(const std::string& name) {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.name = name;
  claim.metadata.uid = "uid-" + name;
  claim.metadata.resource_version = "5";
  return claim;
}

// One pod whose claim is allocated on a node that does not exist. Nothing is ever bound.
class LostClaimWriteTest : public testing::VirtualLoopFixture {
 protected:
  LostClaimWriteTest() {
    api::ResourceClaim claim = MakeClaim("c1");
    claim.status.allocation.emplace().node_selector = api::NodeSelector{
        {{.match_expressions = {}, .match_fields = {{Symbol("metadata.name"), "In", {Symbol("n2")}}}}}};
    claim.status.reserved_for.push_back({"", "pods", "web", "default/web"});
    Tell(api::Kind::kResourceClaim, api::MakeObject(claim));
    loop_->StartScheduling();
  }

  void TellPod(ObjectChange::Type type = ObjectChange::Type::kAdded) {
    VirtualLoopFixture::TellPod(MakePod("web").SchedulerName("default-scheduler").ResourceClaim("device", "c1"), type);
  }
  size_t Deallocations() { return Count("PATCH", "resourceclaims/c1/status"); }
};

TEST_F(LostClaimWriteTest, APodSleptOnWhenTheDeallocationOfItsClaimWasLost) {
  server_.Answer("resourceclaims/c1/status", 500);
  TellPod();
  Pass(milliseconds(500));
  ASSERT_EQ(Deallocations(), 1u);
  Pass(milliseconds(2500));
  EXPECT_EQ(Deallocations(), 2u) << "after its backoff";
}

TEST_F(LostClaimWriteTest, APodSleptOnWhenTheMetadataOfItsClaimChangedWhileItWasBeingDeallocated) {
  server_.Answer("resourceclaims/c1/status", 409);
  TellPod();
  Pass(seconds(3));
  EXPECT_EQ(Deallocations(), 2u);
}

// Activating the pod as soon as the write fails would fill the day with attempts.
TEST_F(LostClaimWriteTest, AWriteThatAlwaysFailsIsTriedAgainNoFasterThanThePodsBackoff) {
  server_.Answer("resourceclaims/c1/status", 403);
  TellPod();
  Pass(seconds(60));
  EXPECT_GE(Deallocations(), 6u);
  EXPECT_LE(Deallocations(), 10u);
}

TEST_F(LostClaimWriteTest, AClaimThatIsGivenBackIsNotGivenBackAgain) {
  server_.Serve("resourceclaims/c1/status", {kClaim});
  TellPod();
  Pass(seconds(20));
  EXPECT_EQ(Deallocations(), 1u) << "the API server's report of it wakes the pod";
}

TEST_F(LostClaimWriteTest, APodThatIsGoneIsNotTriedAgain) {
  server_.Answer("resourceclaims/c1/status", 500);
  TellPod();
  Pass(milliseconds(500));
  TellPod(ObjectChange::Type::kDeleted);
  Pass(seconds(20));
  EXPECT_EQ(Deallocations(), 1u);
}

// The claim that was made for extended resources is deleted in two steps, each of which can fail.
TEST_F(LostClaimWriteTest, APodSleptOnWhenTheDeletionOfItsLeftoverClaimWasLost) {
  struct {
    const char* request;
    int status;
    bool is_lost;
  } const kCases[] = {{"PATCH", 500, true},   {"PATCH", 404, false},  {"DELETE", 503, true},
                      {"DELETE", 404, false}, {"DELETE", 200, false}, {"PATCH", 409, true}};
  for (const auto& [request, status, is_lost] : kCases) {
    testing::YesServer server(io_);
    client::ApiClient client(server, io_, clock_, {.protobuf = false});
    Mailbox mailbox;
    LiveApi api(client, events_, mailbox, threads_, clock_, metrics_, {});
    std::vector<std::string> lost;
    api.set_on_lost_write([&](const std::string& uid) { lost.push_back(uid); });
    if (std::string_view(request) == "DELETE") server.Serve("PATCH", {kClaim});
    server.Answer(request, status);
    ASSERT_TRUE(api.DeleteResourceClaim(MakeClaim("web-extended-resources-abcde"), *MakePod("web").Info()).ok());
    io_.Run();
    mailbox.RunAll();
    EXPECT_EQ(lost, is_lost ? std::vector<std::string>{"default/web"} : std::vector<std::string>{})
        << request << " " << status;
  }
}

}  // namespace
}  // namespace berth::live
