// Every registered metric of the scheduler is written by a mixed workload: bound and waiting pods, unschedulable pods,
// preemption, a failed binding, a pod held in Permit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "framework/plugin.h"
#include "live/live_api.h"
#include "live/testing/loop_fixture.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using framework::PodInfo;
using framework::Status;

// Holds pods with a label in Permit until their timeout.
class Holder final : public framework::Plugin, public framework::PermitPlugin {
 public:
  static constexpr std::string_view kName = "Holder";
  std::string_view name() const override { return kName; }
  framework::PermitResult Permit(framework::CycleState&, const PodInfo& pod, const std::string&) override {
    if (!pod.pod().metadata.labels.Contains(Symbol("hold"))) return {Status::Success(), {}};
    return {Status(framework::Code::kWait, {"held"}), std::chrono::milliseconds(1)};
  }
};

framework::Registry WithHolder() {
  framework::Registry registry = plugins::InTreeRegistry();
  CHECK(registry
            .Register(
                std::string(Holder::kName),
                [](const config::PluginArgs&, framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
                  return std::unique_ptr<framework::Plugin>(new Holder());
                },
                "this test")
            .ok());
  return registry;
}

class MetricsWrittenTest : public testing::LoopFixture {
 protected:
  std::set<std::string> Unwritten() {
    std::set<std::string> unwritten;
    for (const metrics::FamilyBase* family : registry_.Families()) {
      const std::string& name = family->description().name;
      std::istringstream lines(registry_.Expose());
      bool written = false;
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name)) continue;
        const char next = line[name.size()];
        // A histogram must have a count; a gauge may be zero.
        const bool histogram = line.starts_with(name + "_count");
        const bool zero = line.ends_with(" 0");
        if (histogram && !zero) written = true;
        if (family->type() == metrics::MetricType::kCounter && (next == '{' || next == ' ') && !zero) written = true;
        if (family->type() == metrics::MetricType::kGauge && (next == '{' || next == ' ')) written = true;
      }
      if (!written) unwritten.insert(name);
    }
    return unwritten;
  }
};

TEST_F(MetricsWrittenTest, AMixedWorkloadWritesEveryRegisteredMetric) {
  server_.Answer("pods/unlucky/binding", 409);
  // It is read, because an earlier attempt might have bound it.
  server_.Serve("GET /api/v1/namespaces/default/pods/unlucky ",
                {api::EncodeJson(api::Object(MakePod("unlucky").Shared()))});
  loop_->StartScheduling();
  TellNode("n1", "4");
  TellNode("n2", "1");
  Tell(MakePod("low").Node("n2").Request("cpu", "1").StartTime("2026-01-01T00:00:00Z"));
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "1"));
  EXPECT_NE(server_.Await({"pods/web/binding"}), "");
  Tell(MakePod("unlucky").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({"PATCH", "pods/unlucky/status"}), "");
  Tell(MakePod("big").SchedulerName("default-scheduler").Request("cpu", "100"));
  EXPECT_NE(server_.Await({"PATCH", "pods/big/status"}), "");
  Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "4").Priority(10));
  EXPECT_NE(server_.Await({"DELETE", "pods/"}), "");
  TellNode("n3", "2");  // calls the queueing hints of the unschedulable pods

  // Metrics that this workload cannot produce.
  const std::set<std::string> elsewhere = {
      "scheduler_permit_wait_duration_seconds",                 // MetricsOfPermit below
      "scheduler_pod_scheduled_after_flush_total",              // takes five minutes
      "scheduler_resourceclaim_creates_total",                  // needs extended resources of devices
      "scheduler_dra_bindingconditions_allocations_total",      // MetricsOfDevices below
      "scheduler_dra_bindingconditions_wait_duration_seconds",  // the same
      "scheduler_volume_scheduling_stage_error_total",          // needs a volume whose binding fails
  };
  const std::vector<std::string> series = {
      "scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"NodeResourcesFit\"",
      "scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin=\"NodeResourcesFit\"",
      "scheduler_queueing_hint_execution_duration_seconds_count{event=\"NodeAdd\",hint=\"QueueSkip\",plugin=",
      "scheduler_inflight_events{event=\"PodPopped\"} 0",
      "scheduler_cache_size{type=\"assumed_pods\"}",
      "scheduler_event_handling_duration_seconds_count{event=\"UnschedulablePodAdd\"}",
      "scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result=\"error\"} ",
      "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Filter\",profile=",
      "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Unreserve\",profile=",
  };
  const auto missing = [&] {
    std::set<std::string> names;
    for (const std::string& name : Unwritten()) {
      if (!elsewhere.contains(name)) names.insert(name);
    }
    const std::string text = registry_.Expose();
    for (const std::string& start : series) {
      if (text.find(start) == std::string::npos) names.insert(start);
    }
    return names;
  };
  // Some are updated once a second, and a pod that is just being bound counts as in flight: they appear eventually.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!missing().empty() && std::chrono::steady_clock::now() < give_up) Settle();
  EXPECT_THAT(missing(), ::testing::IsEmpty());
}

TEST_F(MetricsWrittenTest, MetricsOfPermit) {
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates_);
  configuration.profiles.front().plugins.multi_point.enabled.push_back({std::string(Holder::kName), 0});
  const framework::Registry registry = WithHolder();
  loop_->Post([&] { ASSERT_TRUE(loop_->Reconfigure(configuration, registry).ok()); });
  Settle();
  loop_->StartScheduling();
  TellNode("n1", "4");
  Tell(MakePod("held").Label("hold", "yes").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({"PATCH", "pods/held/status", "rejected due to timeout"}), "");
  EXPECT_THAT(registry_.Expose(),
              ::testing::HasSubstr("scheduler_permit_wait_duration_seconds_count{result=\"Unschedulable\"} 1"));
}

TEST_F(MetricsWrittenTest, MetricsOfDevices) {
  Mailbox mailbox;
  LiveApi api(client_, events_, mailbox, *threads_, clock_, metrics_, {});
  api::ResourceClaim claim;
  auto& results = claim.status.allocation.emplace().devices.results;
  results.resize(2);
  results[0].driver = results[1].driver = "gpu.example.com";
  results[0].binding_conditions = {"ready"};
  api.NoteDeviceWait(*MakePod("p").SchedulerName("default-scheduler").Info(), claim, "timeout",
                     std::chrono::seconds(3));
  const std::string text = registry_.Expose();
  const std::string labels = "{driver=\"gpu.example.com\",profile=\"default-scheduler\",status=\"timeout\"";
  EXPECT_THAT(text, ::testing::HasSubstr("scheduler_dra_bindingconditions_allocations_total" + labels + "} 1"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("scheduler_dra_bindingconditions_wait_duration_seconds_count" + labels + "} 2"));
  EXPECT_THAT(text, ::testing::HasSubstr("scheduler_dra_bindingconditions_wait_duration_seconds_sum" + labels + "} 6"));
}

}  // namespace
}  // namespace berth::live
