#include "framework/recent_changes.h"

#include <gtest/gtest.h>

#include "framework/objects.h"
#include "testing/builders.h"

namespace berth::framework {
namespace {

TEST(RecentChanges, AreKeptUntilNewerOnesTakeTheirPlace) {
  RecentChanges<int> changes(3);
  for (int i = 0; i < 5; ++i) changes.Append(i);
  EXPECT_EQ(changes.end(), 5u);
  EXPECT_FALSE(changes.Knows(1));
  ASSERT_TRUE(changes.Knows(2));
  EXPECT_EQ(changes.at(2), 2);
  EXPECT_EQ(changes.at(4), 4);
  EXPECT_TRUE(changes.Knows(5));
  EXPECT_FALSE(changes.Knows(6)) << "a cursor of something else";
}

TEST(RecentChanges, WithoutRoomAreCounted) {
  RecentChanges<int> changes;
  changes.Append(7);
  EXPECT_EQ(changes.end(), 1u);
  EXPECT_FALSE(changes.Knows(0));
  EXPECT_TRUE(changes.Knows(1));
}

TEST(ObjectStore, TellsWhatChangedSinceAVersion) {
  ObjectStore<api::PersistentVolume> store(2);
  const auto put = [&](const char* name) {
    store.Upsert(std::make_shared<const api::PersistentVolume>(testing::MakePv(name)));
  };
  put("a");
  const uint64_t version = store.version();
  put("a");
  store.Erase("", "a");
  store.Erase("", "never there");
  ASSERT_EQ(store.version(), version + 2);
  ASSERT_TRUE(store.changes().Knows(version));
  EXPECT_NE(store.changes().at(version).before, nullptr);
  EXPECT_NE(store.changes().at(version).after, nullptr);
  EXPECT_NE(store.changes().at(version + 1).before, nullptr);
  EXPECT_EQ(store.changes().at(version + 1).after, nullptr);

  const ObjectStore<api::PersistentVolume> copy = store;
  EXPECT_EQ(copy.version(), store.version());
  EXPECT_FALSE(copy.changes().Knows(version)) << "a copy is another picture";
}

}  // namespace
}  // namespace berth::framework
