// The same code on real threads: for the thread sanitizer, and to show that nothing deadlocks with itself.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <set>

#include "base/loop.h"
#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/leader_election.h"
#include "client/reflector.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using namespace std::chrono_literals;

// The server and the transport run on their own thread, as real ones do.
class ThreadedTransport final : public http::Transport {
 public:
  explicit ThreadedTransport(http::testing::FakeTransport::Server server) : fake_(loop_, std::move(server)) {}

  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    http::CallId id = 0;
    loop_.RunNow([&] { id = fake_.Start(std::move(request), std::move(handler)); });
    return id;
  }
  void Cancel(http::CallId call) override {
    loop_.Post([this, call] { fake_.Cancel(call); });
  }
  // Remaining work is done while its targets still exist.
  ~ThreadedTransport() override { loop_.Stop(); }
  base::ThreadLoop& loop() { return loop_; }

 private:
  base::ThreadLoop loop_;
  http::testing::FakeTransport fake_;
};

class CountingSink final : public ChangeSink {
 public:
  void OnListing(api::Kind kind, std::vector<ObjectChange> changes) override { OnChanges(kind, std::move(changes)); }
  void OnChanges(api::Kind, std::vector<ObjectChange> changes) override {
    std::lock_guard lock(mutex_);
    for (const ObjectChange& change : changes) {
      const std::string& name = change.object.metadata().name;
      change.type == ObjectChange::Type::kDeleted ? (void)names_.erase(name) : (void)names_.insert(name);
      if (name == awaited_) arrived_.set_value();
    }
  }
  void OnNotServed(api::Kind) override {}
  std::future<void> Await(std::string name) {
    std::lock_guard lock(mutex_);
    awaited_ = std::move(name);
    arrived_ = {};
    return arrived_.get_future();
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return names_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
  std::string awaited_;
  std::promise<void> arrived_;
};

TEST(Threads, ReflectorOnItsOwnThread) {
  testing::FakeNodeServer server;
  for (int i = 0; i < 100; ++i) server.Put("n" + std::to_string(i));
  base::ThreadLoop loop;
  ThreadedTransport transport([&](const http::testing::FakeCallPtr& call) { server.Handle(call); });
  base::SystemClock clock;
  ApiClient client(transport, loop, clock, {});
  CountingSink sink;
  std::future<void> last = sink.Await("n99");
  Reflector reflector(client, loop, sink, {.kind = api::Kind::kNode});
  reflector.Start();
  last.get();
  std::future<void> added = sink.Await("last");
  for (int i = 0; i < 50; ++i) {
    transport.loop().Post([&, i] {
      server.Delete("n" + std::to_string(i));
      if (i == 49) server.Put("last");
      server.Flush();
    });
  }
  added.get();
  EXPECT_EQ(sink.size(), 51u);
  EXPECT_FALSE(reflector.resource_version().empty());
  std::promise<void> caught_up;
  reflector.CatchUp([&] { caught_up.set_value(); });
  caught_up.get_future().get();
  reflector.Stop();
}

TEST(Threads, WritesFromManyThreads) {
  std::atomic<int> answered = 0;
  base::ThreadLoop loop;
  ThreadedTransport transport([&](const http::testing::FakeCallPtr& call) {
    ++answered;
    call->Answer(201, "{}");
  });
  base::SystemClock clock;
  ApiClient client(transport, loop, clock, {.protobuf = false});
  EventRecorder recorder(client, loop, clock, {.hostname = "h"});
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        api::Pod pod;
        pod.metadata.name = "p-" + std::to_string(t) + "-" + std::to_string(i);
        pod.metadata.namespace_ = Symbol("default");
        EXPECT_TRUE(client.CanAccept(WriteClass::kStatus));
        client.PatchPodStatus(pod, {.nominated_node_name = "n"}, [](const Result<void>&) {});
        EXPECT_TRUE(
            Await<void>([&](auto done) { client.PatchPodStatus(pod, {.nominated_node_name = "m"}, done); }).ok());
        EXPECT_TRUE(Await<void>([&](auto done) { client.Bind(pod, "n", done); }).ok());
        recorder.Record({.reporting_controller = "s",
                         .regarding = ReferenceTo(api::Kind::kPod, pod.metadata),
                         .type = "Normal",
                         .reason = "Scheduled",
                         .action = "Binding",
                         .note = "bound"});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  while (recorder.waiting() > 0) std::this_thread::yield();
  EXPECT_GE(answered, 600) << "an event, a bind and one patch of two at least";
  EXPECT_LE(answered, 800);
}

TEST(Threads, TheWindowIsAskedWhileTheElectorGoes) {
  std::atomic<int> answered = 0;
  base::ThreadLoop loop, election_loop;
  ThreadedTransport transport([&](const http::testing::FakeCallPtr& call) {
    if (call->request().path.find("/binding") != std::string::npos) ++answered;
    if (call->request().method == "GET") return call->Answer(404, testing::StatusJson(404, "NotFound", "no lease"));
    call->Answer(
        201, R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","resourceVersion":"1"}})");
  });
  base::SystemClock clock;
  ApiClient election_client(transport, election_loop, clock, {.protobuf = false});
  const auto window = std::make_shared<WriteWindow>();
  ApiClient client(transport, loop, clock, {.protobuf = false, .window = window});
  std::promise<void> started;
  LeaderElectionOptions options{.identity = "me", .name_space = "n", .name = "l", .window = window};
  options.started_leading = [&] { started.set_value(); };
  auto elector = std::make_unique<LeaderElector>(election_client, election_loop, clock, options);
  elector->Start();
  started.get_future().get();
  std::promise<void> first;
  std::thread writer([&] {
    api::Pod pod;
    pod.metadata.name = "p";
    pod.metadata.namespace_ = Symbol("default");
    const auto bind = [&] { return Await<void>([&](auto done) { client.Bind(pod, "n", done); }); };
    EXPECT_TRUE(bind().ok());
    first.set_value();
    // Succeeds until the window is closed, and never after.
    while (bind().ok()) continue;
    const int before = answered;
    EXPECT_EQ(bind().error().code, ErrorCode::kConflict);
    EXPECT_EQ(answered, before);
  });
  first.get_future().get();
  elector.reset();
  writer.join();
}

TEST(Threads, LoopRunsTasksInOrderAndTimersInTime) {
  base::ThreadLoop loop;
  std::vector<int> order;
  std::promise<void> done;
  const base::TimerId cancelled = loop.RunAfter(1ms, [&] { order.push_back(-1); });
  loop.Cancel(cancelled);
  loop.RunAfter(20ms, [&] {
    order.push_back(3);
    done.set_value();
  });
  loop.RunAfter(10ms, [&] { order.push_back(2); });
  loop.Post([&] { order.push_back(0); });
  loop.RunNow([&] {
    order.push_back(1);
    loop.RunNow([] {});  // from its own thread
  });
  done.get_future().get();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  loop.Stop();
  loop.RunNow([&] { order.push_back(4); });
  loop.Post([&] { order.push_back(5); });
  EXPECT_EQ(order.back(), 4);
}

TEST(Threads, ALoopWasDestroyedWhileTheThreadThatHadPostedStillWokeIt) {
  for (int i = 0; i < 200; ++i) {
    auto loop = std::make_unique<base::ThreadLoop>();
    std::promise<void> ran;
    std::thread poster([&loop = *loop, &ran] { loop.Post([&ran] { ran.set_value(); }); });
    ran.get_future().get();
    loop.reset();
    poster.join();
  }
}

TEST(Threads, ElectorLeadsAndReleases) {
  std::optional<api::Lease> lease;
  base::ThreadLoop loop;
  ThreadedTransport transport([&](const http::testing::FakeCallPtr& call) {
    const http::Request& request = call->request();
    if (request.method == "GET" && !lease) return call->Answer(404, testing::StatusJson(404, "NotFound", "no lease"));
    if (request.method != "GET") {
      lease.emplace();
      lease->metadata.name = "l";
      lease->metadata.resource_version = "1";
      lease->spec.holder_identity = request.body.find("\"me\"") != std::string::npos ? "me" : "";
    }
    call->Answer(200, api::EncodeJson(api::MakeObject(*lease)));
  });
  base::SystemClock clock;
  ApiClient client(transport, loop, clock, {.protobuf = false});
  std::promise<void> started;
  LeaderElectionOptions options{.identity = "me", .name_space = "n", .name = "l"};
  options.started_leading = [&] { started.set_value(); };
  LeaderElector elector(client, loop, clock, options);
  elector.Start();
  started.get_future().get();
  EXPECT_TRUE(elector.is_leader());
  EXPECT_GT(elector.window()->TimeLeft(loop.Now()), 5s);
  std::promise<void> released;
  elector.Stop([&] { released.set_value(); });
  released.get_future().get();
  EXPECT_FALSE(elector.is_leader());
  transport.loop().RunNow([&] { EXPECT_EQ(lease->spec.holder_identity, ""); });
}

}  // namespace
}  // namespace berth::client
