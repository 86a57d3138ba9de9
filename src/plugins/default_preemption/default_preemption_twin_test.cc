// State kept between searches must not affect results: two clusters go through the same random changes, one of them
// with pods that have a signature, and every search must have the same result in both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <random>

#include "plugins/default_preemption/default_preemption.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::plugins {
namespace {

using ::berth::testing::At;
using ::berth::testing::FakeHandle;
using ::berth::testing::FitsCpu;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePdb;
using ::berth::testing::MakePod;
using ::berth::testing::PodBuilder;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::PostFilterResult;
using framework::Status;

// Requires cpu, and has one kind of pod that tolerates only its own kind, so that evicting all pods is sometimes not
// enough.
Status FitsAndLikes(const PodInfo& pod, const framework::NodeInfo& node) {
  const Symbol* kind = pod.labels().Find(Symbol("kind"));
  for (const PodInfoPtr& other : node.pods()) {
    const Symbol* theirs = other->labels().Find(Symbol("kind"));
    if (theirs && (!kind || *kind != *theirs)) return Status::Unschedulable(fmt::format("dislikes {}", theirs->str()));
  }
  return FitsCpu(pod, node);
}

class Twins {
 public:
  explicit Twins(uint32_t seed) : draw_(seed) {
    kept_.SignWith([](const PodInfo& pod) {
      const Symbol* kind = pod.labels().Find(Symbol("kind"));
      return fmt::format("{}/{}", pod.requests().milli_cpu, kind ? kind->str() : "");
    });
    args_.min_candidate_nodes_percentage = Draw(2) ? 10 : 40;
    args_.min_candidate_nodes_absolute = Draw(2) ? 1 : 5;
    kept_plugin_.emplace(args_, kept_);
    const int nodes = Draw(8) == 0 ? 100 + Draw(200) : 1 + Draw(30);  // sums are by 64
    for (int i = 0; i < nodes; ++i) {
      const std::string cpu = std::to_string(2 + Draw(8));
      Both([&](FakeHandle& handle) { handle.cluster().AddNode(MakeNode(NodeName(i)).Capacity("cpu", cpu)); });
    }
    nodes_ = nodes;
    for (int i = 0; i < nodes * 5; ++i) AddPod();
  }

  void Change() {
    switch (Draw(8)) {
      case 0:
      case 1:
        return AddPod();
      case 2:
      case 3:
        return RemovePod();
      case 4:
        return ChangeBudget();
      case 5:
        return Nominate();
      case 6:
        return nominated_.empty() ? void() : Withdraw();
      default: {
        // Mostly forward, past the start of pods that start in the future; sometimes the clock is set back, too.
        const std::chrono::minutes by(Draw(4) == 0 ? -Draw(120) : Draw(120));
        return Both([&](FakeHandle& handle) { handle.clock().Advance(by); });
      }
    }
  }

  // The name of the node that both found, or the message that both returned.
  std::string Search() {
    PodBuilder preemptor = MakePod(fmt::format("p{}", ++number_)).Priority(Draw(6) * 2);
    preemptor.Request("cpu", Draw(2) ? "2" : "3");
    if (Draw(5) == 0) preemptor.Label("kind", "odd");
    const PodInfoPtr pod = preemptor.Info();
    const PostFilterResult kept = Run(*kept_plugin_, kept_, *pod);
    // Made anew, it has kept nothing, not even compiled budgets.
    const PostFilterResult slow = Run(DefaultPreemption(args_, slow_), slow_, *pod);
    EXPECT_EQ(kept.status, slow.status);
    EXPECT_EQ(kept.nominated_node_name, slow.nominated_node_name);
    EXPECT_EQ(kept.clear_nomination, slow.clear_nomination);
    EXPECT_EQ(kept.victims.pdb_violations, slow.victims.pdb_violations);
    EXPECT_EQ(Names(kept), Names(slow));
    // Usually the victims are deleted, as in a real cluster.
    if (kept.status.ok() && Draw(3) != 0) {
      for (const PodInfoPtr& victim : kept.victims.pods) Remove(victim->name());
    }
    return kept.status.ok() ? kept.nominated_node_name : kept.status.Message();
  }

