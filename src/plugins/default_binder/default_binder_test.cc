#include "plugins/default_binder/default_binder.h"

#include <gmock/gmock.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;
using testing::FakeHandle;
using testing::MakePlugin;
using testing::MakePod;
using ::testing::Pair;

TEST(DefaultBinder, WritesTheBindingAndHandsTheAnswerOn) {
  FakeHandle handle;
  const auto plugin = MakePlugin<DefaultBinder>(handle);
  framework::CycleState state;
  EXPECT_TRUE(plugin->Bind(handle, state, *MakePod("web").Info(), "n1").ok());
  handle.api().answer = framework::Status::Error("conflict");
  EXPECT_EQ(plugin->Bind(handle, state, *MakePod("db").Info(), "n2").Message(), "conflict");
  EXPECT_THAT(handle.api().bound, ElementsAre(Pair("default/web", "n1"), Pair("default/db", "n2")));
}

}  // namespace
}  // namespace berth::plugins
