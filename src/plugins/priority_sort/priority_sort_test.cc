#include "plugins/priority_sort/priority_sort.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using testing::FakeHandle;
using testing::MakePlugin;
using testing::MakePod;

TEST(PrioritySort, HigherPriorityFirstThenFirstComeFirstServed) {
  FakeHandle handle;
  const auto plugin = MakePlugin<PrioritySort>(handle);
  const framework::PodInfoPtr high = MakePod("high").Priority(10).Info();
  const framework::PodInfoPtr low = MakePod("low").Priority(-1).Info();
  const framework::PodInfoPtr unset = MakePod("unset").Info();
  const base::Time early{std::chrono::seconds(1)};
  const base::Time late{std::chrono::seconds(2)};
  EXPECT_TRUE(plugin->Less({*high, late}, {*low, early}));
  EXPECT_FALSE(plugin->Less({*low, early}, {*high, late}));
  EXPECT_TRUE(plugin->Less({*unset, late}, {*low, early}));
  EXPECT_TRUE(plugin->Less({*high, early}, {*high, late}));
  EXPECT_FALSE(plugin->Less({*high, early}, {*high, early}));
}

}  // namespace
}  // namespace berth::plugins
