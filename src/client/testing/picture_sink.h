// A ChangeSink that keeps the objects it is told about and fails the test on changes that do not fit them.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "client/object_change.h"

namespace berth::client::testing {

class PictureSink final : public ChangeSink {
 public:
  void OnListing(api::Kind, std::vector<ObjectChange> changes) override {
    EXPECT_EQ(batches, 0) << "a kind is listed for the first time once";
    EXPECT_FALSE(changes.empty());
    ++parts;
    for (ObjectChange& change : changes) Apply(std::move(change));
  }
  void OnChanges(api::Kind, std::vector<ObjectChange> changes) override {
    ++batches;
    for (ObjectChange& change : changes) Apply(std::move(change));
  }
  void OnNotServed(api::Kind) override {
    log.push_back("not served");
    objects.clear();
  }

  // The changes since the last call: "+a", "~a", "-a".
  std::vector<std::string> TakeLog() { return std::exchange(log, {}); }

  std::map<std::string, api::Object> objects;
  std::vector<std::string> log;
  int batches = 0;  // calls of OnChanges
  int parts = 0;    // calls of OnListing

 private:
  void Apply(ObjectChange change) {
    const std::string key = api::KeyOf(change.object.metadata());
    const auto known = objects.find(key);
    if (change.type == ObjectChange::Type::kAdded) {
      EXPECT_EQ(known, objects.end()) << key << " added twice";
      log.push_back("+" + key);
    } else {
      ASSERT_NE(known, objects.end()) << key << " is not there";
      EXPECT_EQ(known->second.metadata().uid, change.object.metadata().uid) << key;
      if (change.type == ObjectChange::Type::kModified) {
        EXPECT_LT(std::stoull(known->second.metadata().resource_version),
                  std::stoull(change.object.metadata().resource_version))
            << key;
      }
      log.push_back((change.type == ObjectChange::Type::kModified ? "~" : "-") + key);
      objects.erase(known);
    }
    if (change.type != ObjectChange::Type::kDeleted) objects.emplace(key, std::move(change.object));
  }
};

}  // namespace berth::client::testing
