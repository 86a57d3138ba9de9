// A shadow of a scheduler that decides exactly as berth does, on a cluster in virtual time: bindings take their time
// and overtake each other, nodes change and pods are deleted meanwhile, and reports arrive late. Every disagreement
// must be a race, and must be recognized as one.
#include <fmt/format.h>

#include <functional>
#include <map>

#include "base/random.h"
#include "scheduler/binding_cycle.h"
#include "shadow/testing/shadow_fixture.h"

namespace berth::shadow {
namespace {

using berth::testing::MakePod;
using berth::testing::NodeBuilder;
using berth::testing::PodBuilder;
using std::chrono::milliseconds;

class StockTest : public testing::ShadowFixture, private framework::SimpleApiWriter, private scheduler::DriverObserver {
 protected:
  void MakeStock(uint64_t seed) {
    random_ = base::Random(seed);
    scheduler::Driver::Options options;
    options.scheduler.seed = seed;
    options.scheduler.take_binding = [this](std::unique_ptr<scheduler::BindingCycle> cycle) {
      const auto shared = std::make_shared<std::unique_ptr<scheduler::BindingCycle>>(std::move(cycle));
      After(milliseconds(Between(3, 60)), [this, shared] {
        (*shared)->Run();
        After(milliseconds(1), [this, shared] { stock_->Finish(std::move(*shared)); });
      });
    };
    auto made = scheduler::Driver::Create(config::DefaultConfiguration(gates_), registry_, gates_, clock_, *this, *this,
                                          std::move(options));
    CHECK(made.ok());
    stock_ = *std::move(made);
  }

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  void After(base::Duration delay, std::function<void()> action) {
    due_.emplace(clock_.Now() + delay, std::move(action));
  }
  // A change at the API server: the shadow sees it now, the scheduler a moment later.
  void Tell(const api::Object& object, bool deleted = false) {
    shadow().Add({clock_.Now(), deleted, object});
    After(milliseconds(2), [this, object, deleted] { deleted ? stock_->Remove(object) : stock_->Put(object); });
  }
  void Write(api::Pod pod) {
    pod.metadata.resource_version = std::to_string(++version_);
    pods_[pod.metadata.uid] = pod;
    Tell(api::MakeObject(std::move(pod)));
  }
  void Drop(const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    const api::Pod pod = found->second;
    pods_.erase(found);
    Tell(api::MakeObject(pod), true);
  }

