#include "client/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/reflector_fixture.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Parameter;
using namespace std::chrono_literals;

class ReflectorTest : public testing::ReflectorFixture {};

INSTANTIATE_TEST_SUITE_P(Encodings, ReflectorTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "protobuf" : "json"; });

TEST_P(ReflectorTest, ListsByStreamAndGoesOnWatchingTheSameStream) {
  server_.Put("a");
  server_.Put("b");
  Start({.kind = api::Kind::kNode, .field_selector = "spec.unschedulable!=true"});
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
  EXPECT_EQ(sink_.batches, 1);
  server_.Put("a");
  server_.Delete("b");
  server_.Put("c");
  server_.Flush();
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("~a", "-b", "+c"));
  EXPECT_EQ(sink_.batches, 2) << "what arrived together is told together";
  ASSERT_EQ(transport_.calls().size(), 1u);
  EXPECT_TRUE(LastCall().path.starts_with("/api/v1/nodes?watch=true&allowWatchBookmarks=true"));
  EXPECT_EQ(Parameter(LastCall(), "fieldSelector"), "spec.unschedulable!=true");
  EXPECT_EQ(Parameter(LastCall(), "resourceVersionMatch"), "NotOlderThan");
  EXPECT_EQ(reflector_->resource_version(), std::to_string(server_.version()));
}

// Regression: all pods of a cluster were decoded and in memory at once.
TEST_P(ReflectorTest, AFirstListIsPassedOnAsItComes) {
  for (const char* name : {"a", "b", "c", "d"}) server_.Put(name);
  server_.events_at_once = 2;
  Start();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
  EXPECT_EQ(sink_.parts, 1);
  EXPECT_EQ(sink_.batches, 0) << "that would say it was all";
  EXPECT_FALSE(reflector_->state().synced);
  server_.SendMoreOfLists(5);
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+c", "+d"));
  EXPECT_EQ(sink_.batches, 1);
  EXPECT_TRUE(reflector_->state().synced);
}

TEST_P(ReflectorTest, WhatAListThatBrokeOffHasToldIsPutRightByTheNext) {
  for (const char* name : {"a", "b", "c"}) server_.Put(name);
  server_.events_at_once = 2;
  Start();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
  server_.events_at_once = SIZE_MAX;
  server_.Delete("a");
  server_.Put("b");
  transport_.open().front()->End(Error::Unavailable("connection reset"));
  EXPECT_EQ(sink_.batches, 0);
  loop_.Advance(2s);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-a", "~b", "+c"));
  EXPECT_EQ(sink_.batches, 1);
  ExpectInStep();
}

// A sink that takes decisions must not see additions while it still has objects that are gone.
TEST_P(ReflectorTest, LaterListsAreToldAsAWhole) {
  server_.Put("a");
  Start();
  sink_.TakeLog();
  server_.Delete("a");
  for (const char* name : {"b", "c", "d"}) server_.Put(name);
  server_.events_at_once = 2;
  reflector_->CatchUp([] {});
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), IsEmpty());
  server_.SendMoreOfLists(5);
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-a", "+b", "+c", "+d"));
  EXPECT_EQ(sink_.parts, 0);
}

TEST_P(ReflectorTest, TellsThatThereIsNothing) {
  Start();
  EXPECT_EQ(sink_.batches, 1);
  EXPECT_THAT(sink_.log, IsEmpty());
}

TEST_P(ReflectorTest, FallsBackToAListWhereTheServerHasNoStreamingList) {
  server_.has_streaming = false;
  for (int i = 0; i < 1200; ++i) server_.Put("n" + std::to_string(i));
  Start();
  ExpectInStep();
  EXPECT_EQ(Parameter(Call(1), "resourceVersion"), "0");
  EXPECT_EQ(Parameter(Call(1), "limit"), "500");
  ASSERT_EQ(transport_.calls().size(), 3u);
  EXPECT_EQ(Parameter(Call(2), "resourceVersion"), std::to_string(server_.version()));
  const int seconds = std::stoi(Parameter(Call(2), "timeoutSeconds"));
  EXPECT_GE(seconds, 300);
  EXPECT_LT(seconds, 600);
}

TEST_P(ReflectorTest, ReadsAllPages) {
  server_.has_streaming = false;
  server_.pages_any_version = true;
  for (int i = 0; i < 1200; ++i) server_.Put("n" + std::to_string(i));
  Start();
  ExpectInStep();
  EXPECT_EQ(transport_.calls().size(), 5u);  // no stream, three pages, a watch
  EXPECT_EQ(Parameter(Call(2), "resourceVersion"), "") << "not allowed with a token";
}

TEST_P(ReflectorTest, ListsWhollyWhenATokenHasExpired) {
  server_.has_streaming = false;
  server_.pages_any_version = true;
  for (int i = 0; i < 600; ++i) server_.Put("n" + std::to_string(i));
  server_.interfere = [this](const http::testing::FakeCallPtr& call) {
    if (!Parameter(call->request(), "continue").empty()) server_.Compact();
    return false;
  };
  server_.pages_any_version = true;
  Start();
  ExpectInStep();
  EXPECT_EQ(Parameter(Call(3), "limit"), "");
  EXPECT_EQ(sink_.batches, 1);
}

