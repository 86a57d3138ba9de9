// DriverTest: a driver for tests, with one plain profile and one whose pods wait in Permit.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/load.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "plugins/registry.h"
#include "scheduler/driver.h"
#include "testing/builders.h"

namespace berth::scheduler::testing {

// A driver whose binding cycles end when the test says so.
class DriverTest : public ::testing::Test, private DriverObserver {
 protected:
  enum class Profiles { kPlain, kWithSlow };

  explicit DriverTest(Profiles profiles = Profiles::kPlain) {
    framework::Registry registry = plugins::InTreeRegistry();
    engine::testing::Add<engine::testing::Permitter>(
        registry, "Gang", framework::PermitResult{framework::Status::Wait(), std::chrono::seconds(10)}, &permitted_);
    config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
    config.profiles.push_back(config.profiles[0]);
    config.profiles[1].scheduler_name = "gang";
    config.profiles[1].plugins.multi_point.enabled.push_back({"Gang", 0});
    engine::testing::Add<engine::testing::PreBinder>(registry, "Slow", &pre_binds_, framework::Status::Success());
    if (profiles == Profiles::kWithSlow) {
      config.profiles.push_back(config.profiles[0]);
      config.profiles[2].scheduler_name = "slow";
      config.profiles[2].plugins.multi_point.enabled.push_back({"Slow", 0});
    }
    Driver::Options options;
    options.scheduler.announces_nodes = true;
    options.scheduler.verify_incremental = true;
    options.scheduler.take_binding = [this](std::unique_ptr<BindingCycle> cycle) {
      binding_.push_back(std::move(cycle));
    };
    options.on_posted = [this] { ++posted_; };
    auto made = Driver::Create(config, registry, world_.gates, world_.clock, world_.api, *this, std::move(options));
    CHECK(made.ok());
    driver_ = std::move(*made);
  }

  void Put(berth::testing::PodBuilder pod) {
    pod.raw().metadata.resource_version = std::to_string(++version_);
    driver_->Put(api::Object(pod.Shared()));
  }
  void Remove(berth::testing::PodBuilder pod) { driver_->Remove(api::Object(pod.Shared())); }
  void PutNode(const std::string& name, const std::string& cpu) {
    driver_->Put(api::Object(berth::testing::MakeNode(name)
                                 .Capacity("cpu", cpu)
                                 .Capacity("memory", "8Gi")
                                 .Capacity("pods", "110")
                                 .Shared()));
  }
  void StepAll() {
    for (int i = 0; i < 100 && driver_->Step(); ++i) {
    }
  }
  // The binding cycle that was handed out as number `index` ends.
  void Finish(size_t index, framework::Status answer = {}) {
    world_.api.bind_answer = std::move(answer);
    binding_[index]->Run();
    driver_->Finish(std::move(binding_[index]));
  }
  bool IsPending(const std::string& uid) const { return driver_->queue().Find(uid) != nullptr; }
  const cluster::Cluster& cluster() const { return static_cast<const Driver&>(*driver_).cluster(); }

  void OnBound(const Attempt& attempt) override { log_.push_back("bound " + attempt.pod->name()); }
  void OnFailed(const Attempt& attempt, const framework::PodInfo& newest) override {
    log_.push_back("failed " + attempt.pod->name());
    newest_ = newest.shared_pod();
  }
  void OnStale(const Attempt& attempt) override { log_.push_back("stale " + attempt.pod->name()); }
  void OnSkipped(const framework::PodInfo& pod) override { log_.push_back("skipped " + pod.name()); }

  engine::testing::World world_;
  std::vector<std::string> pre_binds_;
  base::Ticket permitted_ = base::Ticket::kNone;  // the attempt that Gang was asked about last
  std::unique_ptr<Driver> driver_;
  std::vector<std::unique_ptr<BindingCycle>> binding_;  // they go before the picture in which they hold room
  std::vector<std::string> log_;
  std::shared_ptr<const api::Pod> newest_;
  int version_ = 0;
  std::atomic<int> posted_ = 0;
};

}  // namespace berth::scheduler::testing