  // framework::ApiWriter, and what the scheduler reports
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node) override {
    const auto found = pods_.find(pod.uid());
    if (found == pods_.end()) return framework::Status::Error("gone");
    api::Pod bound = found->second;
    bound.spec.node_name = node;
    if (misplaces_ && ++binds_ % 10 == 0 && bound.spec.tolerations.empty()) {
      bound.spec.node_name = "node-6";  // tainted
      misplaced_.insert(pod.Key());
    }
    Write(std::move(bound));
    return {};
  }
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo&) override {
    After(milliseconds(Between(5, 40)), [this, uid = victim.uid()] { Drop(uid); });
    return {};
  }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo&) override {
    After(milliseconds(Between(2, 30)),
          [this, uid = attempt.pod->uid(), message = attempt.message, node = attempt.post_filter.nominated_node_name] {
            const auto found = pods_.find(uid);
            if (found == pods_.end() || !found->second.spec.node_name.empty()) return;
            api::Pod pod = found->second;
            pod.status.conditions = {};
            api::PodCondition& condition = pod.status.conditions.emplace_back();
            condition.type = "PodScheduled";
            condition.status = "False";
            condition.reason = "Unschedulable";
            condition.message = message;
            if (!node.empty()) pod.status.nominated_node_name = node;
            Write(std::move(pod));
          });
  }

  PodBuilder RandomPod(int number) {
    const std::string app = fmt::format("app-{}", Between(0, 5));
    PodBuilder pod = MakePod(fmt::format("p{}", number)).SchedulerName("default-scheduler");
    pod.Label("app", app).Request("cpu", fmt::format("{}m", Between(1, 12) * 100));
    pod.Request("memory", fmt::format("{}Mi", Between(1, 8) * 128));
    switch (Between(0, 7)) {
      case 0:
        pod.SpreadConstraint(1, "zone", "DoNotSchedule", {{"app", app}});
        break;
      case 1:
        pod.SpreadConstraint(2, "kubernetes.io/hostname", "ScheduleAnyway", {{"app", app}});
        break;
      case 2:
        pod.PodAntiAffinity("kubernetes.io/hostname", {{"app", app}});
        break;
      case 3:
        pod.PreferredPodAffinity(50, "zone", {{"app", app}});
        break;
      case 4:
        pod.Priority(static_cast<int32_t>(Between(1, 3) * 100));
        break;
      case 5:
        pod.Tolerate("dedicated");
        break;
      default:
        break;
    }
    return pod;
  }
  api::Object RandomNode(int number, bool is_tainted) {
    NodeBuilder node = Node(fmt::format("node-{}", number), std::to_string(Between(4, 8)));
    node.Label("kubernetes.io/hostname", fmt::format("node-{}", number))
        .Label("zone", "abc"[number % 3] + std::string());
    if (is_tainted) node.Taint("dedicated");
    return api::Object(node.Shared());
  }

  void Live(int pods) {
    for (int i = 0; i < 24; ++i) Tell(RandomNode(i, i % 6 == 0));
    for (int i = 0; i < pods; ++i) {
      After(milliseconds(50 + i * Between(2, 12)), [this, i] { Write(RandomPod(i).Obj()); });
      if (Between(0, 3) == 0) {
        After(milliseconds(400 + i * 12 + Between(0, 4000)), [this, i] { Drop(fmt::format("default/p{}", i)); });
      }
    }
    for (int i = 0; i < 20 && !misplaces_; ++i) {
      After(milliseconds(Between(100, pods * 8)), [this, i] { Tell(RandomNode(i % 24, i % 3 == 0)); });
    }
    const base::Time end = clock_.Now() + milliseconds(pods * 14 + 8000);
    while (clock_.Now() < end) {
      clock_.Advance(milliseconds(1));
      while (!due_.empty() && due_.begin()->first <= clock_.Now()) {
        const auto first = due_.extract(due_.begin());
        first.mapped()();
      }
      stock_->Step();
      if (clock_.Now() == At(0) + milliseconds(40)) shadow().Begin();
      shadow().Advance(clock_.Now());
    }
    shadow().Finish();
  }

  // Whatever was tried in between, the picture matches the cluster.
  void ExpectPictureOfTheCluster() {
    const std::unique_ptr<scheduler::Driver> fresh = MakeDriver();
    for (const framework::NodeInfo* node : std::as_const(*stock_).cluster().nodes()) {
      fresh->Put(api::Object(node->shared_node()));
    }
    for (const auto& [uid, pod] : pods_) fresh->Put(api::MakeObject(pod));
    const cluster::Cluster& ours = std::as_const(*driver_).cluster();
    const cluster::Cluster& truth = std::as_const(*fresh).cluster();
    EXPECT_EQ(ours.pod_count(), truth.pod_count());
    ASSERT_EQ(ours.nodes().size(), truth.nodes().size());
    for (const framework::NodeInfo* node : truth.nodes()) {
      const framework::NodeInfo* found = ours.Find(node->name());
      ASSERT_NE(found, nullptr) << node->name();
      EXPECT_EQ(found->requested(), node->requested()) << node->name();
      EXPECT_EQ(found->pods().size(), node->pods().size()) << node->name();
      EXPECT_EQ(found->taints().size(), node->taints().size()) << node->name();
      EXPECT_EQ(ours.nominator().NominatedTo(node->name()).size(), truth.nominator().NominatedTo(node->name()).size());
    }
    EXPECT_EQ(std::as_const(*driver_).queue().counts().active + std::as_const(*driver_).queue().counts().unschedulable,
              std::as_const(*fresh).queue().counts().active + std::as_const(*fresh).queue().counts().unschedulable);
  }

  base::Random random_{1};
  std::unique_ptr<scheduler::Driver> stock_;
  std::multimap<base::Time, std::function<void()>> due_;
  std::map<std::string, api::Pod> pods_;
  uint64_t version_ = 1000;
  bool misplaces_ = false;  // sometimes a pod is bound to a node where it must not be
  int binds_ = 0;
  std::set<std::string> misplaced_;
};

TEST_F(StockTest, WhatItDoesNotAgreeWithIsFoundToBeARace) {
  for (const uint64_t seed : {1, 2, 3}) {
    driver_ = MakeDriver();
    shadow_.reset();
    compared_.clear();
    due_.clear();
    pods_.clear();
    clock_.Set(At(0));
    MakeStock(seed);
    Live(300);
    const Tally& tally = shadow().tally();
    EXPECT_GT(tally.bound, 200u) << seed;
    EXPECT_GT(tally.Of(Verdict::kRaced), 5u) << seed << ": nothing raced, so nothing was shown";
    const size_t unexplained = tally.compared - tally.Of(Verdict::kAgreed) - tally.Of(Verdict::kRaced);
    EXPECT_EQ(tally.Of(Verdict::kInfeasible), 0u) << tally.Text();
    EXPECT_LE(unexplained * 100, tally.compared) << tally.Text();
    ExpectPictureOfTheCluster();
    for (const Comparison& comparison : compared_) {
      if (comparison.verdict != Verdict::kAgreed && comparison.verdict != Verdict::kRaced) {
        ADD_FAILURE() << "seed " << seed << ": " << comparison.Text();
      }
    }
  }
}

// The other way round: with all those races, a wrong placement is not taken for one.
TEST_F(StockTest, EveryPodOnANodeThatItMustNotBeOnIsFound) {
  MakeStock(4);
  misplaces_ = true;
  Live(300);
  EXPECT_GT(misplaced_.size(), 10u);
  std::set<std::string> found;
  for (const Comparison& comparison : compared_) {
    if (comparison.verdict != Verdict::kInfeasible) continue;
    EXPECT_EQ(comparison.plugin, "TaintToleration") << comparison.Text();
    found.insert(comparison.pod);
  }
  EXPECT_EQ(found, misplaced_);
}

}  // namespace
}  // namespace berth::shadow
