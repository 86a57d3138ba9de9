// How reflectors handle servers that lack something: streaming lists, a kind, an answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/scheduling_kinds.h"
#include "client/sync_report.h"
#include "client/testing/reflector_fixture.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Parameter;
using namespace std::chrono_literals;

class ReflectorFaultsTest : public testing::ReflectorFixture {
 protected:
  // 404 for everything, as from a proxy without a server behind it, or a server that does not have the kind.
  void AnswerNotFound(bool not_found) {
    server_.interfere = [not_found](const FakeCallPtr& call) {
      if (not_found) call->Answer(404, "404 page not found\n", {{"content-type", "text/plain"}});
      return not_found;
    };
  }
  // Lists are forbidden; watches are answered with `watch_status`, or served if that is 200.
  void RefuseLists(int watch_status = 200) {
    server_.interfere = [watch_status](const FakeCallPtr& call) {
      const bool is_list =
          Parameter(call->request(), "watch").empty() || !Parameter(call->request(), "sendInitialEvents").empty();
      if (!is_list && watch_status == 200) return false;
      is_list ? call->Answer(403, testing::StatusJson(403, "Forbidden", "nodes is forbidden"))
              : call->Answer(watch_status, testing::StatusJson(watch_status, "Expired", "no"));
      return true;
    };
  }
  void EndWatch() {
    for (const FakeCallPtr& call : transport_.open()) call->End();
  }
  size_t Streams() const {
    size_t count = 0;
    for (const FakeCallPtr& call : transport_.calls())
      count += !Parameter(call->request(), "sendInitialEvents").empty();
    return count;
  }
};

INSTANTIATE_TEST_SUITE_P(Encodings, ReflectorFaultsTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "protobuf" : "json"; });

TEST_P(ReflectorFaultsTest, AnEtcdWithoutProgressRequestsLeftItWithoutAListForEver) {
  server_.streaming_error = "the required storage feature RequestWatchProgress is disabled";
  server_.Put("a");
  Start();
  ExpectInStep();
  EXPECT_EQ(transport_.calls().size(), 3u) << "a stream, a list, a watch";
  EXPECT_THAT(problems_, IsEmpty()) << "nothing that anybody needs to do something about";
  EXPECT_TRUE(reflector_->state().synced);
  EXPECT_FALSE(reflector_->state().behind_since);
  server_.Put("b");
  server_.Flush();
  loop_.Run();
  ExpectInStep();
}

TEST_P(ReflectorFaultsTest, TriesToStreamAgainWithTheNextSync) {
  server_.streaming_error = "not now";
  Start();
  EXPECT_EQ(Streams(), 1u);
  server_.streaming_error.clear();
  server_.Put("a");
  reflector_->CatchUp([] {});
  loop_.Run();
  ExpectInStep();
  EXPECT_EQ(Streams(), 2u);
  EXPECT_EQ(Parameter(LastCall(), "sendInitialEvents"), "true") << "which goes on as the watch";
}

TEST_P(ReflectorFaultsTest, AnyRefusalOfAStreamIsAnsweredByAList) {
  for (const int code : {400, 401, 403, 405, 415, 422, 500, 503}) {
    SCOPED_TRACE(code);
    server_.interfere = [code](const FakeCallPtr& call) {
      if (Parameter(call->request(), "sendInitialEvents").empty()) return false;
      call->Answer(code, testing::StatusJson(code, "Whatever", "no streams here"));
      return true;
    };
    server_.Put("n" + std::to_string(code));
    sink_ = {};
    Start();
    ExpectInStep();
  }
}

TEST_P(ReflectorFaultsTest, AProxyThatCutsStreamsIsAnsweredByAList) {
  server_.Put("a");
  server_.interfere = [](const FakeCallPtr& call) {
    if (Parameter(call->request(), "sendInitialEvents").empty()) return false;
    call->Head(200, {{"content-type", "application/json"}});
    call->End(Error::Unavailable("connection reset"));
    return true;
  };
  Start();
  loop_.Advance(2s);
  ExpectInStep();
}

TEST_P(ReflectorFaultsTest, AKindThatIsNotServedCountsAsEmpty) {
  AnswerNotFound(true);
  Start();
  EXPECT_FALSE(reflector_->state().synced) << "one 404 is not believed";
  loop_.Advance(5s);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("not served"));
  EXPECT_TRUE(reflector_->state().synced);
  EXPECT_TRUE(reflector_->state().not_served);
  loop_.Advance(10min);
  EXPECT_THAT(sink_.TakeLog(), IsEmpty()) << "said once";
  EXPECT_LE(transport_.calls().size(), 14u);
  AnswerNotFound(false);
  server_.Put("a");
  loop_.Advance(2min);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
  EXPECT_FALSE(reflector_->state().not_served);
}

TEST_P(ReflectorFaultsTest, ThreeNotFoundsOfALoadBalancerLeftObjectsForEver) {
  server_.Put("deleted");
  server_.Put("kept");
  Start();
  sink_.TakeLog();
  AnswerNotFound(true);
  EndWatch();
  server_.Delete("deleted");
  loop_.Advance(20s);
  EXPECT_THAT(sink_.TakeLog(), IsEmpty()) << "as with a server that cannot be reached";
  EXPECT_EQ(reflector_->state().http_status, 404);
  EXPECT_TRUE(reflector_->state().behind_since);
  AnswerNotFound(false);
  loop_.Advance(1min);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-deleted")) << "what was missed, and nothing else";
  ExpectInStep();
}

