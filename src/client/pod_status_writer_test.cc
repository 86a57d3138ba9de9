// Patches of pods' statuses, through ApiClient as callers use them.
#include "client/pod_status_writer.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fake_loop.h"
#include "client/api_client.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

std::string Nominated(const std::string& version, const std::string& node = "\"n\"") {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","uid":"u-1"}},"status":{{"nominatedNodeName":{}}}}})",
                     version, node);
}
std::string Cleared(const std::string& version) { return Nominated(version, "null"); }

class PodStatusWriterTest : public ::testing::Test {
 protected:
  PodStatusWriterTest() {
    pod_.metadata.name = "web";
    pod_.metadata.namespace_ = Symbol("shop");
    pod_.metadata.uid = "u-1";
    pod_.metadata.resource_version = "5";
  }
  void Patch(PodStatusChange change, WriteClass write_class = WriteClass::kStatus) {
    client_.PatchPodStatus(
        pod_, change,
        [this](const Result<void>& result) { results_.push_back(result ? "ok" : result.error().message); },
        write_class);
    loop_.Run();
  }
  void Nominate(const std::string& node) { Patch({.nominated_node_name = node}); }
  static api::PodCondition Unschedulable(const std::string& message) {
    return {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message};
  }
  std::vector<std::string> Bodies() const {
    std::vector<std::string> bodies;
    for (const FakeCallPtr& call : transport_.calls()) bodies.push_back(call->request().body);
    return bodies;
  }
  // Answers with the pod as it is: after a patch, or read.
  void AnswerLast(const std::string& version, const std::string& uid = "u-1", const std::string& status = "{}") {
    const std::string metadata =
        fmt::format(R"({{"name":"web","namespace":"shop","resourceVersion":"{}","uid":"{}"}})", version, uid);
    transport_.calls().back()->Answer(
        200, fmt::format(R"({{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{{"containers":[]}},"status":{}}})",
                         metadata, status));
    loop_.Run();
  }
  void RefuseLast() {
    transport_.calls().back()->Answer(409, R"({"kind":"Status","reason":"Conflict","code":409})");
    loop_.Advance(10s);
  }
  std::string LastMethod() const { return transport_.calls().back()->request().method; }

  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  http::testing::FakeTransport transport_{loop_, [](const FakeCallPtr&) {}};
  ApiClient client_{transport_, loop_, clock_, {.protobuf = false}};
  api::Pod pod_;
  std::vector<std::string> results_;
};

TEST_F(PodStatusWriterTest, ARetriedNominationLandedAfterItsClearing) {
  Nominate("n");
  Nominate("");  // the known pod does not show the nomination yet
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5")));
  transport_.calls()[0]->Answer(503, "", {{"retry-after", "5"}});
  loop_.Advance(5s);
  // The retry sends the state wanted by now: the first patch may have taken effect, so the nomination is cleared
  // explicitly.
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("5")));
  AnswerLast("6");
  loop_.Advance(1min);
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("5")));
  EXPECT_THAT(results_, ElementsAre("ok", "ok"));
}

// Storm seed 613: a node was held for a pod whose nomination had been cleared. The patch that nominated it had no
// answer in time, and took effect after the clearing.
TEST_F(PodStatusWriterTest, ANominationIsForTheVersionOfThePodThatIsKnown) {
  Nominate("n");
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5")));
  AnswerLast("6");
  Nominate("m");
  EXPECT_THAT(Bodies().back(), HasSubstr(R"("resourceVersion":"6")")) << "of the pod after the first patch";
}

// Storm seed 2026: a report whose patch had no answer in time took effect after the patch of a later report, and the
// pod showed the older reason until its next attempt.
TEST_F(PodStatusWriterTest, ALateReportOverwroteANewerOne) {
  Patch({.condition = Unschedulable("0/1 nodes")});
  EXPECT_THAT(Bodies().back(), HasSubstr(R"("resourceVersion":"5")"));
  transport_.calls().back()->End(Error::Unavailable("no answer in time"));
  Patch({.condition = Unschedulable("0/2 nodes")});
  loop_.Advance(10s);
  EXPECT_THAT(Bodies().back(), AllOf(HasSubstr("0/2 nodes"), HasSubstr(R"("resourceVersion":"5")")))
      << "whichever of the two takes effect first, the server rejects the other";
}

