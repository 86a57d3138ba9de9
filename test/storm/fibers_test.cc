#include "storm/fibers.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::storm {
namespace {

TEST(Fibers, AFiberGoesOnWhereItWaited) {
  std::string log;
  Fibers::Task first, second;
  Fibers fibers;
  fibers.Run([&] {
    log += 'a';
    EXPECT_TRUE(fibers.Wait([&](Fibers::Task resume) { first = std::move(resume); }));
    log += 'c';
  });
  fibers.Run([&] {
    log += 'b';
    EXPECT_TRUE(fibers.Wait([&](Fibers::Task resume) { second = std::move(resume); }));
    log += 'd';
  });
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(fibers.live(), 2U);
  first();
  EXPECT_EQ(log, "abc");
  first();  // too late for anything
  second();
  EXPECT_EQ(log, "abcd");
  EXPECT_EQ(fibers.live(), 0U);
}

TEST(Fibers, AnAnswerMayComeBeforeAnybodyWaits) {
  std::string log;
  Fibers fibers;
  fibers.Run([&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(fibers.Wait([](const Fibers::Task& resume) { resume(); }));
    log += 'x';
  });
  EXPECT_EQ(log, "x");
}

TEST(Fibers, WhoWaitsInVainComesToAnEnd) {
  std::string log;
  {
    Fibers fibers;
    fibers.Run([&] {
      EXPECT_FALSE(fibers.Wait([](const Fibers::Task&) {}));
      EXPECT_FALSE(fibers.Wait([](const Fibers::Task& resume) { resume(); }));
      log += "end";
    });
    EXPECT_EQ(log, "");
  }
  EXPECT_EQ(log, "end");
}

}  // namespace
}  // namespace berth::storm
