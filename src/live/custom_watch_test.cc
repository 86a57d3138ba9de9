// A resource that a plugin watches, from the reflector's report to the pod that is requeued.
#include "live/custom_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using client::ObjectChange;
using framework::EventResource;
using framework::Status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kName[] = "Holds";

// Nothing is scheduled while an object of the resource exists.
class Holds final : public framework::Plugin,
                    public framework::PreFilterPlugin,
                    public framework::EnqueueExtensions,
                    public framework::SignPlugin {
 public:
  Holds(const framework::Handle& handle, EventResource holds) : handle_(handle), holds_(holds) {}
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs&, framework::Handle& handle) {
    const Result<EventResource> holds = handle.WatchResource({"example.com", "v1", "holds"}, false);
    if (!holds) return holds.error();
    return std::unique_ptr<framework::Plugin>(new Holds(handle, *holds));
  }
  std::string_view name() const override { return kName; }
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo&) const override {
    return handle_.custom_objects().Of(holds_).empty() ? Status::Skip() : Status::Unschedulable("on hold");
  }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override {
    return {{{holds_, framework::ActionType::kDelete}, {}}};
  }
  bool Sign(const framework::PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  const framework::Handle& handle_;
  const EventResource holds_;
};

// The loop takes its turns on the test's own thread.
class CustomWatchTest : public ::testing::Test {
 protected:
  CustomWatchTest() {
    framework::Registry registry = plugins::InTreeRegistry();
    CHECK(registry.Register(kName, Holds::Create, "a test").ok());
    config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates_);
    configuration.profiles[0].plugins.multi_point.enabled.push_back({kName, 0});
    SchedulingLoop::Options options;
    options.kinds = {api::Kind::kNode, api::Kind::kPod};
    auto made =
        SchedulingLoop::Create(configuration, registry, gates_, clock_, *threads_, client_, events_, metrics_, options);
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    loop_ = std::move(*made);
    watch_ = std::make_unique<CustomWatch>(*loop_, *framework::EventResourceOf({"example.com", "v1", "holds"}));
    loop_->StartScheduling();
    loop_->OnChanges(
        api::Kind::kNode,
        {{ObjectChange::Type::kAdded,
          api::Object(
              MakeNode("n1").Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "110").Shared())}});
    loop_->OnChanges(api::Kind::kPod, {{ObjectChange::Type::kAdded,
                                        api::Object(MakePod("web").SchedulerName("default-scheduler").Shared())}});
  }
  ~CustomWatchTest() override {
    loop_->Stop();
    while (!loop_->ended()) loop_->Turn();
    threads_.reset();
    io_.Stop();
  }
  void Tell(ObjectChange::Type type) {
    api::CustomObject hold;
    hold.metadata.name = "h";
    watch_->OnChanges(api::Kind::kCustomObject, {{type, api::MakeObject(std::move(hold))}});
    loop_->Turn();
  }

  config::FeatureGates gates_;
  base::SystemClock clock_;
  base::ThreadLoop io_;
  testing::YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {true, true, true, true, true}};
  std::unique_ptr<BindingThreads> threads_ = std::make_unique<BindingThreads>(4);
  std::unique_ptr<SchedulingLoop> loop_;
  std::unique_ptr<CustomWatch> watch_;
};

TEST_F(CustomWatchTest, NothingIsScheduledBeforeTheResourceHasBeenListed) {
  loop_->Turn();
  EXPECT_FALSE(loop_->synced());
  EXPECT_THAT(server_.lines(), IsEmpty());
  watch_->OnChanges(api::Kind::kCustomObject, {});
  loop_->Turn();
  EXPECT_TRUE(loop_->synced());
  EXPECT_NE(server_.Await({"pods/web/binding"}), "");
}

TEST_F(CustomWatchTest, AResourceThatIsNotServedHasNoObjects) {
  watch_->OnNotServed(api::Kind::kCustomObject);
  loop_->Turn();
  EXPECT_TRUE(loop_->synced());
  EXPECT_NE(server_.Await({"pods/web/binding"}), "");
}

TEST_F(CustomWatchTest, WhatGoesWakesThePodThatWaitedForIt) {
  Tell(ObjectChange::Type::kAdded);
  EXPECT_THAT(server_.Await({"PATCH", "pods/web/status"}), HasSubstr("on hold"));
  Tell(ObjectChange::Type::kDeleted);
  // Its backoff ends after a second, or at once if nothing else waits; then another thread binds it.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (loop_->driver().binding() == 0 && std::chrono::steady_clock::now() < deadline) loop_->Turn();
  EXPECT_NE(server_.Await({"pods/web/binding"}), "");
}

}  // namespace
}  // namespace berth::live
