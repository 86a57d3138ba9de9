// Resources that plugins watch by name: their objects are in the picture, and their events wake pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "scheduler/driver.h"
#include "testing/builders.h"

namespace berth::scheduler {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::ActionType;
using framework::EventResource;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const api::GroupVersionResource kPermits{"example.com", "v1", "permits"};
const api::GroupVersionResource kOthers{"example.com", "v1", "others"};

// A pod needs a Permit of its own name.
class NeedsPermit final : public engine::testing::Named,
                          public framework::PreFilterPlugin,
                          public framework::EnqueueExtensions,
                          public framework::SignPlugin {
 public:
  NeedsPermit(std::string name, framework::Handle& handle, EventResource permits)
      : Named(std::move(name)), handle_(handle), permits_(permits) {}

  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo& pod) const override {
    if (handle_.custom_objects().Of(permits_).Find("default", pod.name()) != nullptr) return Status::Success();
    return Status::UnschedulableAndUnresolvable("no permit");
  }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override {
    const auto is_own = [](const framework::PodInfo& pod, const framework::EventObject&,
                           const framework::EventObject& after) {
      const auto* permit = after.As<api::CustomObject>();
      return permit != nullptr && permit->metadata.name == pod.name() ? framework::QueueingHint::kQueue
                                                                      : framework::QueueingHint::kSkip;
    };
    return {{{permits_, ActionType::kAdd}, is_own}};
  }
  bool Sign(const framework::PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  const framework::Handle& handle_;
  const EventResource permits_;
};

class CustomResourceTest : public ::testing::Test, private DriverObserver {
 protected:
  CustomResourceTest() {
    Register("NeedsPermit", kPermits);
    Register("NeedsOther", kOthers);
    config_.profiles[0].plugins.multi_point.enabled.push_back({"NeedsPermit", 0});
    Driver::Options options;
    options.scheduler.verify_incremental = true;
    auto made = Driver::Create(config_, registry_, world_.gates, world_.clock, world_.api, *this, std::move(options));
    CHECK(made.ok());
    driver_ = std::move(*made);
    driver_->Put(
        api::Object(MakeNode("n1").Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
  }

  void Register(const std::string& name, const api::GroupVersionResource& resource) {
    const Result<void> added = registry_.Register(
        name,
        [name, resource](const config::PluginArgs&,
                         framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
          const Result<EventResource> number = handle.WatchResource(resource, false);
          if (!number) return number.error();
          return std::unique_ptr<framework::Plugin>(std::make_unique<NeedsPermit>(name, handle, *number));
        },
        "a test");
    CHECK(added.ok());
  }
  static std::shared_ptr<const api::CustomObject> Permit(const std::string& name) {
    auto permit = std::make_shared<api::CustomObject>();
    permit->metadata.name = name;
    permit->metadata.namespace_ = Symbol("default");
    return permit;
  }
  void PutPod(const char* name) { driver_->Put(api::Object(MakePod(name).Shared())); }
  // Everything that is ready, with the backoffs over.
  std::vector<std::string> Run() {
    world_.clock.Advance(std::chrono::seconds(20));
    for (int i = 0; i < 100 && driver_->Step(); ++i) {
    }
    return std::exchange(log_, {});
  }
  void OnBound(const Attempt& attempt) override { log_.push_back("bound " + attempt.pod->name()); }
  void OnFailed(const Attempt& attempt, const framework::PodInfo&) override {
    log_.push_back("failed " + attempt.pod->name());
  }

  engine::testing::World world_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  config::KubeSchedulerConfiguration config_ = config::DefaultConfiguration(world_.gates);
  std::unique_ptr<Driver> driver_;
  std::vector<std::string> log_;
};

TEST_F(CustomResourceTest, AnObjectThatComesWakesThePodItIsFor) {
  const EventResource permits = *framework::EventResourceOf(kPermits);
  PutPod("a");
  PutPod("b");
  EXPECT_THAT(Run(), ::testing::UnorderedElementsAre("failed a", "failed b"));
  driver_->PutCustom(permits, Permit("b"));
  EXPECT_THAT(Run(), ElementsAre("bound b"));
  // Known already, then gone: neither is an event that a waits for.
  driver_->PutCustom(permits, Permit("b"));
  driver_->RemoveCustom(permits, Permit("b")->metadata);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_TRUE(driver_->cluster().custom_objects().Of(permits).empty());
  driver_->PutCustom(permits, Permit("a"));
  EXPECT_THAT(Run(), ElementsAre("bound a"));
}

// Alike pods share a lane; a PreFilter without a Filter is asked for each of them all the same.
TEST_F(CustomResourceTest, PodsThatAreAlikeShareNoPermit) {
  const EventResource permits = *framework::EventResourceOf(kPermits);
  driver_->PutCustom(permits, Permit("a"));
  driver_->PutCustom(permits, Permit("c"));
  for (const char* name : {"a", "b", "c"}) PutPod(name);
  EXPECT_THAT(Run(), ::testing::UnorderedElementsAre("bound a", "failed b", "bound c"));
}

TEST_F(CustomResourceTest, WhatNobodyWatchesIsNotKept) {
  driver_->PutCustom(*framework::EventResourceOf(kOthers), Permit("a"));
  EXPECT_TRUE(driver_->cluster().custom_objects().Of(*framework::EventResourceOf(kOthers)).empty());
}

TEST_F(CustomResourceTest, AReloadThatWatchesSomethingElseIsRefusedWithItsName) {
  driver_->PutCustom(*framework::EventResourceOf(kPermits), Permit("a"));
  config::KubeSchedulerConfiguration wanted = config_;
  wanted.profiles[0].plugins.multi_point.enabled.push_back({"NeedsOther", 0});
  const Result<void> changed = driver_->Reconfigure(wanted, registry_);
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().message, HasSubstr("others.v1.example.com"));
  EXPECT_EQ(driver_->cluster().custom_objects().watched().size(), 1u);
  PutPod("a");
  EXPECT_THAT(Run(), ElementsAre("bound a")) << "nothing has changed";
  EXPECT_TRUE(driver_->Reconfigure(config_, registry_).ok());
}

// A profile with ServiceAffinity: pods of a service stay where its first pod is.
TEST(ServiceEvents, AServiceThatLetsGoWakesServiceAffinity) {
  engine::testing::World world;
  config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world.gates);
  config.profiles[0].plugins.multi_point.enabled.push_back({"ServiceAffinity", 0});
  config.profiles[0].plugin_config.push_back(
      {.name = "ServiceAffinity",
       .args = config::ServiceAffinityArgs{.affinity_labels = {"zone"}, .anti_affinity_labels_preference = {}}});
  struct Log final : DriverObserver {
    void OnBound(const Attempt& attempt) override { lines.push_back("bound " + attempt.node_name); }
    void OnFailed(const Attempt&, const framework::PodInfo&) override { lines.emplace_back("failed"); }
    std::vector<std::string> lines;
  } log;
  auto driver = Driver::Create(config, plugins::InTreeRegistry(), world.gates, world.clock, world.api, log, {});
  ASSERT_TRUE(driver.ok()) << driver.error().message;
  const auto run = [&] {
    world.clock.Advance(std::chrono::seconds(20));
    for (int i = 0; i < 100 && (*driver)->Step(); ++i) {
    }
    return std::exchange(log.lines, {});
  };
  const auto node = [](const char* name, const char* zone, const char* cpu) {
    return api::Object(MakeNode(name)
                           .Label("zone", zone)
                           .Capacity("cpu", cpu)
                           .Capacity("memory", "8Gi")
                           .Capacity("pods", "110")
                           .Shared());
  };
  (*driver)->Put(node("full", "a", "1"));
  (*driver)->Put(node("free", "b", "4"));
  auto service = std::make_shared<api::Service>();
  service->metadata.name = "web";
  service->metadata.namespace_ = Symbol("default");
  service->spec.selector.Set(Symbol("app"), Symbol("web"));
  (*driver)->Put(api::Object(std::shared_ptr<const api::Service>(service)));
  (*driver)->Put(api::Object(MakePod("first").Label("app", "web").Request("cpu", "1").Node("full").Shared()));
  (*driver)->Put(api::Object(MakePod("second").Label("app", "web").Request("cpu", "1").Shared()));
  EXPECT_THAT(run(), ElementsAre("failed"));
  EXPECT_THAT(run(), IsEmpty());
  (*driver)->Remove(api::Object(std::shared_ptr<const api::Service>(service)));
  EXPECT_THAT(run(), ElementsAre("bound free"));
}

}  // namespace
}  // namespace berth::scheduler
