#include "live/scheduling_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "config/load.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using client::ObjectChange;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// An API server that says yes, unless told otherwise, and remembers "METHOD PATH BODY".
class YesServer final : public client::Transport {
 public:
  explicit YesServer(client::Loop& loop) : loop_(loop) {}

  client::CallId Start(client::Request request, client::ResponseHandler handler) override {
    std::string line = request.method + " " + request.path + " " + request.body;
    int status = 201;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [part, answer] : answers_) {
        if (line.find(part) != std::string::npos) status = answer;
      }
      lines_.push_back(std::move(line));
    }
    seen_.notify_all();
    loop_.Post([status, handler = std::move(handler)] {
      client::ResponseHead head{.status = status, .headers = {{"content-type", "application/json"}}};
      handler.on_head(head);
      handler.on_data(status < 300 ? R"({"kind":"Status","apiVersion":"v1","status":"Success"})"
                                   : R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"})");
      handler.on_done({});
    });
    return ++calls_;
  }
  void Cancel(client::CallId) override {}

  void Answer(const std::string& part, int status) {
    const std::lock_guard lock(mutex_);
    answers_[part] = status;
  }
  // Waits until some request has all of these in it; empty when none comes.
  std::string Await(const std::vector<std::string>& parts) {
    std::unique_lock lock(mutex_);
    std::string found;
    seen_.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const std::string& line : lines_) {
        const bool all = std::all_of(parts.begin(), parts.end(),
                                     [&](const std::string& part) { return line.find(part) != std::string::npos; });
        if (all) found = line;
      }
      return !found.empty();
    });
    return found;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  client::Loop& loop_;
  std::mutex mutex_;
  std::condition_variable seen_;
  std::vector<std::string> lines_;      // guarded by mutex_
  std::map<std::string, int> answers_;  // guarded by mutex_
  std::atomic<client::CallId> calls_ = 0;
};

class SchedulingLoopTest : public ::testing::Test {
 protected:
  SchedulingLoopTest() {
    SchedulingLoop::Options options;
    options.verify_incremental = true;
    options.kinds = {api::Kind::kNode, api::Kind::kPod};
    config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates_);
    auto made = SchedulingLoop::Create(configuration, plugins::InTreeRegistry(), gates_, clock_, client_, events_,
                                       metrics_, options);
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    loop_ = std::move(*made);
    thread_ = std::thread([this] { loop_->Run(); });
  }
  ~SchedulingLoopTest() override {
    loop_->Stop();
    thread_.join();
  }

  void Tell(const PodBuilder& pod, ObjectChange::Type type = ObjectChange::Type::kAdded) {
    loop_->OnChanges(api::Kind::kPod, {{type, api::Object(PodBuilder(pod).Shared())}});
  }
  void TellNode(const std::string& name, const std::string& cpu) {
    loop_->OnChanges(
        api::Kind::kNode,
        {{ObjectChange::Type::kAdded,
          api::Object(
              MakeNode(name).Capacity("cpu", cpu).Capacity("memory", "8Gi").Capacity("pods", "110").Shared())}});
  }
  // Waits for what was told so far to be read.
  void Settle() {
    std::promise<void> read;
    loop_->Post([&] { read.set_value(); });
    read.get_future().wait();
  }

  config::FeatureGates gates_;
  base::SystemClock clock_;
  client::ThreadLoop io_;
  YesServer server_{io_};
  client::ApiClient client_{server_, io_, clock_, {.protobuf = false}};
  client::EventRecorder events_{client_, io_, clock_, {.hostname = "here"}};
  metrics::Registry registry_;
  metrics::SchedulerMetrics metrics_{registry_, {}};
  std::unique_ptr<SchedulingLoop> loop_;
  std::thread thread_;
};

TEST_F(SchedulingLoopTest, SchedulesOnceEverythingIsListedAndItIsItsTurn) {
  TellNode("n1", "4");
  Tell(MakePod("web").SchedulerName("default-scheduler"));
  Settle();
  EXPECT_TRUE(loop_->synced());
  EXPECT_THAT(server_.lines(), ::testing::IsEmpty()) << "it is not its turn";
  loop_->StartScheduling();
  EXPECT_THAT(server_.Await({"POST /api/v1/namespaces/default/pods/web/binding"}), HasSubstr("\"name\":\"n1\""));
  EXPECT_THAT(server_.Await({"/events", "Successfully assigned default/web to n1"}),
              AllOf(HasSubstr("\"reason\":\"Scheduled\""), HasSubstr("\"action\":\"Binding\"")));
}