TEST_P(ReflectorTest, TellsExactlyWhatItMissedAfterGone) {
  for (const bool as_event : {false, true}) {
    SCOPED_TRACE(as_event);
    server_.expired_as_event = as_event;
    for (const char* name : {"kept", "changed", "deleted", "replaced"}) server_.Put(name);
    if (reflector_ == nullptr) Start();
    server_.Flush();
    loop_.Run();
    sink_.TakeLog();
    transport_.open().front()->End(Error::Unavailable("connection reset"));
    server_.Put("changed");
    server_.Delete("deleted");
    server_.Delete("replaced");
    server_.Put("replaced");
    server_.Put("added");
    server_.Compact();
    loop_.Advance(4s);
    EXPECT_THAT(sink_.TakeLog(), ElementsAre("-deleted", "-replaced", "+added", "~changed", "+replaced"));
    ExpectInStep();
    server_.Delete("added");
  }
}

TEST_P(ReflectorTest, ResumesWithoutAListWhenTheConnectionBreaks) {
  server_.Put("a");
  Start();
  server_.Put("b");
  // Cut off in the middle of an event.
  server_.Flush([](const http::testing::FakeCallPtr& call, std::vector<std::string> frames) {
    call->Data(std::string_view(frames[0]).substr(0, frames[0].size() / 2));
    call->End(Error::Unavailable("connection reset"));
  });
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
  EXPECT_EQ(transport_.calls().size(), 1u) << "not at once";
  loop_.Advance(1600ms);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+b"));
  EXPECT_EQ(Parameter(LastCall(), "sendInitialEvents"), "");
  EXPECT_EQ(transport_.calls().size(), 2u);
}

TEST_P(ReflectorTest, TakesEventsInWhateverPiecesTheyCome) {
  Start();
  server_.Put("a");
  server_.Put("b");
  server_.Flush([this](const http::testing::FakeCallPtr& call, std::vector<std::string> frames) {
    for (const std::string& frame : frames) {
      for (const char byte : frame) {
        call->Data(std::string_view(&byte, 1));
        loop_.Run();
      }
    }
  });
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
}

TEST_P(ReflectorTest, NoticesASilentConnection) {
  Start({.kind = api::Kind::kNode, .idle_timeout = 2min});
  const http::testing::FakeCallPtr silent = transport_.calls().front();
  server_.Put("a");
  server_.Flush([](const http::testing::FakeCallPtr&, std::vector<std::string>) {});
  loop_.Advance(2min - 1ms);
  EXPECT_EQ(transport_.calls().size(), 1u);
  loop_.Advance(1ms);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
  EXPECT_THAT(problems_, IsEmpty()) << "a quiet kind looks the same";
  EXPECT_TRUE(silent->ended());
}

TEST_P(ReflectorTest, BookmarksKeepAQuietWatchAliveAndItsVersionFresh) {
  server_.has_streaming = false;
  Start();
  for (int i = 0; i < 4; ++i) {
    loop_.Advance(1min);
    server_.SendBookmarks();
  }
  loop_.Run();
  EXPECT_EQ(transport_.calls().size(), 3u);
  EXPECT_EQ(reflector_->resource_version(), std::to_string(server_.version()));
}

TEST_P(ReflectorTest, ForgetsDuplicatesAndAsksWhenEventsComeLate) {
  Start();
  server_.Put("a");
  server_.Put("b");
  server_.Put("a");
  server_.Delete("b");
  // Every event twice, then the addition of an object that is gone.
  server_.Flush([this](const http::testing::FakeCallPtr& call, std::vector<std::string> frames) {
    for (const std::string& frame : frames) {
      call->Data(frame);
      call->Data(frame);
    }
    loop_.Run();
    EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b", "~a", "-b"));
    EXPECT_EQ(transport_.calls().size(), 1u);
    call->Data(server_.OldFrame(call, 1));
  });
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), IsEmpty());
  EXPECT_EQ(transport_.calls().size(), 2u) << "only the server can tell what is";
  ExpectInStep();
}

TEST_P(ReflectorTest, TakesEventsOfDifferentObjectsOutOfOrder) {
  server_.Put("a");
  server_.Put("b");
  Start();
  sink_.TakeLog();
  server_.Put("a");
  server_.Put("b");
  server_.Flush([](const http::testing::FakeCallPtr& call, std::vector<std::string> frames) {
    call->Data(frames[1]);
    call->Data(frames[0]);
  });
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("~b", "~a"));
  EXPECT_EQ(transport_.calls().size(), 1u);
}

TEST_P(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  int refused = 0;
  server_.interfere = [&](const http::testing::FakeCallPtr& call) {
    if (++refused > 3) return false;
    call->Answer(429, testing::StatusJson(429, "TooManyRequests", "slow down"),
                 {{"content-type", "application/json"}, {"retry-after", "7"}});
    return true;
  };
  server_.Put("a");
  Start();
  loop_.Advance(21s - 1ms);
  EXPECT_EQ(refused, 3);
  loop_.Advance(1ms);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
  EXPECT_THAT(problems_.front(), HasSubstr("429 nodes: slow down"));
}