TEST_P(ReflectorFaultsTest, AKindThatGoesAwayTakesItsObjectsWithIt) {
  server_.Put("a");
  server_.Put("b");
  Start();
  sink_.TakeLog();
  AnswerNotFound(true);
  EndWatch();
  loop_.Advance(119s);
  EXPECT_THAT(sink_.TakeLog(), IsEmpty());
  loop_.Advance(62s);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-a", "-b", "not served"));
  AnswerNotFound(false);
  loop_.Advance(2min);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
}

TEST_P(ReflectorFaultsTest, AnyOtherAnswerBeginsTheCountOfNotFoundsAnew) {
  server_.Put("a");
  Start();
  sink_.TakeLog();
  int calls = 0;
  server_.interfere = [&](const FakeCallPtr& call) {
    ++calls % 3 == 0 ? call->Answer(503, "no backend", {}) : call->Answer(404, "404 page not found\n", {});
    return true;
  };
  EndWatch();
  loop_.Advance(20min);
  EXPECT_GT(calls, 20);
  EXPECT_THAT(sink_.TakeLog(), IsEmpty());
}

TEST_P(ReflectorFaultsTest, PodsAreNeverBelievedToBeGoneAsAKind) {
  EXPECT_TRUE(IsAlwaysServed(api::Kind::kPod));
  EXPECT_FALSE(IsAlwaysServed(api::Kind::kResourceClaim));
  server_.Put("a");
  AnswerNotFound(true);
  Start({.kind = api::Kind::kNode, .always_served = true});
  bool caught_up = false;
  reflector_->CatchUp([&] { caught_up = true; });
  loop_.Advance(10min);
  EXPECT_THAT(sink_.log, IsEmpty());
  EXPECT_EQ(sink_.batches, 0);
  EXPECT_FALSE(caught_up);
  EXPECT_FALSE(reflector_->state().synced);
  AnswerNotFound(false);
  loop_.Advance(1min);
  ExpectInStep();
  EXPECT_TRUE(caught_up);
}

TEST_P(ReflectorFaultsTest, WatchRestartsPaidIntoTheLimitOfWrites) {
  const auto bucket = std::make_shared<TokenBucket>(0.001, 1);
  ApiClient client(transport_, loop_, clock_, {.protobuf = GetParam(), .bucket = bucket});
  reflector_ = std::make_unique<Reflector>(client, loop_, sink_, ReflectorOptions{.kind = api::Kind::kNode});
  reflector_->Start();
  loop_.Advance(5s);
  for (int i = 0; i < 5; ++i) {
    EndWatch();
    loop_.Advance(5s);
    EXPECT_EQ(transport_.open().size(), 1u) << "at once";
  }
  EXPECT_EQ(transport_.calls().size(), 6u);
  EXPECT_EQ(bucket->WaitFor(loop_.Now(), 0), 0s) << "the only token is still there";
  reflector_.reset();
}

TEST_P(ReflectorFaultsTest, CachesThatDoNotFillAreReportedWithWhatIsMissing) {
  bool allowed = false;
  server_.interfere = [&](const FakeCallPtr& call) {
    if (!allowed) call->Answer(403, testing::StatusJson(403, "Forbidden", "nodes is forbidden"));
    return !allowed;
  };
  Start();
  std::vector<std::string> late;
  SyncReport report(loop_, {reflector_.get()}, [&](const std::string& missing) { late.push_back(missing); });
  report.Start();
  loop_.Advance(59s);
  EXPECT_THAT(late, IsEmpty());
  EXPECT_EQ(report.Missing(), "nodes (for 59s: nodes is forbidden)");
  loop_.Advance(61s);
  EXPECT_THAT(late, ElementsAre("nodes (for 60s: nodes is forbidden)", "nodes (for 120s: nodes is forbidden)"));
  allowed = true;
  loop_.Advance(1min);
  EXPECT_EQ(report.Missing(), "");
  late.clear();
  loop_.Advance(5min);
  EXPECT_THAT(late, IsEmpty());
}

TEST_P(ReflectorFaultsTest, ANewLeaderWasBlindWhileItCouldNotList) {
  server_.Put("a");
  Start();
  RefuseLists();
  bool caught_up = false;
  reflector_->CatchUp([&] { caught_up = true; });
  loop_.Run();
  for (const char* name : {"b", "c", "d"}) {
    server_.Put(name);
    server_.Flush();
    loop_.Advance(1min);
    server_.Flush();
    loop_.Run();
    ExpectInStep();
  }
  EXPECT_FALSE(caught_up) << "nobody knows what exists now";
  SyncReport report(loop_, {reflector_.get()}, [](const std::string&) {});
  EXPECT_EQ(report.Missing(), "nodes (for 180s: nodes is forbidden)");
  server_.interfere = nullptr;
  loop_.Advance(5min);
  EXPECT_TRUE(caught_up);
  EXPECT_EQ(report.Missing(), "");
  EXPECT_FALSE(reflector_->state().behind_since);
}

TEST_P(ReflectorFaultsTest, ANewLeaderThatCanNeitherListNorWatchAsksWithPauses) {
  for (const int watch_status : {403, 404, 410, 503}) {
    SCOPED_TRACE(watch_status);
    sink_ = {};
    server_.interfere = nullptr;
    Start();
    RefuseLists(watch_status);
    const size_t before = transport_.calls().size();
    bool caught_up = false;
    reflector_->CatchUp([&] { caught_up = true; });
    loop_.Advance(10min);
    EXPECT_LE(transport_.calls().size() - before, 250u);
    EXPECT_FALSE(caught_up);
  }
}

}  // namespace
}  // namespace berth::client
