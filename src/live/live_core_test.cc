#include "live/live_core.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/testing/fake_loop.h"
#include "client/api_path.h"
#include "client/scheduling_kinds.h"
#include "codec/json.h"
#include "config/load.h"
#include "http/testing/fake_transport.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::PodBuilder;
using http::testing::FakeCallPtr;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

// An API server with one lease, and with objects that do not change. Its version grows with every write of the lease,
// as that of an etcd does. Lists of any kind can be refused while watches go on.
class SmallServer {
 public:
  void Handle(const FakeCallPtr& call) {
    const http::Request& request = call->request();
    const std::string path = request.path.substr(0, request.path.find('?'));
    if (path.find("/leases") != std::string::npos) return HandleLease(call);
    for (const api::Kind kind : client::kSchedulingKinds) {
      if (path == client::CollectionPath(kind)) return HandleKind(call, kind);
    }
    call->Answer(201, R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
  }
  void SendBookmarks() {
    for (const auto& [call, kind] : watches_) {
      if (!silent.contains(kind)) SendBookmark(call, kind);
    }
  }

  std::map<api::Kind, std::string> objects;  // JSON
  std::set<api::Kind> unlistable;
  std::set<api::Kind> silent;  // their watches are accepted, and nothing arrives
  bool other_renews = true;    // another scheduler holds the lease

 private:
  static bool IsWatch(const http::Request& request) { return request.path.find("watch=true") != std::string::npos; }

  void HandleLease(const FakeCallPtr& call) {
    ++version_;
    const http::Request& request = call->request();
    if (request.method == "PUT") {
      Result<codec::Document> document = codec::ParseJson(request.body, "lease");
      const Result<api::DecodedObjects> decoded = api::DecodeObjects(*document, {});
      lease_.spec = decoded->objects.at(0).object.As<api::Lease>()->spec;
    } else if (other_renews) {
      lease_.spec.holder_identity = "another";
      lease_.spec.lease_duration_seconds = 15;
      lease_.spec.lease_transitions = static_cast<int32_t>(version_);  // so that it changes
    }
    lease_.metadata.name = "kube-scheduler";
    lease_.metadata.namespace_ = Symbol("kube-system");
    lease_.metadata.resource_version = std::to_string(version_);
    call->Answer(200, api::EncodeJson(api::MakeObject(lease_)));
  }

  void HandleKind(const FakeCallPtr& call, api::Kind kind) {
    const http::Request& request = call->request();
    const api::KindInfo& info = api::InfoOf(kind);
    if (request.path.find("sendInitialEvents") != std::string::npos) return call->Answer(422, "no streams");
    if (IsWatch(request)) {
      call->Head(200, {{"content-type", "application/json"}});
      watches_.emplace_back(call, kind);
      return;
    }
    if (unlistable.contains(kind)) return call->Answer(403, fmt::format("{} is forbidden", info.resource), {});
    call->Answer(
        200, fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}"}},"items":[{}]}})",
                         info.name, info.api_version(), version_, objects[kind]));
  }

  void SendBookmark(const FakeCallPtr& call, api::Kind kind) const {
    const api::KindInfo& info = api::InfoOf(kind);
    call->Data(
        fmt::format(R"({{"type":"BOOKMARK","object":{{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":)"
                    R"("{}"}}}}}})"
                    "\n",
                    info.name, info.api_version(), version_));
  }

  uint64_t version_ = 100;
  api::Lease lease_;
  std::vector<std::pair<FakeCallPtr, api::Kind>> watches_;
};

// Counts binding cycles; they run at the end, and fail.
class CountingRunner final : public BindingRunner {
 public:
  void Run(Task work, Task report) override { cycles_.emplace_back(std::move(work), std::move(report)); }
  bool WaitFor(Length, const std::function<void(Resume)>&) override { return false; }
  size_t count() const { return cycles_.size(); }
  void Abandon() {
    for (const auto& [work, report] : cycles_) {
      work();
      report();
    }
  }

 private:
  std::vector<std::pair<Task, Task>> cycles_;
};