TEST_F(SchedulingLoopTest, AKindThatIsNotServedHoldsUpNobody) {
  loop_->StartScheduling();
  TellNode("n1", "4");
  Settle();
  EXPECT_FALSE(loop_->synced());
  loop_->OnNotServed(api::Kind::kPod);
  Settle();
  EXPECT_TRUE(loop_->synced());
}

TEST_F(SchedulingLoopTest, TellsWhyAPodIsPendingAndBindsItWhenRoomComes) {
  loop_->StartScheduling();
  TellNode("small", "1");
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "2"));
  const std::string patch = server_.Await({"PATCH /api/v1/namespaces/default/pods/web/status"});
  EXPECT_THAT(patch, AllOf(HasSubstr("\"type\":\"PodScheduled\""), HasSubstr("\"reason\":\"Unschedulable\""),
                           HasSubstr("0/1 nodes are available: 1 Insufficient cpu.")));
  EXPECT_THAT(server_.Await({"/events", "FailedScheduling"}), HasSubstr("\"type\":\"Warning\""));
  TellNode("large", "4");
  EXPECT_THAT(server_.Await({"pods/web/binding"}), HasSubstr("\"name\":\"large\""));
}

TEST_F(SchedulingLoopTest, ABindingThatFailsIsReportedAndTriedAgain) {
  server_.Answer("pods/web/binding", 409);
  loop_->StartScheduling();
  TellNode("n1", "4");
  Tell(MakePod("web").SchedulerName("default-scheduler").Request("cpu", "4"));
  EXPECT_THAT(server_.Await({"PATCH", "pods/web/status"}), HasSubstr("\"reason\":\"SchedulerError\""));
  server_.Answer("pods/web/binding", 201);
  EXPECT_NE(server_.Await({"Successfully assigned default/web to n1"}), "") << "its room was given back";
}

TEST_F(SchedulingLoopTest, PreemptionMarksAndDeletesItsVictims) {
  TellNode("n1", "1");
  Tell(MakePod("low").Node("n1").Request("cpu", "1").StartTime("2026-01-01T00:00:00Z"));
  Tell(MakePod("vip").SchedulerName("default-scheduler").Request("cpu", "1").Priority(10));
  loop_->StartScheduling();
  EXPECT_THAT(server_.Await({"PATCH /api/v1/namespaces/default/pods/low/status"}),
              AllOf(HasSubstr("DisruptionTarget"), HasSubstr("PreemptionByScheduler"),
                    HasSubstr("default-scheduler: preempting to accommodate a higher priority pod")));
  EXPECT_THAT(server_.Await({"DELETE /api/v1/namespaces/default/pods/low"}), HasSubstr("default/low"));
  EXPECT_THAT(server_.Await({"PATCH /api/v1/namespaces/default/pods/vip/status"}),
              AllOf(HasSubstr("\"nominatedNodeName\":\"n1\""), HasSubstr("Unschedulable")))
      << "one patch says both";
  EXPECT_NE(server_.Await({"/events", "Preempted by pod default/vip on node n1"}), "");
  Tell(MakePod("low").Node("n1"), ObjectChange::Type::kDeleted);
  EXPECT_NE(server_.Await({"pods/vip/binding"}), "");
}

TEST_F(SchedulingLoopTest, APodIsBoundOnceHoweverOftenItIsHeardOf) {
  loop_->StartScheduling();
  TellNode("n1", "8");
  for (int i = 0; i < 3; ++i) Tell(MakePod("web").SchedulerName("default-scheduler").Label("n", std::to_string(i)));
  EXPECT_NE(server_.Await({"Successfully assigned default/web"}), "");
  Tell(MakePod("web").SchedulerName("default-scheduler").Label("n", "4"), ObjectChange::Type::kModified);
  Tell(MakePod("last").SchedulerName("default-scheduler"));
  EXPECT_NE(server_.Await({"Successfully assigned default/last"}), "");
  int bindings = 0;
  for (const std::string& line : server_.lines()) bindings += line.find("pods/web/binding") != std::string::npos;
  EXPECT_EQ(bindings, 1);
}

}  // namespace
}  // namespace berth::live
