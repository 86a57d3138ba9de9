#include "live/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace berth::live {
namespace {

using ::testing::ElementsAre;

TEST(Mailbox, RunsMessagesInTheOrderTheyWerePosted) {
  Mailbox mailbox;
  std::vector<int> seen;
  EXPECT_TRUE(mailbox.empty());
  mailbox.Post([&] { seen.push_back(1); });
  mailbox.Post([&] {
    seen.push_back(2);
    mailbox.Post([&] { seen.push_back(3); });
  });
  EXPECT_FALSE(mailbox.empty());
  mailbox.RunAll();
  EXPECT_THAT(seen, ElementsAre(1, 2)) << "what a message posts waits for the next round";
  mailbox.RunAll();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  EXPECT_TRUE(mailbox.empty());
}

TEST(Mailbox, NothingPostedFromManyThreadsIsLost) {
  Mailbox mailbox;
  int sum = 0;
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) mailbox.Post([&] { ++sum; });
    });
  }
  while (sum < 4000) {
    mailbox.WaitFor(std::chrono::seconds(1));
    mailbox.RunAll();
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(sum, 4000);
  EXPECT_TRUE(mailbox.empty());
}

TEST(Mailbox, AWaitEnds) {
  Mailbox mailbox;
  mailbox.WaitFor(std::chrono::milliseconds(1));
  EXPECT_TRUE(mailbox.empty());
}

}  // namespace
}  // namespace berth::live
