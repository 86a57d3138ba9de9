#include "client/write_path.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "base/testing/fake_loop.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

ApiAnswer AnswerOf(int code, int retry_after = -1) {
  ApiAnswer answer;
  answer.status.code = code;
  answer.status.has_retry_after = retry_after >= 0;
  answer.status.retry_after_seconds = std::max(retry_after, 0);
  return answer;
}

class Counting final : public WriteObserver {
 public:
  void OnSent(WriteClass write_class, std::string_view, base::Duration waited) override {
    longest[write_class] = std::max(longest[write_class], waited);
  }
  void OnDepth(WriteClass write_class, size_t waiting, size_t) override {
    deepest[write_class] = std::max(deepest[write_class], waiting);
  }
  void OnRetried(WriteClass) override { ++retried; }
  void OnRejected(WriteClass) override { ++rejected; }
  void OnCollapsed(WriteClass) override { ++collapsed; }

  std::map<WriteClass, base::Duration> longest;
  std::map<WriteClass, size_t> deepest;
  int retried = 0, rejected = 0, collapsed = 0;
};

class WritePathTest : public ::testing::Test {
 protected:
  struct Sent {
    std::string path;
    base::Duration at;
    std::function<void(ApiAnswer)> answer;
  };

  void Make(double qps, int burst, WriteBudgets budgets = kDefaultWriteBudgets) {
    path_ = std::make_unique<WritePath>(
        loop_,
        [this](const http::Request& request, std::function<void(ApiAnswer)> answer) {
          sent_.push_back({request.path, loop_.Now(), answer});
          if (!answers_by_itself_) return;
          ApiAnswer next = AnswerOf(200);
          if (!script_.empty()) {
            next = script_.front();
            script_.pop_front();
          }
          loop_.RunAfter(1ms, [answer, next] { answer(next); });
        },
        WritePath::Options{.bucket = std::make_shared<TokenBucket>(qps, burst),
                           .budgets = budgets,
                           .observer = &observer_,
                           .on_room = [this](WriteClass write_class) { room_.push_back(write_class); }});
  }
  void Submit(WriteClass write_class, const std::string& name, const std::string& key = {}, bool repeatable = false) {
    path_->Submit(
        {.write_class = write_class,
         .key = key,
         .make = [name] { return std::optional(http::Request{.method = "PATCH", .path = name}); },
         .repeatable = repeatable,
         .done = [this,
                  name](const ApiAnswer& answer) { done_.push_back(fmt::format("{} {}", name, answer.status.code)); }});
  }
  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const Sent& sent : sent_) paths.push_back(sent.path);
    return paths;
  }
  size_t CountSent(const std::string& prefix, base::Duration from, base::Duration until) const {
    return static_cast<size_t>(std::count_if(sent_.begin(), sent_.end(), [&](const Sent& sent) {
      return sent.path.starts_with(prefix) && sent.at >= from && sent.at < until;
    }));
  }
  base::Duration SentAt(const std::string& path) const {
    for (const Sent& sent : sent_) {
      if (sent.path == path) return sent.at;
    }
    return base::Duration::max();
  }

  base::testing::FakeLoop loop_;
  Counting observer_;
  bool answers_by_itself_ = true;
  std::deque<ApiAnswer> script_;
  std::vector<Sent> sent_;
  std::vector<std::string> done_;
  std::vector<WriteClass> room_;
  std::unique_ptr<WritePath> path_;
};

TEST_F(WritePathTest, AnUrgentBindWaitedBehind2500StatusPatches) {
  Make(50, 100);
  for (int i = 0; i < 2500; ++i) Submit(WriteClass::kStatus, fmt::format("status-{}", i), fmt::format("uid-{}", i));
  // At any time during the backlog, also right after the burst and between two tokens.
  for (const base::Duration at : std::vector<base::Duration>{0ms, 1ms, 777ms, 3s, 9999ms, 30s}) {
    loop_.Advance(at - loop_.Now());
    const std::string name = fmt::format("bind-{}", at.count());
    Submit(WriteClass::kBind, name, name);
    loop_.Advance(20ms);
    ASSERT_NE(SentAt(name), base::Duration::max()) << "submitted after " << at.count();
    EXPECT_LE(SentAt(name) - at, 20ms);
  }
  loop_.Advance(1min);
  EXPECT_EQ(CountSent("status", 0s, 1h), 2500u);
  EXPECT_LE(observer_.longest[WriteClass::kBind], 20ms);
}

