#include "framework/custom_objects.h"

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

const api::GroupVersionResource kFoos{"example.com", "v1", "foos"};
const api::GroupVersionResource kBars{"example.com", "v1", "bars"};

std::shared_ptr<const api::CustomObject> Named(const std::string& name) {
  auto object = std::make_shared<api::CustomObject>();
  object->metadata.name = name;
  return object;
}

TEST(CustomObjects, AResourceHasOneNumberInTheWholeProcess) {
  CustomObjects first, second;
  const EventResource foos = *first.Watch(kFoos, false);
  const EventResource bars = *second.Watch(kBars, false);
  EXPECT_NE(foos, bars);
  EXPECT_EQ(*second.Watch(kFoos, false), foos);
  EXPECT_EQ(*EventResourceOf(kFoos), foos);
  EXPECT_GE(foos, EventResource::kFirstCustom);
  EXPECT_EQ(NameOfCustom(foos), "foos.v1.example.com");
  EXPECT_EQ(NameOfCustom(EventResource::kNode), "");
}

TEST(CustomObjects, EventsAreNamedAndCoveredByTheirResource) {
  const EventResource foos = *EventResourceOf(kFoos);
  const EventResource bars = *EventResourceOf(kBars);
  EXPECT_EQ((ClusterEvent{foos, ActionType::kAdd}.Label()), "foos.v1.example.comAdd");
  const ClusterEvent registered{foos, ActionType::kAdd | ActionType::kUpdate};
  EXPECT_TRUE(registered.Covers({foos, ActionType::kUpdate}));
  EXPECT_FALSE(registered.Covers({foos, ActionType::kDelete}));
  EXPECT_FALSE(registered.Covers({bars, ActionType::kUpdate}));
  EXPECT_TRUE(ClusterEvent{}.Covers({bars, ActionType::kUpdate})) << "who says nothing hears of everything";
}

TEST(CustomObjects, JsonIsKeptIfAnybodyWantsIt) {
  CustomObjects objects;
  const EventResource foos = *objects.Watch(kFoos, false);
  EXPECT_FALSE(objects.watched().at(foos).keep_json);
  (void)objects.Watch(kFoos, true);
  (void)objects.Watch(kFoos, false);
  EXPECT_TRUE(objects.watched().at(foos).keep_json);
}

TEST(CustomObjects, WhatIsNotWatchedHasNoObjects) {
  CustomObjects objects;
  const EventResource foos = *objects.Watch(kFoos, false);
  objects.FindMutable(foos)->Upsert(Named("a"));
  EXPECT_NE(objects.Of(foos).Find("a"), nullptr);
  const EventResource bars = *EventResourceOf(kBars);
  EXPECT_TRUE(objects.Of(bars).empty());
  EXPECT_EQ(objects.FindMutable(bars), nullptr);
}

TEST(CustomObjects, RestoreForgetsWhatCameSince) {
  CustomObjects objects;
  const EventResource foos = *objects.Watch(kFoos, false);
  objects.FindMutable(foos)->Upsert(Named("a"));
  const auto before = objects.wants();
  (void)objects.Watch(kBars, true);
  (void)objects.Watch(kFoos, true);
  EXPECT_NE(objects.wants(), before);
  objects.Restore(before);
  EXPECT_EQ(objects.wants(), before);
  EXPECT_NE(objects.Of(foos).Find("a"), nullptr);
}

}  // namespace
}  // namespace berth::framework
