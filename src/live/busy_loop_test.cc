// A scheduling loop that takes its turns on the test's own thread, with a clock that only the test moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <semaphore>
#include <thread>

#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using client::ObjectChange;

constexpr char kPatient[] = "Patient";
constexpr base::Duration kPatience = std::chrono::seconds(10);
constexpr char kWaits[] = "waits";
constexpr char kHeld[] = "held";

// Pods with the label `waits` wait before their binding for something that never happens, those with the label `held`
// for permission that nobody gives.
class Patient final : public framework::Plugin, public framework::PermitPlugin, public framework::PreBindPlugin {
 public:
  std::string_view name() const override { return kPatient; }
  framework::PermitResult Permit(framework::CycleState&, const framework::PodInfo& pod, const std::string&) override {
    if (!pod.pod().metadata.labels.Contains(Symbol(kHeld))) return {};
    return {framework::Status::Wait(), kPatience};
  }
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState&, const framework::PodInfo&,
                                                     const std::string&) override {
    return {};
  }
  framework::Status PreBind(framework::BindingHandle& handle, framework::CycleState&, const framework::PodInfo& pod,
                            const std::string&) override {
    if (!pod.pod().metadata.labels.Contains(Symbol(kWaits))) return {};
    return handle.api().Await([] { return std::optional<framework::Status>(); }, kPatience);
  }
};

// Runs one binding cycle, and reports when it waits and when its wait is over.
class OneCycle final : public BindingRunner {
 public:
  // Waits until the cycle has ended and reported so.
  void Join() { thread_.join(); }
  void Run(Task work, Task report) override {
    thread_ = std::thread([work, report] {
      work();
      report();
    });
  }
  bool WaitFor(Length, const std::function<void(Resume)>& begin) override {
    std::promise<void> resumed;
    begin([&] {
      over = true;
      resumed.set_value();
    });
    waits.set_value();
    resumed.get_future().wait();
    return true;
  }

  std::promise<void> waits;
  std::atomic<bool> over = false;

 private:
  std::thread thread_;
};

class BusyLoop : public ::testing::Test {
 protected:
  // `runner` runs binding cycles.
  void Make(BindingRunner& runner, size_t max_binding = 512, size_t max_waiting = 2048, bool leads = true) {
    // Otherwise the client's thread reads the clock for the nominatedNodeName patch while the test moves it.
    ASSERT_TRUE(gates_.Set("NominatedNodeNameForExpectation", false).ok());
    framework::Registry all_plugins = plugins::InTreeRegistry();
    const auto make = [this](const config::PluginArgs&,
                             framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
      handle_ = &handle;
      return std::unique_ptr<framework::Plugin>(std::make_unique<Patient>());
    };
    ASSERT_TRUE(all_plugins.Register(kPatient, make, "the test").ok());
    config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates_);
    configuration.profiles[0].plugins.multi_point.enabled.push_back({kPatient, 0});
    auto made = SchedulingLoop::Create(
        configuration, all_plugins, gates_, clock_, runner, client_, events_, metrics_,
        {.max_binding = max_binding, .max_waiting = max_waiting, .kinds = {api::Kind::kNode, api::Kind::kPod}});
    ASSERT_TRUE(made.ok()) << made.error().message;
    loop_ = std::move(*made);
    loop_->set_on_mail([this] { mail_.release(); });
    loop_->OnChanges(api::Kind::kNode,
                     {{ObjectChange::Type::kAdded,
                       api::Object(MakeNode("n1").Capacity("cpu", "1").Capacity("pods", "110").Shared())}});
    if (leads) loop_->StartScheduling();
  }
  void Tell(berth::testing::PodBuilder pod) {
    pod.SchedulerName("default-scheduler");
    loop_->OnChanges(api::Kind::kPod, {{ObjectChange::Type::kAdded, api::Object(pod.Shared())}});
  }
  // Takes a turn, and another one whenever there is mail, until `done`; false if that does not happen.
  bool TurnUntil(const std::function<bool()>& done) {
    for (loop_->Turn(); !done(); loop_->Turn()) {
      if (!mail_.try_acquire_for(std::chrono::seconds(20))) return false;
    }
    return true;
  }
  bool TurnUntilSent(const std::string& request) {
    return TurnUntil([&] {
      return std::ranges::any_of(server_.lines(),
                                 [&](const std::string& line) { return line.find(request) != std::string::npos; });
    });
  }
  void End() {
    loop_->Stop();
    EXPECT_TRUE(TurnUntil([&] { return loop_->ended(); }));
    io_.Stop();
  }

  config::FeatureGates gates_;
  base::FakeClock clock_{base::Time(std::chrono::hours(1000))};
  base::ThreadLoop io_;
  testing::YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {}};
  std::counting_semaphore<> mail_{0};
  std::unique_ptr<SchedulingLoop> loop_;
  framework::Handle* handle_ = nullptr;  // of the plugin
};

TEST_F(BusyLoop, AWaitEndsInTimeHoweverManyPodsAreToBeScheduled) {
  OneCycle runner;
  Make(runner);
  Tell(MakePod("web").Label(kWaits, "").Request("cpu", "1"));
  loop_->Turn();
  runner.waits.get_future().wait();
  loop_->Turn();
  EXPECT_FALSE(runner.over);

  for (int i = 0; i < 100; ++i) Tell(MakePod("crowd-" + std::to_string(i)).Request("cpu", "1"));
  clock_.Advance(kPatience);
  loop_->Turn();
  EXPECT_GT(loop_->driver().queue().counts().active, 0u) << "the loop has more to do";
  EXPECT_TRUE(runner.over);
  runner.Join();
  End();
}

