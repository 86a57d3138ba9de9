#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/live_api.h"
#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using framework::ObjectCall;
using Verb = framework::ObjectCall::Verb;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LiveObjectCallsTest : public ::testing::Test {
 protected:
  ~LiveObjectCallsTest() override { io_.Stop(); }

  ObjectCall CallFor(Verb verb, std::string name = "") {
    return {.verb = verb, .resource = {"example.com", "v1", "pools"}, .name_space = "ns", .name = std::move(name)};
  }

  base::SystemClock clock_;
  base::ThreadLoop io_;
  testing::YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {true, true, true, true, true}};
  Mailbox mailbox_;
  BindingThreads threads_{4};
  LiveApi api_{client_, events_, mailbox_, threads_, clock_, metrics_, [](const Evictions::Ended&) {}};
};

TEST_F(LiveObjectCallsTest, EachVerbHasItsRequest) {
  server_.Serve("GET", {R"({"kind":"Pool"})"});
  const Result<std::string> read = api_.Call(CallFor(Verb::kGet, "a b"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, R"({"kind":"Pool"})");
  EXPECT_NE(server_.Await({"GET /apis/example.com/v1/namespaces/ns/pools/a%20b "}), "");

  ObjectCall list = CallFor(Verb::kList);
  list.name_space.clear();
  list.label_selector = "tier=gold";
  ASSERT_TRUE(api_.Call(list).ok());
  EXPECT_NE(server_.Await({"GET /apis/example.com/v1/pools?labelSelector=tier%3Dgold "}), "");

  ObjectCall create = CallFor(Verb::kCreate);
  create.body = R"({"spec":1})";
  ASSERT_TRUE(api_.Call(create).ok());
  EXPECT_NE(server_.Await({R"(POST /apis/example.com/v1/namespaces/ns/pools {"spec":1})"}), "");

  ObjectCall update = CallFor(Verb::kUpdate, "a");
  update.subresource = "status";
  update.body = R"({"status":2})";
  ASSERT_TRUE(api_.Call(update).ok());
  EXPECT_NE(server_.Await({R"(PUT /apis/example.com/v1/namespaces/ns/pools/a/status {"status":2})"}), "");

  ObjectCall patch = CallFor(Verb::kPatch, "a");
  patch.body = R"({"spec":3})";
  ASSERT_TRUE(api_.Call(patch).ok());
  EXPECT_NE(server_.Await({R"(PATCH /apis/example.com/v1/namespaces/ns/pools/a {"spec":3})"}), "");
  ASSERT_TRUE(api_.Call(CallFor(Verb::kDelete, "a")).ok());
  EXPECT_NE(server_.Await({"DELETE /apis/example.com/v1/namespaces/ns/pools/a "}), "");
}

TEST_F(LiveObjectCallsTest, TheServersRefusalsHaveTheirCodes) {
  server_.Answer("pools/gone", 404);
  EXPECT_EQ(api_.Call(CallFor(Verb::kGet, "gone")).error().code, ErrorCode::kNotFound);
  server_.Answer("pools/not-served", 404);
  server_.Serve("pools/not-served", {"404 page not found\n"});
  EXPECT_EQ(api_.Call(CallFor(Verb::kGet, "not-served")).error().code, ErrorCode::kNotFound);
  server_.Answer("pools/changed", 409);
  ObjectCall update = CallFor(Verb::kUpdate, "changed");
  update.body = "{}";
  EXPECT_EQ(api_.Call(update).error().code, ErrorCode::kConflict);
  EXPECT_THAT(api_.Call(CallFor(Verb::kGet)).error().message, HasSubstr("expected the name of an object"));
}

// It would block, and delay every pod.
TEST_F(LiveObjectCallsTest, TheSchedulingThreadIsTurnedDown) {
  std::thread([&] {
    api_.NoteSchedulingThread();
    const Result<std::string> read = api_.Call(CallFor(Verb::kGet, "a"));
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().message, AllOf(HasSubstr("pools.v1.example.com"), HasSubstr("scheduling thread")));
  }).join();
  EXPECT_THAT(server_.lines(), IsEmpty());
  EXPECT_TRUE(api_.Call(CallFor(Verb::kGet, "a")).ok()) << "any other may";
}

TEST_F(LiveObjectCallsTest, EventsOfPluginsAreWritten) {
  framework::EventReport event;
  event.regarding.kind = "Pod";
  event.regarding.api_version = "v1";
  event.regarding.namespace_ = Symbol("ns");
  event.regarding.name = "web";
  event.is_warning = true;
  event.reason = "LicenceLost";
  event.action = "Watching";
  event.note = "The seat was taken away";
  api_.Record("packer", event);
  EXPECT_THAT(server_.Await({"POST", "/namespaces/ns/events", "LicenceLost"}),
              AllOf(HasSubstr(R"("type":"Warning")"), HasSubstr(R"("reportingController":"packer")"),
                    HasSubstr("The seat was taken away")));
}

}  // namespace
}  // namespace berth::live
