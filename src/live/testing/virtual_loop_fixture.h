// For tests: a scheduling loop in virtual time, which takes its turns on the test's own thread, with an API server that
// accepts every request unless told otherwise.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/fake_loop.h"
#include "live/testing/loop_fixture.h"

namespace berth::live::testing {

// The cluster has one node of 4 CPUs. Scheduling starts with StartScheduling.
class VirtualLoopFixture : public ::testing::Test {
 protected:
  VirtualLoopFixture() {
    auto made =
        SchedulingLoop::Create(config::DefaultConfiguration(gates_), plugins::InTreeRegistry(), gates_, clock_,
                               threads_, client_, events_, metrics_, {.kinds = {api::Kind::kNode, api::Kind::kPod}});
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    loop_ = std::move(*made);
    Tell(api::Kind::kNode,
         api::Object(MakeNode("n1").Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
  }
  ~VirtualLoopFixture() override {
    loop_->Stop();
    loop_->Turn();
  }

  void Tell(api::Kind kind, const api::Object& object,
            client::ObjectChange::Type type = client::ObjectChange::Type::kAdded) {
    loop_->OnChanges(kind, {{type, object}});
  }
  void TellPod(const PodBuilder& pod, client::ObjectChange::Type type = client::ObjectChange::Type::kAdded) {
    Tell(api::Kind::kPod, api::Object(PodBuilder(pod).Shared()), type);
  }
  void Pass(base::Duration time) {
    constexpr std::chrono::milliseconds kTick(50);
    for (base::Duration passed{}; passed < time; passed += kTick) {
      loop_->Turn();
      io_.Advance(kTick);
    }
  }
  // Requests so far that begin with `method` and contain `part`.
  size_t Count(std::string_view method, std::string_view part) {
    const std::vector<std::string> lines = server_.lines();
    return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(method) && line.find(part) != std::string::npos;
    }));
  }

  config::FeatureGates gates_;
  base::FakeClock clock_{base::Time(std::chrono::hours(1000))};
  base::testing::FakeLoop io_{&clock_};
  YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {}};
  BindingThreads threads_{1};
  std::unique_ptr<SchedulingLoop> loop_;
};

}  // namespace berth::live::testing
