// For tests: a shadow with a driver in the default configuration, and a history given in seconds.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "config/load.h"
#include "framework/handle.h"
#include "plugins/registry.h"
#include "scheduler/driver.h"
#include "shadow/shadow.h"
#include "testing/builders.h"

namespace berth::shadow::testing {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::NodeBuilder;
using berth::testing::PodBuilder;

// Nothing may be written.
class NoWrites final : public framework::SimpleApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return Fail(); }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return Fail(); }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return Fail(); }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return Fail(); }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return Fail();
  }

 private:
  static framework::Status Fail() {
    ADD_FAILURE() << "a shadow writes";
    return framework::Status::Error("a shadow writes");
  }
};

class ShadowFixture : public ::testing::Test {
 protected:
  ShadowFixture() { driver_ = MakeDriver(); }

  std::unique_ptr<scheduler::Driver> MakeDriver() {
    auto made =
        scheduler::Driver::Create(config::DefaultConfiguration(gates_), registry_, gates_, clock_, api_, observer_, {});
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    return *std::move(made);
  }
  void Make(Shadow::Options options = {}) {
    options.on_compared = [this](const Comparison& comparison) { compared_.push_back(comparison); };
    shadow_ = std::make_unique<Shadow>(*driver_, std::move(options));
  }
  Shadow& shadow() {
    if (!shadow_) Make();
    return *shadow_;
  }
  static base::Time At(double seconds) {
    return base::Time(std::chrono::hours(24 * 365)) +
           std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds));
  }
  void Put(double seconds, const api::Object& object) { shadow().Add({At(seconds), false, Versioned(object)}); }
  void Put(double seconds, const PodBuilder& pod) { Put(seconds, api::Object(Ours(pod).Shared())); }
  void Put(double seconds, const NodeBuilder& node) { Put(seconds, api::Object(node.Shared())); }
  void Delete(double seconds, const PodBuilder& pod) {
    shadow().Add({At(seconds), true, Versioned(api::Object(Ours(pod).Shared()))});
  }
  // Seen as pending at `created`, and on its node at `bound`.
  void Bind(double created, double bound, PodBuilder pod, const std::string& node) {
    Put(created, pod);
    Put(bound, pod.Node(node));
  }
  static PodBuilder GivenUp(PodBuilder pod, const std::string& message) {
    pod.Condition("PodScheduled", "False", "Unschedulable");
    pod.raw().status.conditions.back().message = message;
    return pod;
  }
  static NodeBuilder Node(const std::string& name, const std::string& cpu = "4") {
    return MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "16Gi");
  }
  static PodBuilder Pod(const std::string& name, const std::string& cpu = "1") {
    return MakePod(name).Request("cpu", cpu).Request("memory", "1Gi");
  }
  // The comparisons, after all changes have been processed in the order of time.
  const std::vector<Comparison>& Run() {
    shadow().Finish();
    return compared_;
  }
  const Comparison& Only() {
    Run();
    CHECK_WHY(compared_.size() == 1, "one comparison was expected");
    return compared_.front();
  }

  config::FeatureGates gates_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  base::FakeClock clock_{At(0)};
  NoWrites api_;
  scheduler::DriverObserver observer_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::unique_ptr<Shadow> shadow_;
  std::vector<Comparison> compared_;

 private:
  static PodBuilder Ours(PodBuilder pod) {
    if (pod.raw().spec.scheduler_name.empty()) pod.SchedulerName("default-scheduler");
    return pod;
  }
  api::Object Versioned(const api::Object& object) {
    if (const api::Pod* pod = object.As<api::Pod>()) {
      api::Pod copy = *pod;
      copy.metadata.resource_version = std::to_string(++version_);
      return api::MakeObject(std::move(copy));
    }
    return object;
  }

  uint64_t version_ = 100;
};

}  // namespace berth::shadow::testing
