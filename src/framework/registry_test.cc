#include "framework/registry.h"

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

PluginFactory Nothing() {
  return [](const config::PluginArgs&, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return Error::Unsupported("only a test");
  };
}

TEST(Registry, ANameIsTakenOnce) {
  Registry registry;
  ASSERT_TRUE(registry.Register("Mine", Nothing(), "berth itself").ok());
  const Result<void> again = registry.Register("Mine", Nothing(), "library mine.so");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(again.error().message,
            "a plugin named Mine already exists: from berth itself and again from library mine.so");
  EXPECT_NE(registry.Find("Mine"), nullptr);
  EXPECT_EQ(registry.Find("Yours"), nullptr);
}

TEST(Registry, MergeTakesTheOthersPlugins) {
  Registry mine, yours;
  ASSERT_TRUE(mine.Register("Mine", Nothing(), "here").ok());
  ASSERT_TRUE(yours.Register("Yours", Nothing(), "there").ok());
  ASSERT_TRUE(mine.Merge(yours).ok());
  EXPECT_EQ(mine.entries().size(), 2u);
  EXPECT_FALSE(mine.Merge(yours).ok());
}

}  // namespace
}  // namespace berth::framework
