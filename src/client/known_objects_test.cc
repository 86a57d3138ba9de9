#include "client/known_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/pod.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = KnownObjects::Verdict;
constexpr auto kAdded = WatchEvent::Type::kAdded;
constexpr auto kDeleted = WatchEvent::Type::kDeleted;

std::shared_ptr<api::Pod> MakePod(const std::string& name, int version, const std::string& uid = {}) {
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.name = name;
  pod->metadata.namespace_ = Symbol("default");
  pod->metadata.uid = uid.empty() ? "uid-" + name : uid;
  pod->metadata.resource_version = std::to_string(version);
  return pod;
}
api::Object Pod(const std::string& name, int version, const std::string& uid = {}) {
  return api::Object(std::shared_ptr<const api::Pod>(MakePod(name, version, uid)));
}

// "+a:uid:version", "~…", "-…".
std::vector<std::string> Texts(const std::vector<ObjectChange>& changes) {
  std::vector<std::string> texts;
  for (const ObjectChange& change : changes) {
    const api::ObjectMeta& metadata = change.object.metadata();
    const char sign =
        change.type == ObjectChange::Type::kAdded ? '+' : "~-"[change.type == ObjectChange::Type::kDeleted];
    texts.push_back(sign + metadata.name + ":" + metadata.uid + ":" + metadata.resource_version);
  }
  return texts;
}

class KnownObjectsTest : public ::testing::Test {
 protected:
  std::vector<std::string> List(const std::vector<api::Object>& objects) {
    known_.BeginList();
    for (const api::Object& object : objects) known_.Collect(kAdded, object);
    std::vector<ObjectChange> changes;
    known_.EndList(changes);
    return Texts(changes);
  }

  KnownObjects known_{api::Kind::kPod};
};

TEST_F(KnownObjectsTest, TheDeletionOfWhatWasMissedNamesTheObject) {
  List({Pod("a", 1), Pod("b", 2)});
  known_.BeginList();
  std::vector<ObjectChange> changes;
  known_.EndList(changes);
  EXPECT_THAT(Texts(changes), ElementsAre("-a:uid-a:1", "-b:uid-b:2"));
  const api::Pod* gone = changes.front().object.As<api::Pod>();
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(gone->metadata.namespace_, "default");
  EXPECT_EQ(known_.size(), 0u);
}

TEST_F(KnownObjectsTest, ObjectsAreNotKeptAlive) {
  const std::shared_ptr<const api::Pod> pod = MakePod("a", 1);
  List({api::Object(pod)});
  EXPECT_EQ(pod.use_count(), 1);
  List({api::Object(pod)});
  EXPECT_EQ(pod.use_count(), 1);
  std::vector<ObjectChange> changes;
  const std::shared_ptr<const api::Pod> newer = MakePod("a", 7);
  known_.Apply(WatchEvent::Type::kModified, api::Object(newer), "1", changes);
  EXPECT_EQ(changes.size(), 1u);
  changes.clear();
  EXPECT_EQ(newer.use_count(), 1);
}

TEST_F(KnownObjectsTest, AListSaysWhatDiffers) {
  EXPECT_THAT(List({Pod("b", 2), Pod("a", 1), Pod("c", 3)}), ElementsAre("+a:uid-a:1", "+b:uid-b:2", "+c:uid-c:3"));
  EXPECT_THAT(List({Pod("a", 1), Pod("b", 2), Pod("c", 3)}), IsEmpty());
  EXPECT_THAT(List({Pod("a", 5), Pod("b", 6, "other"), Pod("d", 4)}),
              ElementsAre("-b:uid-b:2", "-c:uid-c:3", "~a:uid-a:5", "+b:other:6", "+d:uid-d:4"));
}

// An etcd restored from a backup, or an aborted first list followed by one from an older cache: a pod that is reported
// as changed must never lose its node that way.
TEST_F(KnownObjectsTest, AnOlderVersionIsGoneAndNew) {
  List({Pod("a", 10), Pod("b", 11)});
  EXPECT_THAT(List({Pod("a", 9), Pod("b", 11)}), ElementsAre("-a:uid-a:10", "+a:uid-a:9"));
}

TEST_F(KnownObjectsTest, WhatIsToldBeforeTheEndIsNotToldAgain) {
  known_.BeginList();
  std::vector<ObjectChange> changes;
  known_.Collect(kAdded, Pod("b", 2));
  known_.Collect(kAdded, Pod("a", 1));
  known_.TellCollected(changes);
  EXPECT_THAT(Texts(changes), ElementsAre("+a:uid-a:1", "+b:uid-b:2"));
  changes.clear();
  known_.Collect(kDeleted, Pod("a", 3));
  known_.Collect(kAdded, Pod("b", 4));
  known_.Collect(kAdded, Pod("c", 5));
  known_.EndList(changes);
  EXPECT_THAT(Texts(changes), ElementsAre("-a:uid-a:1", "~b:uid-b:4", "+c:uid-c:5"));
  changes.clear();
  // The same list again, after the first was abandoned: nothing of the first remains.
  known_.BeginList();
  known_.Collect(kAdded, Pod("x", 6));
  EXPECT_THAT(List({Pod("b", 4), Pod("c", 5)}), IsEmpty());
}

TEST_F(KnownObjectsTest, AnObjectOfTheSameNameReplacesTheOther) {
  List({Pod("a", 1)});
  std::vector<ObjectChange> changes;
  EXPECT_EQ(known_.Apply(kAdded, Pod("a", 5, "other"), "1", changes), Verdict::kApplied);
  EXPECT_THAT(Texts(changes), ElementsAre("-a:uid-a:1", "+a:other:5"));
  changes.clear();
  EXPECT_EQ(known_.Apply(kAdded, Pod("a", 4), "5", changes), Verdict::kStale);
  EXPECT_EQ(known_.Apply(kDeleted, Pod("a", 6, "other"), "5", changes), Verdict::kApplied);
  EXPECT_THAT(Texts(changes), ElementsAre("-a:other:6"));
  EXPECT_EQ(known_.Apply(kAdded, Pod("a", 6), "6", changes), Verdict::kUnclear);
}

}  // namespace
}  // namespace berth::client