TEST_P(ReflectorTest, WasBlindForAnHourBecauseAProxyAskedForThat) {
  server_.Put("a");
  Start();
  bool refused = false;
  server_.interfere = [&](const http::testing::FakeCallPtr& call) {
    if (std::exchange(refused, true)) return false;
    call->Answer(503, "be back soon", {{"retry-after", "3600"}});
    return true;
  };
  for (const http::testing::FakeCallPtr& call : transport_.open()) call->End();
  server_.Put("b");
  loop_.Advance(5s);
  EXPECT_TRUE(refused);
  ExpectInStep();
}

TEST_P(ReflectorTest, KeepsAskingWithGrowingPausesWhereItIsNotAllowed) {
  bool allowed = false;
  std::vector<base::Duration> asked;
  server_.interfere = [&](const http::testing::FakeCallPtr& call) {
    if (allowed) return false;
    // Each round tries a stream first, then a list.
    if (Parameter(call->request(), "watch").empty()) asked.push_back(loop_.Now());
    call->Answer(403, testing::StatusJson(403, "Forbidden", "nodes is forbidden"));
    return true;
  };
  Start();
  loop_.Advance(1min);
  ASSERT_GE(asked.size(), 4u);
  base::Duration least = 800ms;
  for (size_t i = 1; i < asked.size(); ++i, least = std::min<base::Duration>(least * 2, 30s)) {
    EXPECT_GE(asked[i] - asked[i - 1], least);
    EXPECT_LE(asked[i] - asked[i - 1], least * 2);
  }
  EXPECT_THAT(problems_.front(), HasSubstr("403 nodes: nodes is forbidden"));
  allowed = true;
  loop_.Advance(1min);
  EXPECT_EQ(sink_.batches, 1);
}

TEST_P(ReflectorTest, ListsWhereAServerNeverEndsItsInitialEvents) {
  server_.Put("a");
  server_.interfere = [&](const http::testing::FakeCallPtr& call) {
    if (Parameter(call->request(), "sendInitialEvents").empty()) return false;
    call->Head(200, {{"content-type", "application/json"}});
    call->Data(R"({"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}})"
               "\n");
    return true;
  };
  Start();
  // News and bookmarks do not count.
  for (int i = 0; i < 6; ++i) {
    const std::string version = std::to_string(1000 + i);
    const std::string news = R"({"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"new-)" +
                             version + R"(","resourceVersion":")" + version + "\"}}}\n";
    const std::string bookmark =
        R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
        "\"}}}\n";
    for (const http::testing::FakeCallPtr& call : transport_.open()) {
      if (!Parameter(call->request(), "sendInitialEvents").empty()) call->Data(news + bookmark);
    }
    loop_.Advance(10s);
  }
  ExpectInStep();
  EXPECT_THAT(problems_.front(), HasSubstr("initial events end"));
}

TEST_P(ReflectorTest, StartsOverWhenItCannotReadAnEvent) {
  Start();
  server_.Put("a");
  server_.Flush([](const http::testing::FakeCallPtr& call, std::vector<std::string>) {
    call->Data(std::string_view("\0\0\0\3abc\n", 8));
  });
  loop_.Advance(2s);
  EXPECT_EQ(problems_.size(), 1u);
  ExpectInStep();
}

TEST_P(ReflectorTest, ServerErrorsAndRefusedConnectionsAreRetried) {
  int calls = 0;
  server_.interfere = [&](const http::testing::FakeCallPtr& call) {
    if (++calls > 4) return false;
    calls % 2 == 1 ? call->Answer(500, testing::StatusJson(500, "InternalError", "etcd is away"))
                   : call->End(Error::Unavailable("connection refused"));
    return true;
  };
  server_.Put("a");
  Start();
  loop_.Advance(1min);
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
}

TEST_P(ReflectorTest, CatchesUpWithTheLatest) {
  Start();
  server_.Put("a");  // the watch does not report it
  bool done = false;
  reflector_->CatchUp([&] {
    EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a"));
    done = true;
  });
  loop_.Run();
  EXPECT_TRUE(done);
  EXPECT_EQ(Parameter(LastCall(), "resourceVersion"), "") << "a consistent read";
}

// Regression: a leader took decisions on a list from the server's cache that was seconds old.
TEST_P(ReflectorTest, WhoDecidesAtOnceBeginsWithTheLatest) {
  Start({.kind = api::Kind::kNode}, Reflector::From::kLatest);
  EXPECT_EQ(Parameter(transport_.calls().front()->request(), "resourceVersion"), "");
}

TEST_P(ReflectorTest, SaysNothingAfterStop) {
  Start();
  reflector_->Stop();
  server_.Put("a");
  server_.Flush();
  loop_.Advance(10min);
  EXPECT_THAT(sink_.log, IsEmpty());
  EXPECT_EQ(transport_.calls().size(), 1u);
}

}  // namespace
}  // namespace berth::client