TEST_F(BusyLoop, PodsThatWaitedForTheirVolumesStoppedAllOthers) {
  BindingThreads threads(4);
  Make(threads, /*max_binding=*/2);
  for (int i = 0; i < 5; ++i) Tell(MakePod("waits-" + std::to_string(i)).Label(kWaits, ""));
  Tell(MakePod("web"));
  EXPECT_TRUE(TurnUntilSent("/pods/web/binding"));
  End();
}

TEST_F(BusyLoop, AFullLoopWhosePodsWaitForTheirVolumesIsNotStuck) {
  BindingThreads threads(4);
  Make(threads, /*max_binding=*/1, /*max_waiting=*/2);
  for (int i = 0; i < 3; ++i) Tell(MakePod("waits-" + std::to_string(i)).Label(kWaits, ""));
  Tell(MakePod("web"));
  EXPECT_TRUE(TurnUntil([&] { return loop_->driver().binding() == 3 && loop_->waiting() == 3; }));
  EXPECT_GT(loop_->driver().queue().counts().active, 0u);
  clock_.Advance(kPatience - std::chrono::seconds(1));
  loop_->Turn();
  EXPECT_EQ(loop_->StuckFor(), base::Duration::zero());
  End();
}

TEST_F(BusyLoop, WorkThatAPluginPostedOnAStandbyWaitedUntilItLed) {
  BindingThreads threads(1);
  Make(threads, /*max_binding=*/512, /*max_waiting=*/2048, /*leads=*/false);
  bool ran = false;
  handle_->Post([&] { ran = true; });
  loop_->Turn();
  EXPECT_TRUE(ran);
  End();
}

TEST_F(BusyLoop, NothingWasScheduledWhileMailKeptArriving) {
  OneCycle runner;
  Make(runner);
  Tell(MakePod("web"));
  int left = 100;
  std::function<void()> flood = [&] {
    if (--left > 0) loop_->Post(flood);
  };
  loop_->Post(flood);
  for (int turn = 0; turn < 10; ++turn) loop_->Turn();
  EXPECT_GT(left, 0) << "there is still mail";
  EXPECT_EQ(loop_->driver().queue().counts().active, 0u);
  runner.Join();
  left = 0;
  End();
}

// The kubelet restarts a scheduler whose /livez says so.
TEST_F(BusyLoop, ASchedulingThreadThatTookNoTurnsLookedAlive) {
  OneCycle runner;
  Make(runner);
  loop_->Turn();
  clock_.Advance(std::chrono::seconds(5));
  loop_->Turn();
  EXPECT_EQ(loop_->StuckFor(), base::Duration::zero()) << "it has nothing to do";
  Tell(MakePod("web"));
  clock_.Advance(std::chrono::seconds(61));
  EXPECT_GE(loop_->StuckFor(), std::chrono::seconds(61));
  loop_->Turn();
  EXPECT_EQ(loop_->StuckFor(), base::Duration::zero());
  runner.Join();
  End();
}

TEST_F(BusyLoop, ASchedulingThreadThatWasStuckInItsFirstTurnLookedAlive) {
  OneCycle runner;
  Make(runner);
  EXPECT_EQ(loop_->StuckFor(), base::Duration::zero()) << "it does not run yet";
  Result<void> before, after;
  loop_->Post([&] {
    clock_.Advance(std::chrono::seconds(59));
    before = loop_->CheckProgress();
    clock_.Advance(std::chrono::seconds(2));
    after = loop_->CheckProgress();
  });
  loop_->Turn();
  EXPECT_TRUE(before.ok());
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message, "no pod has been scheduled for 61s although some are ready to be");
  EXPECT_TRUE(loop_->CheckProgress().ok());
  End();
}

TEST_F(BusyLoop, AFullLoopSpunOnceABackoffWasOver) {
  BindingThreads threads(4);
  Make(threads, /*max_binding=*/1);
  Tell(MakePod("large").Request("cpu", "2"));
  loop_->Turn();
  server_.Hold("binding");
  Tell(MakePod("web"));
  loop_->Turn();
  loop_->OnChanges(api::Kind::kNode,
                   {{ObjectChange::Type::kModified,
                     api::Object(MakeNode("n1").Capacity("cpu", "3").Capacity("pods", "110").Shared())}});
  loop_->Turn();
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_GT(loop_->Turn(), clock_.Now());
  EXPECT_EQ(loop_->driver().binding(), 1u) << "large waits for its turn";
  server_.Release("binding");
  EXPECT_TRUE(TurnUntilSent("/pods/large/binding"));
  End();
}

TEST_F(BusyLoop, AFullLoopHeldPodsForLongerThanTheirPlugin) {
  BindingThreads threads(4);
  Make(threads, /*max_binding=*/1);
  Tell(MakePod("held").Label(kHeld, ""));
  loop_->Turn();
  server_.Hold("binding");
  Tell(MakePod("web"));
  loop_->Turn();
  ASSERT_EQ(loop_->driver().binding(), 1u);
  ASSERT_FALSE(loop_->driver().scheduler().waiting_pods().empty());
  EXPECT_LE(loop_->Turn(), clock_.Now() + kPatience);
  clock_.Advance(kPatience);
  loop_->Turn();
  EXPECT_TRUE(loop_->driver().scheduler().waiting_pods().empty());
  EXPECT_EQ(loop_->driver().binding(), 1u) << "it is still full";
  EXPECT_GT(loop_->Turn(), clock_.Now());
  server_.Release("binding");
  End();
}

}  // namespace
}  // namespace berth::live