TEST_F(PodStatusWriterTest, APatchOfAnOutdatedVersionIsMadeAnewForTheNewest) {
  Nominate("n");
  RefuseLast();
  EXPECT_EQ(LastMethod(), "GET");
  AnswerLast("8");
  EXPECT_EQ(Bodies().back(), Nominated("8"));
  AnswerLast("9");
  EXPECT_THAT(results_, ElementsAre("ok"));
  // The picture still has version 5.
  Nominate("");
  EXPECT_EQ(Bodies().back(), Cleared("9"));
}

TEST_F(PodStatusWriterTest, WhatANewerVersionShowsAlreadyIsNotWrittenAgain) {
  Nominate("n");
  transport_.calls().back()->End(Error::Unavailable("connection reset"));
  loop_.Advance(10s);
  RefuseLast();  // the first attempt had taken effect
  AnswerLast("6", "u-1", R"({"nominatedNodeName":"n"})");
  EXPECT_EQ(transport_.calls().size(), 3u) << "two patches and a read";
  EXPECT_THAT(results_, ElementsAre("ok"));
}

TEST_F(PodStatusWriterTest, APodThatWasReplacedIsNotPatched) {
  Nominate("n");
  RefuseLast();
  AnswerLast("8", "u-2");
  EXPECT_EQ(transport_.calls().size(), 2u);
  EXPECT_THAT(results_, ElementsAre("ok"));
  EXPECT_EQ(client_.writes().waiting(WriteClass::kStatus), 0u);
}

// Storm seed 1537: a proxy answered 404 to every read of pods.
TEST_F(PodStatusWriterTest, AReportWasLostWhenThePodHadChangedAndCouldNotBeRead) {
  for (const int code : {200, 401, 403, 404}) {
    Nominate("n" + std::to_string(code));
    RefuseLast();
    ASSERT_EQ(LastMethod(), "GET");
    transport_.calls().back()->Answer(code, "{}");
    loop_.Run();
    EXPECT_EQ(LastMethod(), "PATCH");
    EXPECT_THAT(Bodies().back(), HasSubstr(std::to_string(code)));
    EXPECT_THAT(Bodies().back(), Not(HasSubstr("resourceVersion")));
    transport_.calls().back()->Answer(404, testing::StatusJson(404, "NotFound", "now it is gone"));
    loop_.Run();
  }
  EXPECT_EQ(results_.size(), 4u);
  EXPECT_EQ(transport_.calls().size(), 12u);
}

// Storm seed 25851: a pod showed an old reason. A patch had no answer, and the next one changed nothing, so that the
// first was still for the server's version when it took effect.
TEST_F(PodStatusWriterTest, ALatePatchTookEffectAfterOneThatChangedNothing) {
  Nominate("n");
  Nominate("");
  transport_.calls().back()->End(Error::Unavailable("connection reset"));
  loop_.Advance(100ms);
  ASSERT_EQ(transport_.calls().size(), 2u);
  AnswerLast("5");  // the server has no nomination to clear
  EXPECT_THAT(results_, IsEmpty());
  loop_.Advance(2s);
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("5"), Cleared("5")));
  AnswerLast("6");  // the first one has taken effect meanwhile
  EXPECT_EQ(results_.size(), 2u);
  loop_.Advance(1min);
  EXPECT_EQ(transport_.calls().size(), 3u);
}

