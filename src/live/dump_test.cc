#include "live/dump.h"

#include <gtest/gtest.h>

#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;

using DumpTest = testing::LoopFixture;

TEST_F(DumpTest, APodOnItsWayToANodeIsCountedOnce) {
  server_.Hold("pods/web/binding");
  loop_->StartScheduling();
  TellNode("n1", "1");
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "1"));
  Tell(MakePod("pending").SchedulerName("default-scheduler").Request("cpu", "1").Priority(-1));
  ASSERT_NE(server_.Await({"pods/web/binding"}), "");
  std::promise<size_t> counted;
  loop_->Post([&] { counted.set_value(KnownPods(loop_->driver()).size()); });
  EXPECT_EQ(counted.get_future().get(), 2u) << "it is in the queue and on the node";
  server_.Release("pods/web/binding");
}

}  // namespace
}  // namespace berth::live
