// KeptCycle: a pod's state kept across changes to pods, as the engine keeps it, to be compared with a fresh run. And a
// source of random changes to pods.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "testing/fake_handle.h"

namespace berth::plugins {

// A change that the cluster already has.
struct SeenChange {
  framework::PodInfoPtr pod;
  const framework::NodeInfo* node = nullptr;
  int sign = 0;
};

// Pods that are added to random nodes, removed, or replaced by a later version of themselves.
class Traffic {
 public:
  using MakeRandomPod = std::function<testing::PodBuilder(std::mt19937&, const std::string& name)>;

  Traffic(testing::FakeCluster& cluster, std::mt19937& random, MakeRandomPod make)
      : cluster_(cluster), random_(random), make_(std::move(make)) {}

  std::vector<SeenChange> Step() {
    if (placed_.empty() || random_() % 5 < 3) return {Come("p" + std::to_string(++last_name_))};
    const framework::PodInfoPtr pod = placed_[random_() % placed_.size()];
    std::vector<SeenChange> changes = {Leave(pod)};
    if (random_() % 4 == 0) changes.push_back(Come(pod->name()));
    return changes;
  }

 private:
  SeenChange Come(const std::string& name) {
    const auto nodes = cluster_.nodes();
    const framework::NodeInfo* node = nodes[random_() % nodes.size()];
    cluster_.AddPod(make_(random_, name).Node(node->name()));
    placed_.push_back(node->pods().back());
    return {placed_.back(), node, +1};
  }
  SeenChange Leave(const framework::PodInfoPtr& pod) {
    std::erase(placed_, pod);
    cluster_.RemovePod(*pod);
    return {pod, &cluster_.Node(pod->pod().spec.node_name), -1};
  }

  testing::FakeCluster& cluster_;
  std::mt19937& random_;
  MakeRandomPod make_;
  std::vector<framework::PodInfoPtr> placed_;
  int last_name_ = 0;
};

template <class P>
class KeptCycle {
 public:
  KeptCycle(const P& plugin, framework::PodInfoPtr pod, const testing::FakeCluster& cluster,
            std::vector<const framework::NodeInfo*> feasible)
      : plugin_(plugin), pod_(std::move(pod)), cluster_(cluster), feasible_(std::move(feasible)) {
    RunPreFilter();
    RunPreScore();
  }

  void Follow(const SeenChange& seen) {
    const framework::PodChange change{*seen.pod, *seen.node, seen.sign};
    // When it gives up, changes still to come have already been counted.
    filter_gave_up_ = filter_gave_up_ || !plugin_.CatchUpPreFilter(state_, *pod_, change);
    score_gave_up_ = score_gave_up_ || !plugin_.CatchUpPreScore(state_, *pod_, change);
    ++followed_;
  }
  // After the last change: runs again what the plugin could not catch up with.
  void Settle(const std::vector<const framework::NodeInfo*>& feasible) {
    const bool reads_feasible = plugin_.pre_score_reads_feasible_nodes() && feasible != feasible_;
    restarts_ += filter_gave_up_ + score_gave_up_;
    feasible_ = feasible;
    if (filter_gave_up_) RunPreFilter();
    const bool rescored = filter_gave_up_ || score_gave_up_;
    if (rescored || (reads_feasible && !ChooseAmong())) RunPreScore();
    filter_gave_up_ = score_gave_up_ = false;
  }
  int followed() const { return followed_; }
  int restarts() const { return restarts_; }

  void ExpectAsFresh() const {
    const KeptCycle fresh(plugin_, pod_, cluster_, feasible_);
    EXPECT_EQ(filter_, fresh.filter_);
    EXPECT_EQ(score_, fresh.score_);
    if (fresh.filter_.ok()) ExpectSameVerdicts(fresh);
    if (fresh.score_.ok()) ExpectSameScores(fresh);
  }

 private:
  void RunPreFilter() { filter_ = plugin_.PreFilter(state_, *pod_).status; }
  bool ChooseAmong() {
    std::vector<uint8_t> marks(cluster_.columns().size(), 0);
    for (const framework::NodeInfo* node : feasible_) marks[node->index()] = 1;
    return plugin_.ChooseAmong(state_, *pod_, marks);
  }
  void RunPreScore() { score_ = plugin_.PreScore(state_, *pod_, feasible_); }

  void ExpectSameVerdicts(const KeptCycle& fresh) const {
    const size_t slots = cluster_.columns().size();
    const size_t begin = slots / 3;
    std::vector<uint8_t> all(slots, 77);
    std::vector<uint8_t> rest(slots - begin, 77);
    ASSERT_TRUE(plugin_.FilterRange(state_, *pod_, cluster_.columns(), 0, all));
    ASSERT_TRUE(plugin_.FilterRange(state_, *pod_, cluster_.columns(), begin, rest));
    std::map<uint8_t, framework::Status> by_verdict;
    for (const framework::NodeInfo* node : cluster_.nodes()) {
      const framework::Status status = plugin_.Filter(state_, *pod_, *node);
      EXPECT_EQ(status, plugin_.Filter(fresh.state_, *pod_, *node)) << node->name();
      EXPECT_EQ(status.ok(), all[node->index()] == 0) << node->name();
      EXPECT_EQ(by_verdict.try_emplace(all[node->index()], status).first->second, status) << node->name();
      if (node->index() >= begin) {
        EXPECT_EQ(rest[node->index() - begin], all[node->index()]);
      }
    }
  }
  void ExpectSameScores(const KeptCycle& fresh) const {
    const size_t slots = cluster_.columns().size();
    const size_t begin = slots / 3;
    std::vector<int64_t> all(slots, 77);
    std::vector<int64_t> rest(slots - begin, 77);
    ASSERT_TRUE(plugin_.ScoreRange(state_, *pod_, cluster_.columns(), 0, all));
    ASSERT_TRUE(plugin_.ScoreRange(state_, *pod_, cluster_.columns(), begin, rest));
    std::vector<framework::NodeScore> mine;
    std::vector<framework::NodeScore> theirs;
    for (const framework::NodeInfo* node : feasible_) {
      mine.push_back({node, plugin_.Score(state_, *pod_, *node).score});
      theirs.push_back({node, plugin_.Score(fresh.state_, *pod_, *node).score});
      EXPECT_EQ(mine.back().score, theirs.back().score) << node->name();
      EXPECT_EQ(mine.back().score, all[node->index()]) << node->name();
      if (node->index() >= begin) {
        EXPECT_EQ(rest[node->index() - begin], all[node->index()]);
      }
    }
    EXPECT_TRUE(plugin_.NormalizeScore(state_, *pod_, mine).ok());
    EXPECT_TRUE(plugin_.NormalizeScore(fresh.state_, *pod_, theirs).ok());
    for (size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i].score, theirs[i].score) << mine[i].node->name();
  }

  const P& plugin_;
  framework::PodInfoPtr pod_;
  const testing::FakeCluster& cluster_;
  std::vector<const framework::NodeInfo*> feasible_;
  framework::CycleState state_;
  framework::Status filter_;
  framework::Status score_;
  bool filter_gave_up_ = false;
  bool score_gave_up_ = false;
  int followed_ = 0;
  int restarts_ = 0;
};

}  // namespace berth::plugins
