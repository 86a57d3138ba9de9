#include "plugins/registry.h"

#include <gtest/gtest.h>

#include "testing/fake_handle.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;

TEST(InTreeRegistry, EveryPluginCanBeMadeWithItsDefaultsAndKnowsItsName) {
  FakeHandle handle;
  const framework::Registry registry = InTreeRegistry();
  EXPECT_EQ(registry.entries().size(), 32u);
  for (const auto& [name, entry] : registry.entries()) {
    SCOPED_TRACE(name);
    config::PluginArgs args;
    // The only plugin without defaults: it requires a curve.
    if (name == "RequestedToCapacityRatio") args = config::RequestedToCapacityRatioArgs{.shape = {{0, 0}, {100, 10}}};
    const Result<std::unique_ptr<framework::Plugin>> plugin = entry.factory(args, handle);
    ASSERT_TRUE(plugin.ok()) << plugin.error().message;
    EXPECT_EQ((*plugin)->name(), name);
  }
}

}  // namespace
}  // namespace berth::plugins