TEST_F(PodStatusWriterTest, APatchThatCannotTakeEffectAnyMoreIsNotWaitedFor) {
  Nominate("n");
  Nominate("");
  transport_.calls().back()->End(Error::Unavailable("connection reset"));
  loop_.Advance(100ms);
  for (int i = 0; i < 10 && results_.empty(); ++i) {
    AnswerLast("5");
    loop_.Advance(10s);
  }
  EXPECT_THAT(results_, ElementsAre("ok", "ok"));
  EXPECT_LE(transport_.calls().size(), 7u);
}

// An outage of the path to the server is waited for.
TEST_F(PodStatusWriterTest, AReadThatMayWorkLaterIsRepeated) {
  Nominate("n");
  RefuseLast();
  for (const int code : {500, 429}) {
    ASSERT_EQ(LastMethod(), "GET");
    transport_.calls().back()->Answer(code, "");
    loop_.Advance(10s);
  }
  ASSERT_EQ(LastMethod(), "GET");
  AnswerLast("6");
  EXPECT_EQ(LastMethod(), "PATCH");
  EXPECT_THAT(Bodies().back(), HasSubstr(R"("resourceVersion":"6")"));
}

TEST_F(PodStatusWriterTest, APodThatNeverStopsChangingIsGivenUp) {
  Nominate("n");
  for (int version = 6; transport_.calls().size() < 50 && results_.empty(); ++version) {
    LastMethod() == "GET" ? AnswerLast(std::to_string(version)) : RefuseLast();
  }
  EXPECT_EQ(transport_.calls().size(), 11u);
  EXPECT_EQ(results_.size(), 1u);
  EXPECT_EQ(client_.writes().waiting(WriteClass::kStatus), 0u);
}

// The first patch may take effect after the second has been answered; the known pod shows neither.
TEST_F(PodStatusWriterTest, AReasonStayedBesideTheMessageOfAnother) {
  api::PodCondition refused = Unschedulable("binding refused");
  refused.reason = "SchedulerError";
  Patch({.condition = refused});
  Patch({.condition = Unschedulable("0/1 nodes")});
  transport_.calls()[0]->Answer(503, "", {{"retry-after", "5"}});
  loop_.Advance(5s);
  AnswerLast("6");
  Patch({.condition = Unschedulable("0/2 nodes")});
  ASSERT_EQ(Bodies().size(), 3u);
  EXPECT_THAT(Bodies().back(), HasSubstr(R"("message":"0/2 nodes","reason":"Unschedulable","status":"False")"));
}

TEST_F(PodStatusWriterTest, AClearingIsSentAfterTheNominationItClears) {
  Nominate("n");
  Nominate("");
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"))) << "one at a time";
  AnswerLast("6");
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("6")));
}

TEST_F(PodStatusWriterTest, AClearingBeforeTheWatchShowsTheNominationIsNotLost) {
  Nominate("n");
  AnswerLast("6");
  Nominate("");  // the known pod still has version 5
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("6")));
  AnswerLast("7");
  // What has been written is not written again ...
  Nominate("");
  EXPECT_EQ(Bodies().size(), 2u);
  // ... unless somebody else has changed it since.
  pod_.metadata.resource_version = "8";
  pod_.status.nominated_node_name = "theirs";
  Nominate("");
  EXPECT_THAT(Bodies(), ElementsAre(Nominated("5"), Cleared("6"), Cleared("8")));
}

TEST_F(PodStatusWriterTest, ANominationWhoseAnswerWasLostIsCleared) {
  Nominate("n");
  for (int i = 0; i < 10; ++i) {
    transport_.calls().back()->End(Error::Unavailable("connection reset"));
    loop_.Advance(12s);
  }
  EXPECT_THAT(results_, ElementsAre("connection reset"));
  Nominate("");
  EXPECT_EQ(Bodies().back(), Cleared("5"));
}