TEST_F(WritePathTest, WhatABindingInDoubtWaitsForGoesAheadOfNewBindings) {
  Make(1, 1);
  for (int i = 0; i < 3; ++i) Submit(WriteClass::kBind, fmt::format("bind-{}", i));
  path_->Submit({.write_class = WriteClass::kBind,
                 .make = [] { return std::optional(http::Request{.method = "GET", .path = "read"}); },
                 .first = true,
                 .done = [](const ApiAnswer&) {}});
  loop_.Advance(1min);
  EXPECT_THAT(Paths(), ElementsAre("bind-0", "read", "bind-1", "bind-2"));
}

TEST_F(WritePathTest, TheBucketWentIntoDebtInsteadOfHoldingWritesBack) {
  Make(50, 100);
  for (int i = 0; i < 1000; ++i) Submit(static_cast<WriteClass>(1 + i % 4), fmt::format("w{}", i));
  loop_.Advance(1min);
  ASSERT_EQ(sent_.size(), 1000u);
  // In no interval more than the burst and the tokens added since.
  for (size_t i = 0; i < sent_.size(); ++i) {
    for (size_t j = i; j < sent_.size(); j += 37) {
      const double seconds = std::chrono::duration<double>(sent_[j].at - sent_[i].at).count();
      ASSERT_LE(static_cast<double>(j - i + 1), 100 + seconds * 50 + 1e-3);
    }
  }
}

TEST_F(WritePathTest, StatusAndEventsAreNotStarvedByBindsWithoutEnd) {
  Make(50, 100);
  for (int i = 0; i < 5000; ++i) Submit(WriteClass::kBind, fmt::format("bind-{}", i));
  for (int i = 0; i < 500; ++i) Submit(WriteClass::kStatus, fmt::format("status-{}", i));
  for (int i = 0; i < 500; ++i) Submit(WriteClass::kEvents, fmt::format("event-{}", i));
  loop_.Advance(30s);
  EXPECT_GE(CountSent("status", 10s, 30s), 80u) << "a tenth of 50 a second";
  EXPECT_GE(CountSent("event", 10s, 30s), 15u) << "a fiftieth";
  EXPECT_GE(CountSent("bind", 10s, 30s), 850u) << "and nearly everything for what is urgent";
}

TEST_F(WritePathTest, CallsThatHangDoNotBlockMoreUrgentOnes) {
  Make(0, 0);
  answers_by_itself_ = false;
  for (int i = 0; i < 100; ++i) Submit(WriteClass::kStatus, fmt::format("status-{}", i));
  loop_.Run();
  EXPECT_EQ(sent_.size(), kDefaultWriteBudgets[static_cast<size_t>(WriteClass::kStatus)].max_in_flight);
  EXPECT_EQ(path_->in_flight(WriteClass::kStatus), sent_.size());
  Submit(WriteClass::kBind, "bind");
  loop_.Run();
  EXPECT_EQ(sent_.back().path, "bind");
}

TEST_F(WritePathTest, OneCallOfAnObjectAtATime) {
  Make(0, 0);
  answers_by_itself_ = false;
  Submit(WriteClass::kStatus, "first", "uid");
  Submit(WriteClass::kStatus, "second", "uid");
  Submit(WriteClass::kStatus, "other", "other");
  loop_.Run();
  EXPECT_THAT(Paths(), ElementsAre("first", "other"));
  sent_[0].answer(AnswerOf(200));
  loop_.Run();
  EXPECT_THAT(Paths(), ElementsAre("first", "other", "second"));
}

