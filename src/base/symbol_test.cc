#include "base/symbol.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace berth::base {
namespace {

TEST(Symbol, EqualTextIsOneSymbol) {
  EXPECT_EQ(Symbol("zone"), Symbol(std::string("zo") + "ne"));
  EXPECT_NE(Symbol("zone"), Symbol("zone-a"));
  EXPECT_EQ(Symbol(""), Symbol());
  EXPECT_EQ(Symbol("zone").str(), "zone");
  EXPECT_TRUE(Symbol("zone") == "zone");
}

TEST(Symbol, OrdersByTextNotByAddress) {
  const Symbol b("symbol-test-b"), a("symbol-test-a");
  EXPECT_LT(a, b);
  EXPECT_LT(Symbol(), a);
}

TEST(Symbol, FreesNamesThatNobodyHolds) {
  const size_t before = Symbol::LiveCount();
  {
    std::vector<Symbol> churn;
    for (int i = 0; i < 1000; ++i) churn.emplace_back("churn-" + std::to_string(i));
    EXPECT_EQ(Symbol::LiveCount(), before + 1000);
  }
  EXPECT_EQ(Symbol::LiveCount(), before);
}

TEST(Symbol, SurvivesThreadsInterningAndDroppingTheSameNames) {
  const size_t before = Symbol::LiveCount();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20000; ++i) {
        const Symbol name("shared-" + std::to_string(i % 7));
        const Symbol copy = name;
        ASSERT_EQ(copy, name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Symbol::LiveCount(), before);
}

}  // namespace
}  // namespace berth::base
