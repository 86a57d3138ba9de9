// A scheduling loop that takes its turns on the test's own thread, with a clock that only the test moves.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using client::ObjectChange;

constexpr char kPatient[] = "Patient";
constexpr base::Duration kPatience = std::chrono::seconds(10);

// Waits before each binding for something that never happens.
class Patient final : public framework::Plugin, public framework::PreBindPlugin {
 public:
  std::string_view name() const override { return kPatient; }
  framework::PreBindPreFlightResult PreBindPreFlight(const framework::CycleState&, const framework::PodInfo&,
                                                     const std::string&) override {
    return {};
  }
  framework::Status PreBind(framework::BindingHandle& handle, framework::CycleState&, const framework::PodInfo&,
                            const std::string&) override {
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

TEST(BusyLoop, AWaitEndsInTimeHoweverManyPodsAreToBeScheduled) {
  config::FeatureGates gates;
  // Otherwise the client's thread reads the clock for the nominatedNodeName patch while the test moves it.
  ASSERT_TRUE(gates.Set("NominatedNodeNameForExpectation", false).ok());
  base::FakeClock clock{base::Time(std::chrono::hours(1000))};
  base::ThreadLoop io;
  testing::YesServer server(io);
  client::ApiClient client(server, io, clock, {.protobuf = false});
  client::EventRecorder events(client, io, clock, {.hostname = "here"});
  metrics::Registry registry;
  metrics::SchedulerMetrics metrics(registry, {});
  framework::Registry all_plugins = plugins::InTreeRegistry();
  const auto make = [](const config::PluginArgs&, framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
    return std::unique_ptr<framework::Plugin>(std::make_unique<Patient>());
  };
  ASSERT_TRUE(all_plugins.Register(kPatient, make, "the test").ok());
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates);
  configuration.profiles[0].plugins.multi_point.enabled.push_back({kPatient, 0});
  OneCycle runner;
  auto loop = SchedulingLoop::Create(configuration, all_plugins, gates, clock, runner, client, events, metrics,
                                     {.kinds = {api::Kind::kNode, api::Kind::kPod}});
  ASSERT_TRUE(loop.ok()) << loop.error().message;

  (*loop)->OnChanges(api::Kind::kNode,
                     {{ObjectChange::Type::kAdded,
                       api::Object(MakeNode("n1").Capacity("cpu", "1").Capacity("pods", "110").Shared())}});
  const auto tell = [&](berth::testing::PodBuilder pod) {
    (*loop)->OnChanges(api::Kind::kPod, {{ObjectChange::Type::kAdded, api::Object(pod.Shared())}});
  };
  tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "1"));
  (*loop)->StartScheduling();
  (*loop)->Turn();
  runner.waits.get_future().wait();
  (*loop)->Turn();
  EXPECT_FALSE(runner.over);

  for (int i = 0; i < 100; ++i) {
    tell(MakePod("crowd-" + std::to_string(i)).SchedulerName("default-scheduler").Request("cpu", "1"));
  }
  clock.Advance(kPatience);
  (*loop)->Turn();
  EXPECT_GT((*loop)->driver().queue().counts().active, 0u) << "the loop has more to do";
  EXPECT_TRUE(runner.over);
  runner.Join();
  (*loop)->Stop();
  (*loop)->Turn();
  EXPECT_TRUE((*loop)->ended());
  io.Stop();
}

}  // namespace
}  // namespace berth::live