TEST_F(WritePathTest, ARetryIsNotOvertakenByALaterWriteOfItsObject) {
  Make(0, 0);
  script_ = {AnswerOf(429, 7), AnswerOf(503), AnswerOf(200)};
  Submit(WriteClass::kStatus, "first", "uid", true);
  loop_.Run();
  Submit(WriteClass::kStatus, "second", "uid", true);
  loop_.Advance(6s);
  EXPECT_THAT(Paths(), ElementsAre("first"));
  loop_.Advance(2s);
  EXPECT_THAT(Paths(), ElementsAre("first", "first", "first", "second"));
  EXPECT_EQ(sent_[1].at, 7001ms);
  EXPECT_THAT(done_, ElementsAre("first 200", "second 200"));
  EXPECT_EQ(observer_.retried, 2);
}

TEST_F(WritePathTest, ARetryKeepsItsPlaceInLine) {
  WriteBudgets budgets = kDefaultWriteBudgets;
  budgets[static_cast<size_t>(WriteClass::kBind)].max_in_flight = 1;
  Make(0, 0, budgets);
  script_ = {AnswerOf(429, 0)};
  for (const char* name : {"a", "b", "c"}) Submit(WriteClass::kBind, name, name);
  loop_.Advance(1s);
  EXPECT_THAT(Paths(), ElementsAre("a", "a", "b", "c"));
}

TEST_F(WritePathTest, RetriesAreBounded) {
  Make(0, 0);
  script_ = std::deque<ApiAnswer>(100, AnswerOf(429, 1));
  Submit(WriteClass::kBind, "bind", "uid");
  loop_.Advance(1min);
  EXPECT_THAT(sent_, SizeIs(11));
  EXPECT_THAT(done_, ElementsAre("bind 429"));
  script_ = std::deque<ApiAnswer>(100, AnswerOf(0));
  Submit(WriteClass::kStatus, "status", "uid", true);
  loop_.Advance(2min);
  EXPECT_THAT(sent_, SizeIs(21));
  EXPECT_EQ(path_->waiting(WriteClass::kStatus) + path_->in_flight(WriteClass::kStatus), 0u);
}

// Storm seed 1646: a report was lost, because a proxy had asked for more patience than anybody has.
TEST_F(WritePathTest, AWriteThatWasToBeRepeatedInAnHourWasGivenUp) {
  Make(0, 0);
  script_ = {AnswerOf(429, 3600), AnswerOf(429, 3600), AnswerOf(200)};
  Submit(WriteClass::kStatus, "status", "uid", true);
  loop_.Advance(10s);
  EXPECT_THAT(done_, ElementsAre("status 200"));
  EXPECT_THAT(sent_, SizeIs(3));
}

TEST_F(WritePathTest, ABindMakesTheReportOfItsPodObsolete) {
  Make(0, 0);
  answers_by_itself_ = false;
  for (int i = 0; i < 8; ++i) Submit(WriteClass::kStatus, fmt::format("status-{}", i));  // all there is in flight
  Submit(WriteClass::kStatus, "late", "uid");
  loop_.Run();
  Submit(WriteClass::kBind, "bind", "uid");
  loop_.Run();
  EXPECT_EQ(sent_.back().path, "bind");
  EXPECT_THAT(done_, ElementsAre("late 204"));
  EXPECT_EQ(observer_.collapsed, 1);
  EXPECT_EQ(path_->waiting(WriteClass::kStatus), 0u);
  // The same if the status patch is in flight and the server asks for it again.
  Submit(WriteClass::kBind, "bind again", "uid-0");
  sent_[0].answer(AnswerOf(200));
  loop_.Run();
  Submit(WriteClass::kStatus, "busy", "uid-1");
  loop_.Run();
  ASSERT_EQ(sent_.back().path, "busy");
  Submit(WriteClass::kBind, "bind busy", "uid-1");
  loop_.Run();
  ASSERT_EQ(sent_.back().path, "busy") << "one at a time";
  sent_.back().answer(AnswerOf(429, 30));
  loop_.Run();
  EXPECT_EQ(sent_.back().path, "bind busy");
  EXPECT_EQ(done_.back(), "busy 204");
}

