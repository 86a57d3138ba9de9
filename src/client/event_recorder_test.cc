#include "client/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/pod.h"
#include "base/testing/fake_loop.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusJson;
using namespace std::chrono_literals;

class EventRecorderTest : public ::testing::Test {
 protected:
  static EventNote Note(const std::string& pod, std::string note = "0/3 nodes are available") {
    api::ObjectMeta metadata;
    metadata.name = pod;
    metadata.namespace_ = Symbol("shop");
    metadata.uid = "u-" + pod;
    metadata.resource_version = "7";
    return {.reporting_controller = "default-scheduler",
            .regarding = ReferenceTo(api::Kind::kPod, metadata),
            .type = "Warning",
            .reason = "FailedScheduling",
            .action = "Scheduling",
            .note = std::move(note)};
  }
  std::unique_ptr<EventRecorder> Make(EventRecorderOptions options = {.hostname = "host"}) {
    options.on_problem = [this](const Error& error) { problems_.push_back(error.message); };
    return std::make_unique<EventRecorder>(client_, loop_, clock_, options);
  }
  std::vector<std::string> Asked() const {
    std::vector<std::string> asked;
    for (const http::testing::FakeCallPtr& call : transport_.calls()) {
      asked.push_back(call->request().method + call->request().path.substr(call->request().path.rfind('/')));
    }
    return asked;
  }
  const std::string& Body(size_t index) const { return transport_.calls().at(index)->request().body; }

  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  std::function<void(const http::testing::FakeCallPtr&)> on_call_ = [](const http::testing::FakeCallPtr& call) {
    call->Answer(201, "{}");
  };
  http::testing::FakeTransport transport_{loop_, [this](const http::testing::FakeCallPtr& call) { on_call_(call); }};
  ApiClient client_{transport_, loop_, clock_, {.protobuf = false}};
  std::vector<std::string> problems_;
};

TEST_F(EventRecorderTest, WritesAnEvent) {
  const auto recorder = Make();
  recorder->Record(Note("web"));
  loop_.Run();
  EXPECT_EQ(transport_.calls().at(0)->request().path, "/apis/events.k8s.io/v1/namespaces/shop/events");
  EXPECT_EQ(
      Body(0),
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"web.17979cfe362a0000",)"
      R"("namespace":"shop"},"eventTime":"2023-11-14T22:13:20.000000Z","reportingController":"default-scheduler",)"
      R"("reportingInstance":"default-scheduler-host","action":"Scheduling","reason":"FailedScheduling",)"
      R"("regarding":{"kind":"Pod","namespace":"shop","name":"web","uid":"u-web","apiVersion":"v1",)"
      R"("resourceVersion":"7"},"note":"0/3 nodes are available","type":"Warning"})");
  EXPECT_EQ(recorder->waiting(), 0u);
}

TEST_F(EventRecorderTest, AlikeEventsBecomeASeries) {
  const auto recorder = Make();
  for (int i = 0; i < 5; ++i) {
    recorder->Record(Note("web", "another note each time " + std::to_string(i)));
    loop_.Advance(1s);
  }
  recorder->Record(Note("other"));
  loop_.Run();
  EXPECT_THAT(Asked(), ElementsAre("POST/events", "PATCH/web.17979cfe362a0000", ::testing::StartsWith("POST/")));
  EXPECT_EQ(Body(1), R"({"series":{"count":2,"lastObservedTime":"2023-11-14T22:13:21.000000Z"}})");
  // Six minutes after the last of them, at the next check, the count is written and the series ends.
  loop_.Advance(12min);
  ASSERT_EQ(transport_.calls().size(), 4u);
  EXPECT_EQ(Body(3), R"({"series":{"count":5,"lastObservedTime":"2023-11-14T22:13:24.000000Z"}})");
  recorder->Record(Note("web"));
  loop_.Run();
  EXPECT_THAT(Asked().back(), HasSubstr("POST"));
}

TEST_F(EventRecorderTest, ASeriesIsRefreshedWhileItGoesOn) {
  const auto recorder = Make();
  for (int i = 0; i < 32; ++i) {
    recorder->Record(Note("web"));
    loop_.Advance(1min);
  }
  ASSERT_EQ(transport_.calls().size(), 3u);
  EXPECT_THAT(Body(2), HasSubstr("\"count\":30"));
}

TEST_F(EventRecorderTest, ASeriesWhoseEventIsGoneIsCreated) {
  const auto recorder = Make();
  recorder->Record(Note("web"));
  loop_.Run();
  on_call_ = [](const http::testing::FakeCallPtr& call) {
    call->request().method == "PATCH" ? call->Answer(404, StatusJson(404, "NotFound", "")) : call->Answer(201, "{}");
  };
  recorder->Record(Note("web"));
  loop_.Run();
  EXPECT_THAT(Asked(), ElementsAre("POST/events", HasSubstr("PATCH"), "POST/events"));
  EXPECT_THAT(Body(2), HasSubstr(R"("series":{"count":2)"));
}

