#include "live/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace berth::live {
namespace {

using std::chrono_literals::operator""ms;
using ::testing::HasSubstr;
using ::testing::Not;

// Attempts up to that number, the newest first.
EventFeed::View ViewUpTo(uint64_t sequence) {
  auto view = std::make_shared<inspect::EventsView>();
  view->sequence = sequence;
  for (uint64_t i = sequence; i > 0 && i + 5 > sequence; --i) {
    scheduler::AttemptRecord& attempt = view->attempts.emplace_back();
    attempt.sequence = i;
    attempt.name_space = "shop";
    attempt.name = "pod" + std::to_string(i) + ".";
  }
  return view;
}

TEST(EventFeed, HoweverManyFollowOneLooksAndTheOthersTakeWhatItFound) {
  std::atomic<int> looks = 0;
  EventFeed feed([&] { return ViewUpTo(static_cast<uint64_t>(++looks)); });
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) EXPECT_LE(feed.Newest() ? feed.Newest()->sequence : 0, 1000u);
    });
  }
  for (std::thread& reader : readers) reader.join();
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(looks, 2 + passed / EventFeed::kShortestPause);
}

TEST(EventFeed, NobodyWaitsForALookThatSomebodyElseTakes) {
  std::promise<void> begun, go_on;
  bool first = true;
  EventFeed feed(
      [&]() -> EventFeed::View {
        if (std::exchange(first, false)) return ViewUpTo(1);
        begun.set_value();
        go_on.get_future().wait();
        return ViewUpTo(2);
      },
      0ms);
  EXPECT_EQ(feed.Newest()->sequence, 1u);
  auto slow = std::async(std::launch::async, [&] { return feed.Newest(); });
  begun.get_future().wait();
  EXPECT_EQ(feed.Newest()->sequence, 1u) << "the one before";
  go_on.set_value();
  EXPECT_EQ(slow.get()->sequence, 2u);
}

TEST(EventReader, GivesEachReaderWhatIsNewToIt) {
  EventFeed::View now = ViewUpTo(3);
  EventFeed feed([&] { return now; }, 0ms);
  EventReader fresh(feed, 0), knows_two(feed, 2), of_another(feed, 99);
  EXPECT_THAT(fresh.Next(), HasSubstr("shop/pod1."));
  const std::string rest = knows_two.Next();
  EXPECT_THAT(rest, HasSubstr("shop/pod3."));
  EXPECT_THAT(rest, Not(HasSubstr("shop/pod2.")));
  EXPECT_THAT(of_another.Next(), HasSubstr("shop/pod1.")) << "a number of a scheduler that is gone";
  EXPECT_EQ(fresh.Next(), "");
  now = ViewUpTo(6);
  const std::string merged = fresh.Next();
  for (const char* pod : {"shop/pod4.", "shop/pod5.", "shop/pod6."}) EXPECT_THAT(merged, HasSubstr(pod));
  EXPECT_THAT(merged, Not(HasSubstr("shop/pod3.")));
  EXPECT_THAT(merged, HasSubstr("id: 6\n"));
}

TEST(EventReader, CountsThatChangeAreNewsThoughNothingWasDecided) {
  auto view = std::make_shared<inspect::EventsView>(*ViewUpTo(1));
  EventFeed feed([&] { return view; }, 0ms);
  EventReader reader(feed, 0);
  EXPECT_NE(reader.Next(), "");
  view = std::make_shared<inspect::EventsView>(*view);
  view->nodes = 7;
  EXPECT_THAT(reader.Next(), HasSubstr("\"nodes\":7"));
  view = std::make_shared<inspect::EventsView>(*view);
  view->at += std::chrono::seconds(1);
  EXPECT_EQ(reader.Next(), "") << "time alone is no news";
}

TEST(EventReader, ALookThatTookTooLongIsNoEvent) {
  EventFeed feed([]() -> EventFeed::View { return nullptr; }, 0ms);
  EXPECT_EQ(EventReader(feed, 0).Next(), "");
}

}  // namespace
}  // namespace berth::live