 private:
  static std::string NodeName(int i) { return fmt::format("n{}", i); }
  static std::vector<std::string> Names(const PostFilterResult& result) {
    std::vector<std::string> names;
    for (const PodInfoPtr& pod : result.victims.pods) names.push_back(pod->name());
    return names;
  }
  int Draw(int below) { return static_cast<int>(draw_() % static_cast<uint32_t>(below)); }
  template <class Act>
  void Both(Act act) {
    act(kept_);
    act(slow_);
  }
  static PostFilterResult Run(const DefaultPreemption& plugin, FakeHandle& handle, const PodInfo& pod) {
    framework::CycleState state;
    state.verify_incremental = true;
    return plugin.PostFilter(state, pod, handle.FilterAll(pod));
  }

  void AddPod() {
    PodBuilder pod = MakePod(fmt::format("v{}", ++number_)).Node(NodeName(Draw(nodes_))).Priority(Draw(6) * 2);
    pod.Request("cpu", Draw(2) ? "1" : "2");
    if (Draw(4) != 0) pod.Label("app", std::string(1, static_cast<char>('a' + Draw(4))));
    if (Draw(12) == 0) pod.Label("kind", "odd");
    if (Draw(4) != 0) pod.StartTime(At("2029-12-31T20:00:00Z") + std::chrono::minutes(10 * Draw(40)));
    Both([&](FakeHandle& handle) { handle.cluster().AddPod(pod); });
    const PodInfoPtr info = pod.Info();
    pods_[info->name()] = info;
  }
  void RemovePod() {
    if (!pods_.empty()) Remove(std::next(pods_.begin(), Draw(static_cast<int>(pods_.size())))->first);
  }
  void Remove(const std::string& name) {
    Both([&](FakeHandle& handle) { handle.cluster().RemovePod(*pods_.at(name)); });
    pods_.erase(name);
  }
  void ChangeBudget() {
    const std::string app(1, static_cast<char>('a' + Draw(4)));
    if (Draw(4) == 0) {
      Both([&](FakeHandle& handle) { handle.objects().pod_disruption_budgets.Erase("default", app); });
      return;
    }
    // Sometimes the budget changes to protect other pods.
    const std::string protects = Draw(6) == 0 ? "d" : app;
    const int allowed = Draw(3);
    Both([&](FakeHandle& handle) { handle.Add(MakePdb(app, {{"app", protects}}, allowed)); });
  }
  void Nominate() {
    const PodInfoPtr pod =
        MakePod(fmt::format("promised{}", ++number_)).Priority(Draw(6) * 2).Request("cpu", "1").Info();
    const std::string node = NodeName(Draw(nodes_));
    Both([&](FakeHandle& handle) { handle.nominator().Nominate(pod, node); });
    nominated_.push_back(pod->uid());
  }
  void Withdraw() {
    const std::string uid = nominated_.back();
    nominated_.pop_back();
    Both([&](FakeHandle& handle) { handle.nominator().Remove(uid); });
  }

  std::mt19937 draw_;
  int nodes_ = 0;
  int number_ = 0;
  config::DefaultPreemptionArgs args_;
  std::map<std::string, PodInfoPtr> pods_;
  std::vector<std::string> nominated_;
  FakeHandle kept_{FitsAndLikes};
  FakeHandle slow_{FitsAndLikes};
  std::optional<DefaultPreemption> kept_plugin_;
};

TEST(DefaultPreemptionTwins, WhatIsKeptDoesNotShow) {
  std::map<bool, int> found;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Twins twins(seed);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      ++found[!twins.Search().starts_with("preemption: ")];
      for (int changes = step % 3; changes > 0; --changes) twins.Change();
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(found[true], 1000);
  EXPECT_GT(found[false], 1000);
}

}  // namespace
}  // namespace berth::plugins