class LiveCoreTest : public ::testing::Test {
 protected:
  LiveCoreTest() {
    server_.objects[api::Kind::kNode] = Json(
        api::Object(MakeNode("n").Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "110").Shared()));
    server_.objects[api::Kind::kPod] = Json(api::Object(PodBuilder("web").Shared()));
    LiveOptions options;
    options.configuration = config::DefaultConfiguration(options.gates);
    options.hostname = "test";
    options.rest.content_type = client::kJsonType;
    auto made = LiveCore::Create(options, plugins::InTreeRegistry(), metrics_,
                                 {.transport = transport_,
                                  .io = loop_,
                                  .writes = loop_,
                                  .election = loop_,
                                  .runner = runner_,
                                  .clock = clock_,
                                  .monotonic = clock_,
                                  .request_metrics = request_metrics_});
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    core_ = std::move(*made);
    core_->Start();
  }
  ~LiveCoreTest() override {
    core_->Detach();
    runner_.Abandon();
    core_->loop().Stop();
    core_->loop().Turn();
  }

  static std::string Json(const api::Object& object) { return api::EncodeJson(object); }
  bool schedules() const { return runner_.count() > 0; }
  // Bookmarks come every minute, as from an API server.
  void Pass(base::Duration time) {
    for (const base::Duration end = loop_.Now() + time; loop_.Now() < end;) {
      loop_.Advance(1s);
      if (loop_.Now() % 1min == 0s) server_.SendBookmarks();
      loop_.Run();
      core_->loop().Turn();
    }
  }
  void StandBy() {
    Pass(10s);
    ASSERT_TRUE(core_->synced());
    ASSERT_FALSE(core_->is_leader());
    ASSERT_EQ(core_->MissingKinds(), "");
  }
  void TakeOver() {
    server_.other_renews = false;
    for (int i = 0; i < 60 && !core_->is_leader(); ++i) Pass(1s);
    ASSERT_TRUE(core_->is_leader());
  }

  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  SmallServer server_;
  http::testing::FakeTransport transport_{loop_, [this](const FakeCallPtr& call) { server_.Handle(call); }};
  CountingRunner runner_;
  metrics::Registry metrics_;
  const std::string host_ = "server";
  RequestMetrics request_metrics_{metrics_, host_};
  std::unique_ptr<LiveCore> core_;
};

TEST_F(LiveCoreTest, ANewLeaderCatchesUpAndSchedules) {
  StandBy();
  TakeOver();
  Pass(2s);
  EXPECT_EQ(core_->MissingKinds(), "");
  EXPECT_TRUE(schedules());
}

TEST_F(LiveCoreTest, ANewLeaderThatCouldNotListOneKindNeverScheduled) {
  StandBy();
  for (const api::Kind kind : {api::Kind::kCSINode, api::Kind::kPod}) server_.unlistable.insert(kind);
  TakeOver();
  Pass(30s);
  EXPECT_THAT(core_->MissingKinds(), HasSubstr("pods (for "));
  EXPECT_THAT(core_->MissingKinds(), HasSubstr("csinodes is forbidden"));
  EXPECT_FALSE(schedules());
  Pass(90s - 5s);
  EXPECT_FALSE(schedules()) << "a list that fails for less than two minutes may still succeed";
  Pass(5min);
  EXPECT_TRUE(schedules());
  EXPECT_EQ(core_->MissingKinds(), "");
}

TEST_F(LiveCoreTest, NobodyDecidesOnPodsThatAreNotKnownToBeThoseOfTheLastLeader) {
  StandBy();
  server_.unlistable.insert(api::Kind::kPod);
  server_.silent.insert(api::Kind::kPod);
  TakeOver();
  Pass(20min);
  EXPECT_FALSE(schedules()) << "the watch has not come as far as the lease";
  EXPECT_THAT(core_->MissingKinds(), StartsWith("pods (for "));
  server_.silent.clear();
  Pass(5min);
  EXPECT_TRUE(schedules());
}

}  // namespace
}  // namespace berth::live
