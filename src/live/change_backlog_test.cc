#include "live/change_backlog.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "testing/builders.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using client::ObjectChange;
using Type = ObjectChange::Type;

ObjectChange Change(Type type, const std::string& name, int version) {
  auto pod = MakePod(name);
  pod.raw().metadata.resource_version = std::to_string(version);
  return {type, api::Object(pod.Shared())};
}

// What a reader ends up with: versions by UID, and how often an object it knew was deleted.
struct Reader {
  std::map<std::string, std::string> known;
  std::map<std::string, int> lost;

  void Read(const std::vector<ObjectChange>& changes) {
    for (const ObjectChange& change : changes) {
      const api::ObjectMeta& metadata = change.object.metadata();
      if (change.type == Type::kDeleted) {
        lost[metadata.uid] += static_cast<int>(known.erase(metadata.uid));
      } else {
        EXPECT_EQ(change.type == Type::kAdded, !known.contains(metadata.uid)) << metadata.uid;
        known[metadata.uid] = metadata.resource_version;
      }
    }
  }
};

TEST(ChangeBacklog, ASchedulingThreadThatReadNothingCouldFillTheMemory) {
  ChangeBacklog backlog;
  int version = 0;
  for (int i = 0; i < 10; ++i) backlog.Add(api::Kind::kPod, {Change(Type::kAdded, "p" + std::to_string(i), ++version)});
  for (int i = 0; i < 30'000; ++i) {
    backlog.Add(api::Kind::kPod, {Change(Type::kModified, "p" + std::to_string(i % 10), ++version)});
    backlog.Add(api::Kind::kPod, {Change(Type::kAdded, "job-" + std::to_string(i), ++version)});
    backlog.Add(api::Kind::kPod, {Change(Type::kDeleted, "job-" + std::to_string(i), ++version)});
  }
  const std::vector<ObjectChange> left = backlog.Take(api::Kind::kPod).changes;
  EXPECT_LE(left.size(), 4096u) << "90,010 changes, of 10 objects that exist";
  Reader reader;
  reader.Read(left);
  EXPECT_EQ(reader.known.size(), 10u);
}

TEST(ChangeBacklog, WhatTheReaderEndsUpWithIsTheSame) {
  base::Random random(7);
  ChangeBacklog backlog;
  Reader slow, quick;  // one reads from time to time, the other at once
  std::map<std::string, bool> exists;
  for (int i = 1; i <= 60'000; ++i) {
    const std::string name = "p" + std::to_string(random.Below(300));
    const bool there = exists[name];
    const Type type = !there ? Type::kAdded : random.Below(3) == 0 ? Type::kDeleted : Type::kModified;
    exists[name] = type != Type::kDeleted;
    quick.Read({Change(type, name, i)});
    backlog.Add(api::Kind::kPod, {Change(type, name, i)});
    if (random.Below(15'000) == 0) slow.Read(backlog.Take(api::Kind::kPod).changes);
  }
  slow.Read(backlog.Take(api::Kind::kPod).changes);
  EXPECT_EQ(slow.known, quick.known);
}

TEST(ChangeBacklog, AnObjectThatLeftAndReturnedHasDoneSoForTheReader) {
  ChangeBacklog backlog;
  Reader reader;
  reader.Read({Change(Type::kAdded, "web", 1)});
  for (int i = 0; i < 5'000; ++i) {
    backlog.Add(api::Kind::kPod, {Change(Type::kDeleted, "web", 2 * i), Change(Type::kAdded, "web", 2 * i + 1)});
  }
  reader.Read(backlog.Take(api::Kind::kPod).changes);
  EXPECT_EQ(reader.known.at("default/web"), "9999");
  EXPECT_GE(reader.lost.at("default/web"), 1);
}

TEST(ChangeBacklog, ThatAKindHasNoObjectsIsNews) {
  ChangeBacklog backlog;
  EXPECT_TRUE(backlog.Add(api::Kind::kNode, {}));
  EXPECT_FALSE(backlog.Add(api::Kind::kNode, {})) << "somebody is on the way to take it";
  EXPECT_TRUE(backlog.Add(api::Kind::kPod, {}));
  EXPECT_TRUE(backlog.Take(api::Kind::kNode).changes.empty());
  EXPECT_TRUE(backlog.Add(api::Kind::kNode, {}));
}

TEST(ChangeBacklog, APartOfAListIsNotTakenForAllOfIt) {
  ChangeBacklog backlog;
  EXPECT_TRUE(backlog.Add(api::Kind::kPod, {Change(Type::kAdded, "a", 1)}, false));
  EXPECT_FALSE(backlog.Take(api::Kind::kPod).is_whole);
  EXPECT_TRUE(backlog.Add(api::Kind::kPod, {Change(Type::kAdded, "b", 2)}, false));
  EXPECT_FALSE(backlog.Add(api::Kind::kPod, {}));
  EXPECT_FALSE(backlog.Add(api::Kind::kPod, {Change(Type::kModified, "b", 3)}));
  const ChangeBacklog::Unread last = backlog.Take(api::Kind::kPod);
  EXPECT_TRUE(last.is_whole);
  EXPECT_EQ(last.changes.size(), 2u);
  EXPECT_FALSE(backlog.Take(api::Kind::kPod).is_whole);
}

}  // namespace
}  // namespace berth::live
