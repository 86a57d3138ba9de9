#include "dra/class_names.h"

#include <gtest/gtest.h>

#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

std::shared_ptr<const api::DeviceClass> Class(const std::string& name, const std::string& resource, int created) {
  auto made = MakeClass(name, resource);
  made->metadata.creation_timestamp = api::Time(std::chrono::seconds(created));
  return made;
}

std::string NameFor(const ClassNames& names, std::string_view resource) {
  const api::DeviceClass* found = names.Find(Symbol(resource));
  return found ? found->metadata.name : "";
}

TEST(ClassNames, TheNewestClassServesAName) {
  ClassNames names;
  names.Put(nullptr, Class("b", "example.com/gpu", 10));
  names.Put(nullptr, Class("a", "example.com/gpu", 5));
  EXPECT_EQ(NameFor(names, "example.com/gpu"), "b");
  // One that loses on arrival has no name at all; one that is displaced later keeps its own.
  EXPECT_EQ(NameFor(names, "deviceclass.resource.kubernetes.io/a"), "");
  names.Put(nullptr, Class("c", "example.com/gpu", 20));
  EXPECT_EQ(NameFor(names, "example.com/gpu"), "c");
  EXPECT_EQ(NameFor(names, "deviceclass.resource.kubernetes.io/b"), "b");
}

TEST(ClassNames, OfClassesOfOneAgeTheFirstByNameServes) {
  ClassNames names;
  names.Put(nullptr, Class("b", "example.com/gpu", 10));
  names.Put(nullptr, Class("a", "example.com/gpu", 10));
  names.Put(nullptr, Class("c", "example.com/gpu", 10));
  EXPECT_EQ(NameFor(names, "example.com/gpu"), "a");
}

TEST(ClassNames, NamesGoWithTheClass) {
  ClassNames names;
  const auto before = Class("a", "example.com/gpu", 10);
  names.Put(nullptr, before);
  names.Put(before.get(), Class("a", "example.com/other", 10));
  EXPECT_EQ(NameFor(names, "example.com/gpu"), "");
  EXPECT_EQ(NameFor(names, "example.com/other"), "a");
  names.Remove(*Class("a", "example.com/other", 10));
  EXPECT_TRUE(names.empty());
}

}  // namespace
}  // namespace berth::dra