// It may still take effect: the elector has to know before it releases the lease.
TEST_F(WritePathTest, TellsWhenAWriteLastEndedWithoutAnAnswer) {
  Make(10, 2, kDefaultWriteBudgets);
  ApiAnswer refused;  // by the window: nothing was sent
  refused.error = ErrorCode::kConflict;
  ApiAnswer silence;
  silence.error = ErrorCode::kUnavailable;
  script_ = {AnswerOf(200), AnswerOf(422), refused, silence};
  for (const char* name : {"fine", "broken", "refused"}) Submit(WriteClass::kBind, name);
  loop_.Advance(1s);
  EXPECT_EQ(path_->last_unanswered(), std::nullopt);
  Submit(WriteClass::kBind, "lost");
  loop_.Advance(1s);
  EXPECT_THAT(done_, SizeIs(4));
  EXPECT_EQ(path_->last_unanswered(), SentAt("lost") + 1ms);
  // A gateway has given up waiting for the server.
  script_ = {AnswerOf(504)};
  Submit(WriteClass::kBind, "given up");
  loop_.Advance(1s);
  EXPECT_EQ(path_->last_unanswered(), SentAt("given up") + 1ms);
}

TEST_F(WritePathTest, AFullLineRefusesAndTellsWhenThereIsRoom) {
  WriteBudgets budgets = kDefaultWriteBudgets;
  budgets[static_cast<size_t>(WriteClass::kStatus)].max_waiting = 40;
  Make(10, 2, budgets);
  EXPECT_TRUE(path_->CanAccept(WriteClass::kStatus));
  for (int i = 0; i < 50; ++i) Submit(WriteClass::kStatus, fmt::format("status-{}", i));
  EXPECT_FALSE(path_->CanAccept(WriteClass::kStatus));
  EXPECT_TRUE(path_->CanAccept(WriteClass::kBind)) << "another line";
  loop_.Run();
  EXPECT_EQ(observer_.rejected, 10);
  EXPECT_THAT(done_, SizeIs(10));
  EXPECT_EQ(done_.front(), "status-40 0");
  EXPECT_THAT(room_, IsEmpty());
  EXPECT_EQ(observer_.deepest[WriteClass::kStatus], 40u);
  loop_.Advance(1s);
  EXPECT_THAT(room_, ElementsAre(WriteClass::kStatus)) << "once, with a quarter free";
  EXPECT_TRUE(path_->CanAccept(WriteClass::kStatus));
  loop_.Advance(1min);
  EXPECT_THAT(room_, SizeIs(1));
}

TEST_F(WritePathTest, AWriteThatIsNotNeededCostsNoToken) {
  Make(1, 1);
  for (int i = 0; i < 100; ++i) {
    path_->Submit({.write_class = WriteClass::kStatus,
                   .make = [] { return std::optional<http::Request>(); },
                   .done = [this](const ApiAnswer& answer) { done_.push_back(std::to_string(answer.status.code)); }});
  }
  Submit(WriteClass::kStatus, "needed");
  loop_.Run();
  EXPECT_THAT(done_, SizeIs(100));
  EXPECT_THAT(Paths(), ElementsAre("needed"));
}

TEST_F(WritePathTest, NobodyIsCalledAfterItsEnd) {
  Make(1, 1);
  answers_by_itself_ = false;
  Submit(WriteClass::kBind, "in flight", "uid");
  Submit(WriteClass::kBind, "waiting");
  loop_.Run();
  Submit(WriteClass::kBind, "posted");
  path_.reset();
  sent_[0].answer(AnswerOf(429, 1));
  loop_.Advance(1min);
  EXPECT_THAT(done_, IsEmpty());
  EXPECT_THAT(sent_, SizeIs(1));
}

}  // namespace
}  // namespace berth::client