TEST_F(PodStatusWriterTest, ChangesThatWaitBecomeOnePatchOfTheNewest) {
  Nominate("n");
  Patch({.condition = Unschedulable("0/1 nodes are available")});
  Patch({.condition = Unschedulable("0/2 nodes are available"), .nominated_node_name = "m"});
  Nominate("");
  AnswerLast("6");
  ASSERT_EQ(Bodies().size(), 2u);
  EXPECT_THAT(Bodies()[1], HasSubstr("0/2 nodes are available"));
  EXPECT_THAT(Bodies()[1], HasSubstr(R"("nominatedNodeName":null)"));
  AnswerLast("7");
  EXPECT_THAT(results_, ElementsAre("ok", "ok", "ok", "ok"));
  EXPECT_EQ(client_.writes().waiting(WriteClass::kStatus), 0u);
}

TEST_F(PodStatusWriterTest, ABindOvertakesTheReportOfItsPod) {
  Nominate("n");
  Patch({.condition = Unschedulable("0/1 nodes are available")});
  client_.Bind(pod_, "m", [](const Result<void>&) {});
  loop_.Run();
  EXPECT_THAT(results_, ElementsAre("ok")) << "the report, which nobody needs any more";
  AnswerLast("6");
  ASSERT_EQ(Bodies().size(), 2u);
  EXPECT_THAT(transport_.calls().back()->request().path, HasSubstr("/binding"));
  AnswerLast("7");
  EXPECT_EQ(Bodies().size(), 2u);
  Patch({.condition = Unschedulable("bound elsewhere")});
  EXPECT_EQ(Bodies().size(), 3u) << "what is said afterwards counts";
}

TEST_F(PodStatusWriterTest, PodsWithoutAUidAreNotTakenForOne) {
  pod_.metadata.uid.clear();
  Nominate("n");
  pod_.metadata.name = "other";
  Nominate("n");
  ASSERT_EQ(Bodies().size(), 2u);
  EXPECT_THAT(transport_.calls()[1]->request().path, HasSubstr("/pods/other/status"));
}

TEST_F(PodStatusWriterTest, AMoreUrgentChangeTakesTheOthersAlong) {
  WriteBudgets budgets = kDefaultWriteBudgets;
  budgets[static_cast<size_t>(WriteClass::kStatus)].max_in_flight = 0;
  ApiClient client(transport_, loop_, clock_, {.protobuf = false, .budgets = budgets});
  client.PatchPodStatus(pod_, {.nominated_node_name = "n"}, [](const Result<void>&) {});
  loop_.Run();
  EXPECT_THAT(Bodies(), IsEmpty());
  client.PatchPodStatus(
      pod_, {.condition = Unschedulable("x")}, [](const Result<void>&) {}, WriteClass::kEvict);
  loop_.Run();
  ASSERT_EQ(Bodies().size(), 1u);
  EXPECT_THAT(Bodies()[0], HasSubstr(R"("nominatedNodeName":"n")"));
}

TEST_F(PodStatusWriterTest, WhatHasBeenWrittenIsRememberedForAWhileOnly) {
  WritePath path(loop_,
                 [](const http::Request&, const std::function<void(ApiAnswer)>& answer) {
                   ApiAnswer yes;
                   yes.status.code = 200;
                   answer(yes);
                 },
                 {});
  PodStatusWriter writer(
      path, loop_, clock_,
      {.read = [](const api::Pod&) { return http::Request{.method = "GET"}; },
       .patch = [](const api::Pod&,
                   std::string body) { return http::Request{.method = "PATCH", .body = std::move(body)}; }});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(path.Reserve(WriteClass::kStatus));
    pod_.metadata.uid = std::to_string(i);
    writer.Patch(StatusPartOf(pod_), {.nominated_node_name = "n"}, WriteClass::kStatus, [](const Result<void>&) {});
    loop_.Run();
  }
  EXPECT_EQ(writer.remembered(), 4096u);
  loop_.Advance(11min);
  ASSERT_TRUE(path.Reserve(WriteClass::kStatus));
  writer.Patch(StatusPartOf(pod_), {.nominated_node_name = "m"}, WriteClass::kStatus, [](const Result<void>&) {});
  loop_.Run();
  EXPECT_EQ(writer.remembered(), 1u);
}

}  // namespace
}  // namespace berth::client
