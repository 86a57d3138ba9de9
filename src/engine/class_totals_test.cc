#include "engine/class_totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace berth::engine {
namespace {

using framework::NodeIndex;
using Key = std::vector<int64_t>;

// The slow reference: answers by scanning everything.
class PlainTotals {
 public:
  struct Entry {
    Key key;
    int32_t total;
  };
  void Set(NodeIndex node, Key key, int32_t total) { nodes_[node] = {std::move(key), total}; }
  void Remove(NodeIndex node) { nodes_.erase(node); }
  const std::map<NodeIndex, Entry>& nodes() const { return nodes_; }
  // The nodes that have the highest total of their class, in index order.
  std::vector<NodeIndex> BestOf(const std::vector<Key>& keys) const {
    std::map<Key, int32_t> highest;
    for (const auto& [node, entry] : nodes_) {
      const auto it = highest.try_emplace(entry.key, entry.total).first;
      it->second = std::max(it->second, entry.total);
    }
    std::vector<NodeIndex> best;
    for (const auto& [node, entry] : nodes_) {
      if (std::ranges::find(keys, entry.key) != keys.end() && entry.total == highest[entry.key]) best.push_back(node);
    }
    return best;
  }

 private:
  std::map<NodeIndex, Entry> nodes_;
};

std::vector<NodeIndex> BestOf(ClassTotals& totals, const std::vector<ClassTotals::ClassId>& classes) {
  size_t ties = 0;
  for (const auto id : classes) ties += totals.ties(id);
  std::vector<NodeIndex> best;
  for (size_t i = 0; i < ties; ++i) best.push_back(totals.Tie(classes, i));
  return best;
}

void ExpectSame(ClassTotals& totals, const PlainTotals& plain, std::mt19937& random) {
  std::map<Key, size_t> sizes;
  for (const auto& [node, entry] : plain.nodes()) ++sizes[entry.key];
  std::vector<ClassTotals::ClassId> some;
  std::vector<Key> keys;
  for (size_t id = 0; id < totals.classes(); ++id) {
    const auto class_id = static_cast<ClassTotals::ClassId>(id);
    if (totals.nodes(class_id) == 0) continue;
    const Key key(totals.key(class_id).begin(), totals.key(class_id).end());
    ASSERT_EQ(totals.nodes(class_id), sizes[key]);
    sizes.erase(key);
    const NodeIndex any = totals.AnyOf(class_id);
    ASSERT_TRUE(plain.nodes().contains(any));
    ASSERT_EQ(plain.nodes().at(any).key, key);
    ASSERT_EQ(totals.class_of(any), class_id);
    const std::vector<NodeIndex> best = plain.BestOf({key});
    ASSERT_EQ(totals.highest(class_id), plain.nodes().at(best.front()).total);
    ASSERT_EQ(totals.ties(class_id), best.size());
    if (random() % 2 == 0) continue;
    some.push_back(class_id);
    keys.push_back(key);
  }
  for (const auto& [key, size] : sizes) ASSERT_EQ(size, 0u);
  ASSERT_EQ(BestOf(totals, some), plain.BestOf(keys));
}

TEST(ClassTotals, AgreesWithLookingAtEverything) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    size_t slots = 1 + random() % 150;
    // From so few values that classes are large to so many that ids are reused again and again.
    const auto values = static_cast<int64_t>(2 + seed);
    ClassTotals totals;
    PlainTotals plain;
    totals.Reset(slots, 2);
    for (int step = 0; step < 600; ++step) {
      const auto node = static_cast<NodeIndex>(random() % slots);
      const unsigned what = random() % 20;
      if (what == 0 && slots < 4500) {
        slots += random() % 300;
        totals.Grow(slots);
      } else if (what < 6) {
        totals.Remove(node);
        plain.Remove(node);
      } else {
        const Key key = {static_cast<int64_t>(random()) % values, -static_cast<int64_t>(random()) % 3};
        const auto total = static_cast<int32_t>(random() % 5) - 2;
        ASSERT_TRUE(totals.Set(node, key, total));
        plain.Set(node, key, total);
      }
      if (random() % 16 != 0) continue;  // lets stale entries accumulate
      ExpectSame(totals, plain, random);
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
  }
}

TEST(ClassTotals, IdsOfClassesWithoutNodesAreUsedAgain) {
  ClassTotals totals;
  totals.Reset(1000, 1);
  for (int64_t key = 0; key < 1000; ++key) {
    ASSERT_TRUE(totals.Set(7, Key{key}, 1));
    ASSERT_TRUE(totals.Set(8, Key{key / 10}, 2));
    ASSERT_EQ(totals.nodes(totals.class_of(7)), key / 10 == key ? 2u : 1u);
  }
  EXPECT_LE(totals.classes(), ClassTotals::kMostClasses);
}

TEST(ClassTotals, TooManyClassesAreRefused) {
  ClassTotals totals;
  totals.Reset(1000, 1);
  constexpr auto kMost = static_cast<NodeIndex>(ClassTotals::kMostClasses);
  for (NodeIndex node = 0; node < kMost; ++node) ASSERT_TRUE(totals.Set(node, Key{node}, 1));
  EXPECT_FALSE(totals.Set(kMost, Key{kMost}, 1));
  EXPECT_EQ(totals.class_of(kMost), ClassTotals::kNoClass);
  EXPECT_TRUE(totals.Set(kMost, Key{5}, 1)) << "an old class has room";
  totals.Remove(3);
  EXPECT_TRUE(totals.Set(kMost + 1, Key{kMost}, 1));
}

TEST(ClassTotals, ClassesWithoutKeysAreOne) {
  ClassTotals totals;
  totals.Reset(10, 0);
  for (NodeIndex node = 0; node < 10; ++node) ASSERT_TRUE(totals.Set(node, {}, static_cast<int32_t>(node % 3)));
  EXPECT_EQ(totals.classes(), 1u);
  EXPECT_EQ(BestOf(totals, {0}), (std::vector<NodeIndex>{2, 5, 8}));
}

}  // namespace
}  // namespace berth::engine
