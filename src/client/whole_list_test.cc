// Reflectors that list a kind in one plain list.
#include "client/whole_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/reflector_fixture.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Parameter;
using namespace std::chrono_literals;

class WholeListTest : public testing::ReflectorFixture {
 protected:
  void StartWhole(Reflector::From from = Reflector::From::kAnyVersion) {
    Start({.kind = api::Kind::kNode, .whole_list = true}, from);
  }
  static bool IsList(const http::Request& request) { return Parameter(request, "watch").empty(); }
  // Answers the next list only, as a server does whose answer comes in two pieces.
  void AnswerInPieces() {
    held_ = nullptr;
    body_.clear();
    server_.interfere = [this](const FakeCallPtr& call) {
      if (held_ || !IsList(call->request())) return false;
      held_ = call;
      AskServer(call->request());
      call->Head(200, {{"content-type", GetParam() ? std::string(kProtobufType) : std::string(kJsonType)}});
      call->Data(std::string_view(body_).substr(0, body_.size() - kHeldBack));
      return true;
    };
  }
  // What the server would have answered.
  void AskServer(const http::Request& request) {
    base::testing::FakeLoop loop(&clock_);
    http::testing::FakeTransport transport(loop, [](const FakeCallPtr&) {});
    (void)transport.Start(request, {.on_head = [](const http::ResponseHead&) {},
                                    .on_data = [this](std::string_view data) { body_ += data; },
                                    .on_done = [](Result<void>) {}});
    server_.Handle(transport.calls().front());
  }

  static constexpr size_t kHeldBack = 10;  // more than follows the last object

  std::string body_;
  FakeCallPtr held_;
};

INSTANTIATE_TEST_SUITE_P(Encodings, WholeListTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "protobuf" : "json"; });

TEST_P(WholeListTest, ListsInOneAnswerThenWatches) {
  server_.Put("a");
  server_.Put("b");
  StartWhole();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b"));
  ASSERT_EQ(transport_.calls().size(), 2u);
  EXPECT_TRUE(IsList(Call(0)));
  EXPECT_EQ(Parameter(Call(0), "limit"), "") << "a page might come from etcd";
  EXPECT_EQ(Parameter(Call(0), "resourceVersion"), "0") << "whatever the server has in its cache";
  EXPECT_EQ(Parameter(Call(1), "watch"), "true");
  EXPECT_EQ(Parameter(Call(1), "resourceVersion"), std::to_string(server_.version()));
  server_.Delete("a");
  server_.Flush();
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-a"));
}

TEST_P(WholeListTest, WhoDecidesAtOnceAsksForTheLatest) {
  server_.Put("a");
  StartWhole(Reflector::From::kLatest);
  EXPECT_EQ(Parameter(Call(0), "resourceVersion"), "");
  ExpectInStep();
}

TEST_P(WholeListTest, AFirstListIsPassedOnAsItArrives) {
  for (const char* name : {"a", "b", "c"}) server_.Put(name);
  AnswerInPieces();
  StartWhole();
  if (GetParam()) {
    EXPECT_THAT(sink_.TakeLog(), ElementsAre("+a", "+b")) << "the last one is not there as a whole";
  } else {
    EXPECT_TRUE(sink_.TakeLog().empty()) << "JSON is decoded as a whole";
  }
  EXPECT_EQ(sink_.batches, 0) << "a part is not the list";
  EXPECT_FALSE(reflector_->state().synced);
  held_->Data(std::string_view(body_).substr(body_.size() - kHeldBack));
  held_->End();
  loop_.Run();
  EXPECT_EQ(sink_.batches, 1);
  EXPECT_TRUE(reflector_->state().synced);
  ExpectInStep();
}

// Of a list that broke off, half was believed to be all.
TEST_P(WholeListTest, AListThatBreaksOffIsNoList) {
  for (const char* name : {"a", "b", "c"}) server_.Put(name);
  for (const bool cleanly : {true, false}) {
    SCOPED_TRACE(cleanly);
    AnswerInPieces();
    StartWhole();
    held_->End(cleanly ? Result<void>() : Error::Unavailable("connection reset"));
    loop_.Run();
    EXPECT_EQ(sink_.batches, 0);
    EXPECT_FALSE(reflector_->state().synced);
    server_.Delete("a");
    loop_.Advance(2s);
    EXPECT_TRUE(reflector_->state().synced);
    ExpectInStep();
    EXPECT_EQ(Parameter(LastCall(), "sendInitialEvents"), "true") << "the next one is asked for in another way";
    reflector_.reset();
    server_.Put("a");
    sink_ = {};
  }
}

TEST_P(WholeListTest, AfterAFailureTheNextSyncStreamsAndTheOneAfterListsAgain) {
  server_.Put("a");
  server_.interfere = [this](const FakeCallPtr& call) {
    if (!IsList(call->request())) return false;
    call->Answer(504, testing::StatusJson(504, "Timeout", "the list took too long"));
    return true;
  };
  StartWhole();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("504 nodes: the list took too long")));
  server_.interfere = nullptr;
  loop_.Advance(2s);
  ExpectInStep();
  EXPECT_EQ(Parameter(LastCall(), "sendInitialEvents"), "true");
  bool caught_up = false;
  reflector_->CatchUp([&] { caught_up = true; });
  loop_.Run();
  EXPECT_TRUE(caught_up);
  EXPECT_TRUE(IsList(Call(transport_.calls().size() - 2)));
}

TEST_P(WholeListTest, ARequestToWaitIsFollowedByTheSameList) {
  server_.Put("a");
  server_.interfere = [this](const FakeCallPtr& call) {
    server_.interfere = nullptr;
    call->Answer(429, "", {{"retry-after", "3"}});
    return true;
  };
  StartWhole();
  loop_.Advance(2s);
  EXPECT_EQ(transport_.calls().size(), 1u);
  loop_.Advance(2s);
  EXPECT_TRUE(IsList(Call(1)));
  ExpectInStep();
}

TEST_P(WholeListTest, AWatchFromAVersionThatIsGoneIsFollowedByAListThatIsNotOlder) {
  server_.Put("a");
  StartWhole();
  const uint64_t seen = server_.version();
  server_.Put("b");
  server_.Compact();
  transport_.open().front()->End(Error::Unavailable("connection reset"));
  loop_.Advance(3s);
  ExpectInStep();
  const http::Request& list = Call(transport_.calls().size() - 2);
  EXPECT_TRUE(IsList(list));
  EXPECT_EQ(Parameter(list, "resourceVersion"), std::to_string(seen));
}

TEST_P(WholeListTest, AVersionThatTheServerHasNotReachedIsGivenUp) {
  server_.Put("a");
  StartWhole();
  server_.Put("b");
  server_.Compact();
  server_.interfere = [](const FakeCallPtr& call) {
    if (!IsList(call->request()) || Parameter(call->request(), "resourceVersion").empty()) return false;
    call->Answer(504, testing::StatusJson(504, "Timeout", "Too large resource version: 9, current: 8"));
    return true;
  };
  transport_.open().front()->End(Error::Unavailable("connection reset"));
  loop_.Advance(10s);
  ExpectInStep();
}

TEST_P(WholeListTest, LaterListsAreReportedAsAWhole) {
  server_.Put("a");
  StartWhole();
  sink_.TakeLog();
  server_.Delete("a");
  server_.Put("b");
  reflector_->CatchUp([] {});
  loop_.Run();
  EXPECT_THAT(sink_.TakeLog(), ElementsAre("-a", "+b"));
  EXPECT_EQ(sink_.parts, 0);
}

}  // namespace
}  // namespace berth::client
