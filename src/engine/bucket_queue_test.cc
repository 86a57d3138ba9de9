#include "engine/bucket_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace berth::engine {
namespace {

using ::testing::UnorderedElementsAre;

TEST(BucketQueue, KeepsTheBest) {
  BucketQueue queue(100);
  queue.Resize(4);
  EXPECT_TRUE(queue.empty());
  queue.Set(0, 7);
  queue.Set(1, 100);
  queue.Set(2, 100);
  queue.Set(3, 0);
  EXPECT_EQ(queue.top(), 100);
  EXPECT_THAT(queue.best(), UnorderedElementsAre(1u, 2u));
  queue.Set(1, 5);
  queue.Remove(2);
  EXPECT_THAT(queue.best(), UnorderedElementsAre(0u));
  queue.Remove(2);  // not there any more
  EXPECT_EQ(queue.size(), 3u);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
}

TEST(BucketQueue, AgreesWithAMapUnderRandomChanges) {
  base::Random random(7);
  BucketQueue queue(50);
  queue.Resize(40);
  std::map<framework::NodeIndex, int64_t> expected;
  for (int step = 0; step < 20000; ++step) {
    const auto node = static_cast<framework::NodeIndex>(random.Below(40));
    if (random.Below(3) == 0) {
      queue.Remove(node);
      expected.erase(node);
    } else {
      expected[node] = static_cast<int64_t>(random.Below(51));
      queue.Set(node, expected[node]);
    }
    ASSERT_EQ(queue.size(), expected.size());
    if (expected.empty()) continue;
    int64_t highest = 0;
    std::set<framework::NodeIndex> best;
    for (const auto& [index, total] : expected) highest = std::max(highest, total);
    for (const auto& [index, total] : expected) {
      if (total == highest) best.insert(index);
    }
    ASSERT_EQ(queue.top(), highest);
    ASSERT_EQ(std::set<framework::NodeIndex>(queue.best().begin(), queue.best().end()), best);
  }
}

}  // namespace
}  // namespace berth::engine
