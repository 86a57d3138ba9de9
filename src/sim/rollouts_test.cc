#include "sim/rollouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/builders.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A cluster in which only a limited number of newer pods get a node.
class RolloutsTest : public ::testing::Test {
 protected:
  void Start(input::Rollout rollout, size_t room) {
    room_ = room;
    bound_.insert(rollout.old_uids.begin(), rollout.old_uids.end());
    rollouts_ = std::make_unique<Rollouts>(
        std::vector{std::move(rollout)},
        Rollouts::Hooks{
            .create = [this](const std::shared_ptr<const api::Pod>& pod) { return Create(pod->metadata.uid); },
            .remove = [this](const std::string& uid) { Remove(uid); },
            .has_node = [this](const std::string& uid) { return bound_.contains(uid); }});
    while (rollouts_->Advance()) lowest_ = std::min(lowest_, bound_.size());
  }

  static input::Rollout Make(size_t count, size_t surge, size_t unavailable) {
    input::Rollout rollout{.workload = "Deployment a/b", .wanted = count};
    rollout.max_surge = surge;
    rollout.max_unavailable = unavailable;
    for (size_t i = 0; i < count; ++i) {
      rollout.old_uids.push_back("old" + std::to_string(i));
      rollout.new_pods.push_back(std::make_shared<const api::Pod>(
          testing::MakePod("new" + std::to_string(i)).Uid("new" + std::to_string(i)).Obj()));
    }
    return rollout;
  }

  std::string Create(const std::string& uid) {
    if (bound_.size() >= quota_) return "exceeded quota";
    events_.push_back("+" + uid);
    if (room_ == 0) return {};
    --room_;
    bound_.insert(uid);
    return {};
  }
  void Remove(const std::string& uid) {
    events_.push_back("-" + uid);
    bound_.erase(uid);
  }

  std::unique_ptr<Rollouts> rollouts_;
  std::set<std::string> bound_;
  std::vector<std::string> events_;
  size_t room_ = 0;
  size_t quota_ = SIZE_MAX;  // how many pods may get a node
  size_t lowest_ = SIZE_MAX;
};

TEST_F(RolloutsTest, ASurgeComesBeforeAnyoneGoes) {
  Start(Make(2, 1, 0), 10);
  EXPECT_THAT(events_, ElementsAre("+new0", "-old0", "+new1", "-old1"));
  EXPECT_EQ(lowest_, 2u) << "never fewer than wanted";
  EXPECT_TRUE(rollouts_->Report().front().complete());
}

TEST_F(RolloutsTest, ANewerPodWithoutANodeKeepsTheOlderOnes) {
  Start(Make(3, 1, 0), 0);
  EXPECT_THAT(events_, ElementsAre("+new0"));
  EXPECT_EQ(rollouts_->Report().front().old_left, 3u);
  size_t waiting = 0;
  rollouts_->ForEachWaiting([&](const std::shared_ptr<const api::Pod>&, const std::string&) { ++waiting; });
  EXPECT_EQ(waiting, 2u);
}

TEST_F(RolloutsTest, MaxUnavailableLetsOlderPodsGoFirst) {
  Start(Make(3, 0, 1), 0);
  EXPECT_THAT(events_, ElementsAre("-old0", "+new0"));
  EXPECT_EQ(rollouts_->Report().front().old_left, 2u);
}

TEST_F(RolloutsTest, RecreateTakesAllAway) {
  Start(Make(2, 0, 2), 10);
  EXPECT_THAT(events_, ElementsAre("-old0", "+new0", "-old1", "+new1"));
}

TEST_F(RolloutsTest, InTurnStopsAtTheFirstThatFindsNoNode) {
  input::Rollout rollout = Make(3, 0, 1);
  rollout.order = input::Rollout::Order::kInTurn;
  Start(std::move(rollout), 1);
  EXPECT_THAT(events_, ElementsAre("-old0", "+new0", "-old1", "+new1"));
  EXPECT_EQ(rollouts_->Report().front().updated, 1u);
  EXPECT_EQ(rollouts_->Report().front().old_left, 1u);
}

TEST_F(RolloutsTest, InTurnAPodThatWaitsElsewhereKeepsTheOlderOnes) {
  input::Rollout rollout = Make(2, 0, 1);
  rollout.order = input::Rollout::Order::kInTurn;
  rollout.updated_uids = {"missing"};  // recreated, and without a node
  Start(std::move(rollout), 2);
  EXPECT_THAT(events_, ::testing::IsEmpty());
  EXPECT_EQ(rollouts_->Report().front().old_left, 2u);
}

TEST_F(RolloutsTest, InTurnWithASurgeTheOlderPodWaitsForTheNewer) {
  input::Rollout rollout = Make(2, 1, 0);
  rollout.order = input::Rollout::Order::kInTurn;
  Start(std::move(rollout), 1);
  EXPECT_THAT(events_, ElementsAre("+new0", "-old0", "+new1"));
}

TEST_F(RolloutsTest, AQuotaWithoutRoomForTheSurgeIsNotPassedOver) {
  quota_ = 2;
  Start(Make(2, 1, 0), 10);
  EXPECT_THAT(events_, IsEmpty());
  std::vector<std::string> why;
  rollouts_->ForEachWaiting(
      [&](const std::shared_ptr<const api::Pod>&, const std::string& text) { why.push_back(text); });
  EXPECT_THAT(why, ElementsAre("exceeded quota", ::testing::HasSubstr("stands still")));
}

TEST_F(RolloutsTest, WhatAnOlderPodLeavesOfAQuotaIsForTheNewer) {
  quota_ = 2;
  Start(Make(2, 1, 1), 10);
  EXPECT_THAT(events_, ElementsAre("-old0", "+new0", "-old1", "+new1"));
  EXPECT_TRUE(rollouts_->Report().front().complete());
}

TEST_F(RolloutsTest, InTurnAPodThatTheQuotaRefusesCountsAsOneThatWaits) {
  quota_ = 1;
  input::Rollout rollout = Make(3, 0, 1);
  rollout.order = input::Rollout::Order::kInTurn;
  Start(std::move(rollout), 10);
  EXPECT_THAT(events_, ElementsAre("-old0")) << "two are left, and with them the quota is used up";
  EXPECT_EQ(rollouts_->Report().front().old_left, 2u);
}

TEST_F(RolloutsTest, NothingToRollOutIsDone) {
  Start({.workload = "Deployment a/b"}, 0);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_TRUE(rollouts_->Report().front().complete());
}

}  // namespace
}  // namespace berth::sim
