#include "live/binding_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace berth::live {
namespace {

TEST(BindingThreads, EveryTaskHasRunWhenTheyAreGone) {
  std::atomic<int> ran = 0;
  {
    BindingThreads threads(4);
    for (int i = 0; i < 1000; ++i) threads.Run([&] { ++ran; }, [] {});
  }
  EXPECT_EQ(ran, 1000);
}

TEST(BindingThreads, NoMoreThanSoManyRunAtOnce) {
  std::atomic<int> running = 0, most = 0;
  {
    BindingThreads threads(3);
    for (int i = 0; i < 200; ++i) {
      threads.Run(
          [&] {
            const int now = ++running;
            for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            std::this_thread::yield();
            --running;
          },
          [] {});
    }
  }
  EXPECT_LE(most, 3);
}

TEST(BindingThreads, ASystemWithoutMoreThreadsEndedTheScheduler) {
  std::atomic<int> ran = 0;
  {
    int left = 1;
    BindingThreads threads(4, [&](BindingRunner::Task body) {
      if (left-- <= 0) throw std::system_error(EAGAIN, std::generic_category());
      return std::thread(std::move(body));
    });
    for (int i = 0; i < 20; ++i) threads.Run([&] { ++ran; }, [] {});
  }
  EXPECT_EQ(ran, 20);
}

TEST(BindingThreads, TasksWaitedForAVolumeWhenASystemWithoutThreadsHadSomeAgain) {
  std::atomic<int> left = 1;
  std::atomic<bool> refused = false;
  std::promise<BindingRunner::Resume> volume_is_there;
  std::promise<void> other_ran;
  BindingThreads threads(
      4,
      [&](BindingRunner::Task body) {
        if (left-- <= 0) {
          refused = true;
          throw std::system_error(EAGAIN, std::generic_category());
        }
        return std::thread(std::move(body));
      },
      std::chrono::milliseconds(1));
  threads.Run(
      [&] {
        threads.WaitFor(BindingRunner::Length::kLong,
                        [&](BindingRunner::Resume resume) { volume_is_there.set_value(resume); });
      },
      [] {});
  const BindingRunner::Resume resume = volume_is_there.get_future().get();
  threads.Run([&] { other_ran.set_value(); }, [] {});
  EXPECT_TRUE(refused);
  left = 1;
  EXPECT_EQ(other_ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  resume();
}

TEST(BindingThreads, OneThatWaitsLongHoldsUpNobody) {
  BindingThreads threads(1);
  std::promise<BindingRunner::Resume> volume_is_there;
  std::promise<void> other_ran;
  std::promise<bool> waited;
  threads.Run(
      [&] {
        waited.set_value(threads.WaitFor(BindingRunner::Length::kLong,
                                         [&](BindingRunner::Resume resume) { volume_is_there.set_value(resume); }));
      },
      [] {});
  threads.Run([&] { other_ran.set_value(); }, [] {});
  EXPECT_EQ(other_ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  volume_is_there.get_future().get()();
  EXPECT_TRUE(waited.get_future().get());
}

}  // namespace
}  // namespace berth::live
