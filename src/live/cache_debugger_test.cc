#include "live/cache_debugger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string NodeList(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  return fmt::format(R"({{"kind":"NodeList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{}]}})",
                     fmt::join(items, ","));
}

constexpr const char* kNoPods = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})";

class CacheDebuggerTest : public testing::LoopFixture {
 protected:
  CacheDebuggerTest() {
    base::LogOptions options;
    options.sink = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line.substr(line.find("] ") + 2));
      written_.notify_all();
    };
    EXPECT_TRUE(base::ConfigureLog(std::move(options)));
  }
  ~CacheDebuggerTest() override { EXPECT_TRUE(base::ConfigureLog({})); }

  // Everything logged until the end of the dump.
  std::string LogOfADump() {
    debugger_.CompareAndDump();
    std::unique_lock lock(mutex_);
    const auto dumped = [&] {
      return std::any_of(lines_.begin(), lines_.end(),
                         [](const std::string& line) { return line.starts_with("\"Dump of scheduling queue\""); });
    };
    EXPECT_TRUE(written_.wait_for(lock, std::chrono::seconds(20), dumped));
    return fmt::format("{}", fmt::join(lines_, ""));
  }
  CacheComparison Compare(std::vector<api::Object> nodes, std::vector<api::Object> pods) {
    std::promise<CacheComparison> answer;
    loop_->Post([&] { answer.set_value(CompareCache(*loop_, nodes, pods)); });
    return answer.get_future().get();
  }

  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<std::string> lines_;  // guarded by mutex_
  CacheDebugger debugger_{client_, io_, *loop_};
};

TEST_F(CacheDebuggerTest, TellsWhatDiffersBeforeTheDump) {
  TellNode("n1", "4");
  TellNode("n2", "4");
  Tell(MakePod("ghost").Node("n1").Uid("u-ghost"));
  server_.Serve("/api/v1/nodes", {NodeList({"n1", "n3"})});
  server_.Serve("/api/v1/pods", {kNoPods});
  const std::string log = LogOfADump();
  EXPECT_THAT(log, HasSubstr("\"Cache mismatch\" missedNodes=[\"n3\"] redundantNodes=[\"n2\"]\n"
                             "\"Cache mismatch\" missedPods=[] redundantPods=[\"u-ghost\"]\n"
                             "\"Dump of cached NodeInfo\" nodes=2 pods=1\n"));
}

TEST_F(CacheDebuggerTest, WhatTheWatchBringsBeforeTheSecondLookIsNoMismatch) {
  TellNode("n1", "4");
  loop_->OnNotServed(api::Kind::kPod);
  server_.Serve("/api/v1/nodes", {NodeList({"n1", "just-created"}), NodeList({"n1"})});
  server_.Serve("/api/v1/pods", {kNoPods});
  const std::string log = LogOfADump();
  EXPECT_THAT(log, Not(HasSubstr("Cache mismatch")));
  int lists = 0;
  for (const std::string& line : server_.lines()) lists += line.starts_with("GET /api/v1/nodes?");
  EXPECT_EQ(lists, 2);
}

TEST_F(CacheDebuggerTest, DumpsAlsoWhenTheServerCannotBeAsked) {
  TellNode("n1", "4");
  loop_->OnNotServed(api::Kind::kPod);
  server_.Answer("/api/v1/nodes", 403);
  EXPECT_THAT(LogOfADump(), HasSubstr("\"Cannot compare the cache with the API server\""));
}

TEST_F(CacheDebuggerTest, BeforeTheFirstListsThereIsNothingToCompare) {
  EXPECT_THAT(LogOfADump(), Not(HasSubstr("Cache mismatch")));
  EXPECT_THAT(server_.lines(), IsEmpty());
}

TEST_F(CacheDebuggerTest, PodsOfOthersAndPodsOnTheirWayOutAreNotMissed) {
  TellNode("n1", "4");
  Tell(MakePod("queued").SchedulerName("default-scheduler").Uid("u-queued"));
  Tell(MakePod("astray").Node("unknown-node").Uid("u-astray"));
  const auto listed = [](berth::testing::PodBuilder pod) { return api::Object(pod.Shared()); };
  const CacheComparison found =
      Compare({}, {listed(MakePod("queued").SchedulerName("default-scheduler").Uid("u-queued")),
                   listed(MakePod("astray").Node("unknown-node").Uid("u-astray")),
                   listed(MakePod("other").SchedulerName("other-scheduler").Uid("u-other")),
                   listed(MakePod("going").SchedulerName("default-scheduler").Uid("u-going").Terminating()),
                   listed(MakePod("missed").SchedulerName("default-scheduler").Uid("u-missed")),
                   listed(MakePod("placed").SchedulerName("other-scheduler").Node("n1").Uid("u-placed"))});
  EXPECT_THAT(found.nodes.redundant, ElementsAre("n1"));
  EXPECT_THAT(found.pods.missed, ElementsAre("u-missed", "u-placed"));
  EXPECT_THAT(found.pods.redundant, IsEmpty());
}

}  // namespace
}  // namespace berth::live
