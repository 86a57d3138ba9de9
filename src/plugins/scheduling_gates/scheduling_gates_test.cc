#include "plugins/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using framework::EventResource;
using framework::QueueingHint;
using testing::AskHint;
using testing::FakeHandle;
using testing::MakePlugin;
using testing::MakePod;

TEST(SchedulingGates, HoldsAPodBackUntilItsLastGateIsGone) {
  FakeHandle handle;
  const auto plugin = MakePlugin<SchedulingGates>(handle);
  EXPECT_TRUE(plugin->PreEnqueue(*MakePod("free").Info()).ok());
  const framework::Status held =
      plugin->PreEnqueue(*MakePod("held").Gate("example.com/c").Gate("example.com/a").Info());
  EXPECT_EQ(held.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(held.Message(), "waiting for scheduling gates: [example.com/c example.com/a]");
}

TEST(SchedulingGates, WakesUpForItsOwnGatesOnly) {
  FakeHandle handle;
  const auto plugin = MakePlugin<SchedulingGates>(handle);
  const framework::PodInfoPtr pod = MakePod("a").Gate("g").Info();
  const api::Pod own = MakePod("a").Obj();
  const api::Pod other = MakePod("b").Obj();
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &own, &own), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, EventResource::kPod, *pod, &other, &other), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