TEST_F(EventRecorderTest, TriesTwelveTimesWithoutAnAnswerAndNotAtAllWhenRefused) {
  const auto recorder = Make();
  on_call_ = [](const http::testing::FakeCallPtr& call) { call->End(Error::Unavailable("connection refused")); };
  recorder->Record(Note("web"));
  loop_.Advance(5min);
  EXPECT_EQ(transport_.calls().size(), 12u);
  EXPECT_THAT(problems_, ElementsAre("connection refused"));
  on_call_ = [](const http::testing::FakeCallPtr& call) {
    call->Answer(403, StatusJson(403, "Forbidden", "being terminated"));
  };
  recorder->Record(Note("other"));
  loop_.Advance(5min);
  EXPECT_EQ(transport_.calls().size(), 13u);
  EXPECT_EQ(recorder->waiting(), 0u);
}

TEST_F(EventRecorderTest, DropsWhatItCannotHold) {
  uint64_t dropped = 0;
  const auto recorder =
      Make({.hostname = "host", .max_waiting = 40, .max_in_flight = 8, .on_dropped = [&](uint64_t count) {
              dropped += count;
            }});
  on_call_ = [](const http::testing::FakeCallPtr&) {};
  for (int i = 0; i < 100; ++i) recorder->Record(Note("p" + std::to_string(i)));
  loop_.Run();
  EXPECT_EQ(recorder->waiting(), 40u);
  EXPECT_EQ(transport_.calls().size(), 8u) << "in flight";
  on_call_ = [](const http::testing::FakeCallPtr& call) { call->Answer(201, "{}"); };
  for (const http::testing::FakeCallPtr& call : transport_.open()) call->Answer(201, "{}");
  loop_.Run();
  EXPECT_EQ(recorder->waiting(), 0u);
  EXPECT_EQ(transport_.calls().size(), 40u);
  loop_.Advance(1min);
  EXPECT_EQ(dropped, 60u);
}

TEST_F(EventRecorderTest, WhatWasDroppedWasCountedAndNeverShown) {
  std::vector<uint64_t> reported;
  EventRecorder recorder(
      client_, loop_, clock_,
      {.hostname = "host", .max_waiting = 1, .on_dropped = [&](uint64_t count) { reported.push_back(count); }});
  loop_.Run();
  for (int i = 0; i < 8; ++i) recorder.Record(Note("p" + std::to_string(i)));
  loop_.Advance(3min);
  EXPECT_THAT(reported, ElementsAre(7u)) << "once";
}

TEST_F(EventRecorderTest, MemoryGrewWithEveryPodThatHadPassed) {
  const auto recorder = Make({.hostname = "host", .max_remembered = 100});
  for (int i = 0; i < 1000; ++i) {
    recorder->Record(Note("p" + std::to_string(i)));
    loop_.Advance(1ms);
  }
  EXPECT_EQ(recorder->remembered(), 100u);
  EXPECT_EQ(transport_.calls().size(), 1000u);
  recorder->Record(Note("p999"));
  recorder->Record(Note("p0"));
  loop_.Run();
  EXPECT_THAT(Asked()[1000], HasSubstr("PATCH")) << "remembered";
  EXPECT_EQ(Asked()[1001], "POST/events") << "forgotten";
  loop_.Advance(13min);
  EXPECT_EQ(recorder->remembered(), 0u);
}

TEST_F(EventRecorderTest, ASeriesThatIsForgottenHasItsCountWritten) {
  const auto recorder = Make({.hostname = "host", .max_remembered = 1});
  for (int i = 0; i < 4; ++i) recorder->Record(Note("web"));
  loop_.Run();
  EXPECT_EQ(transport_.calls().size(), 2u);
  recorder->Record(Note("other"));
  loop_.Run();
  ASSERT_EQ(transport_.calls().size(), 4u);
  EXPECT_THAT(Body(2), HasSubstr(R"("count":4)"));
}

TEST_F(EventRecorderTest, AWallClockThatIsSetBackDoesNotKeepEventsForEver) {
  const auto recorder = Make();
  recorder->Record(Note("web"));
  loop_.Run();
  clock_.Advance(-24h);
  loop_.Advance(13min);
  EXPECT_EQ(recorder->remembered(), 0u);
}

TEST_F(EventRecorderTest, CutsNotesAndMakesUpNames) {
  const auto recorder = Make();
  recorder->Record(Note(std::string(250, 'a'), std::string(1019, 'x') + "\u00e9" + std::string(100, 'y')));
  loop_.Run();
  EXPECT_THAT(Body(0), HasSubstr(std::string(1019, 'x') + " ...\""));
  EXPECT_THAT(Body(0), ::testing::ContainsRegex(R"("name":"[0-9a-f]{8}-)")) << "too long a name for an event";
}

}  // namespace
}  // namespace berth::client
