// The model API server compared with what Kubernetes documents: storms prove no more than this model is worth.
#include "storm/api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/coordination.h"
#include "client/scheduling_kinds.h"
#include "client/watch_stream.h"
#include "client/write_bodies.h"
#include "storm/process.h"
#include "testing/builders.h"

namespace berth::storm {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// One exchange as its client sees it.
struct Seen {
  int status = 0;
  std::string body{};
  bool ended = false;
};

class ApiServerTest : public ::testing::Test {
 protected:
  ApiServerTest() { Make({}); }

  void Make(ServerOptions options) {
    former_.push_back(std::move(server_));  // still hears of changes
    server_ = std::make_unique<ApiServer>(timeline_, store_, faults_, trace_, options, 1);
    network_.set_server([this](const ExchangePtr& exchange) { server_->Serve(exchange); });
  }

  std::shared_ptr<Seen> Start(http::Request request) {
    const auto seen = std::make_shared<Seen>();
    last_call_ = transport_.Start(std::move(request),
                                  {.on_head = [seen](const http::ResponseHead& head) { seen->status = head.status; },
                                   .on_data = [seen](std::string_view bytes) { seen->body += bytes; },
                                   .on_done = [seen](const Result<void>&) { seen->ended = true; }});
    Run();
    return seen;
  }
  std::shared_ptr<Seen> Get(const std::string& path) { return Start({.path = path}); }
  std::shared_ptr<Seen> Send(const std::string& method, const std::string& path, const std::string& body) {
    return Start({.method = method,
                  .path = path,
                  .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
                  .body = body});
  }
  void Run(base::Duration how_long = 100ms) { timeline_.RunUntil(timeline_.Now() + how_long); }

  // "ADDED web@103", "BOOKMARK @104 end", "ERROR 410".
  static std::vector<std::string> Events(Seen& seen, bool protobuf = false) {
    client::WatchStream stream(protobuf);
    stream.Append(std::exchange(seen.body, {}));
    std::vector<std::string> events;
    while (true) {
      const auto next = stream.Next();
      EXPECT_TRUE(next.ok()) << next.error().message;
      if (!next || !*next) return events;
      constexpr std::string_view kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
      const client::WatchEvent& event = **next;
      std::string text(kTypes[static_cast<size_t>(event.type)]);
      if (event.status) {
        text += fmt::format(" {}", event.status->code);
      } else {
        text += fmt::format(" {}@{}", event.object ? event.object->metadata().name : "", event.resource_version);
      }
      events.push_back(text + (event.initial_events_end ? " end" : ""));
    }
  }

  void AddPod(const std::string& name) {
    api::Pod pod = MakePod(name).Obj();
    pod.status.phase = "Pending";
    store_.Put(std::move(pod));
  }
  void SetPhase(const std::string& name, const std::string& phase) {
    api::Pod pod = *store_.Find<api::Pod>("default/" + name);
    pod.status.phase = phase;
    store_.Put(std::move(pod));
  }

  Timeline timeline_;
  Trace trace_{timeline_, Trace::Keep::kNothing};
  Faults faults_{{}, 1};
  Store store_{timeline_};
  Network network_{timeline_, faults_, trace_, 1};
  Process process_{timeline_, "p", 1};
  ProcessTransport transport_{network_, process_};
  std::vector<std::unique_ptr<ApiServer>> former_;
  std::unique_ptr<ApiServer> server_;
  http::CallId last_call_ = 0;
};

constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kWatchLivePods =
    "/api/v1/"
    "pods?watch=true&allowWatchBookmarks=true&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

TEST_F(ApiServerTest, AListSaysWhichRevisionItIs) {
  AddPod("web");
  const auto seen = Get(kPods);
  EXPECT_EQ(seen->status, 200);
  EXPECT_TRUE(seen->ended);
  EXPECT_THAT(seen->body, HasSubstr("\"resourceVersion\":\"101\""));
  EXPECT_THAT(seen->body, HasSubstr("\"name\":\"web\""));
}

TEST_F(ApiServerTest, AWatchGoesOnFromItsRevision) {
  AddPod("a");
  AddPod("b");
  const auto seen = Get("/api/v1/pods?watch=true&resourceVersion=101");
  EXPECT_THAT(Events(*seen), ElementsAre("ADDED b@102"));
  store_.Delete<api::Pod>("default/a");
  Run();
  EXPECT_THAT(Events(*seen), ElementsAre("DELETED a@103"));
  EXPECT_FALSE(seen->ended);
}

TEST_F(ApiServerTest, APodThatLeavesTheSelectorIsDeletedAndOneThatEntersIsAdded) {
  AddPod("a");
  const auto seen = Get(std::string(kWatchLivePods) + "&resourceVersion=101");
  SetPhase("a", "Failed");
  Run();
  EXPECT_THAT(Events(*seen), ElementsAre("DELETED a@102"));
  SetPhase("a", "Failed");
  Run();
  EXPECT_THAT(Events(*seen), IsEmpty());
  SetPhase("a", "Pending");
  SetPhase("a", "Running");
  Run();
  EXPECT_THAT(Events(*seen), ElementsAre("ADDED a@104", "MODIFIED a@105"));
  SetPhase("a", "Succeeded");
  store_.Delete<api::Pod>("default/a");
  Run();
  EXPECT_THAT(Events(*seen), ElementsAre("DELETED a@106"));
}

TEST_F(ApiServerTest, AStreamingListEndsWithABookmarkAndGoesOnAsAWatch) {
  AddPod("a");
  AddPod("b");
  SetPhase("b", "Failed");
  const auto seen = Get(std::string(kWatchLivePods) + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(Events(*seen), ElementsAre("ADDED a@101", "BOOKMARK @103 end"));
  AddPod("c");
  Run();
  EXPECT_THAT(Events(*seen), ElementsAre("ADDED c@104"));
}

TEST_F(ApiServerTest, FramesAreProtobufForWhoAsksForIt) {
  store_.Put(MakeNode("n").Obj());
  const auto seen = Start({.path = "/api/v1/nodes?watch=true&sendInitialEvents=true",
                           .headers = {{"Accept", "application/vnd.kubernetes.protobuf, application/json"}}});
  EXPECT_THAT(Events(*seen, true), ElementsAre("ADDED n@101", "BOOKMARK @101 end"));
}

TEST_F(ApiServerTest, BookmarksTellOfRevisionsThatWereOfOtherKinds) {
  const auto seen = Get(std::string(kWatchLivePods) + "&resourceVersion=100");
  store_.Put(MakeNode("n").Obj());
  Run(61s);
  EXPECT_THAT(Events(*seen), ElementsAre("BOOKMARK @101"));
}

// The client lists again then, and ignores the rest of the watch.
TEST_F(ApiServerTest, NothingCountsAsDeliveredAfterAnEventThatBringsAnObjectBack) {
  Faults::Rates rates{};
  rates[static_cast<size_t>(Fault::kDuplicateEvent)] = 10'000;
  Faults faults(rates, 1);
  ApiServer server(timeline_, store_, faults, trace_, {}, 1);
  network_.set_server([&](const ExchangePtr& exchange) { server.Serve(exchange); });
  uint64_t delivered = 0;
  transport_.set_on_delivery([&](const Delivery& delivery) { delivered = delivery.revision; });
  const auto seen = Get("/api/v1/pods?watch=true&resourceVersion=100");
  uint64_t last = 0;  // before which an object came back
  for (int i = 0; i < 20; ++i) {
    AddPod("a");
    Run();
    EXPECT_EQ(delivered, last > 0 ? last : store_.revision());
    Events(*seen);
    store_.Delete<api::Pod>("default/a");
    Run();
    EXPECT_EQ(delivered, last > 0 ? last : store_.revision());
    for (const std::string& event : Events(*seen)) {
      if (last == 0 && event.starts_with("ADDED")) last = delivered;
    }
  }
  EXPECT_GT(last, 0U);
}

TEST_F(ApiServerTest, AWatchFromBeforeTheCompactionIsExpired) {
  AddPod("a");
  AddPod("b");
  server_->Compact();
  bool as_status = false, as_event = false;
  for (int i = 0; i < 20; ++i) {
    const auto seen = Get("/api/v1/pods?watch=true&resourceVersion=101");
    EXPECT_TRUE(seen->ended);
    as_status |= seen->status == 410;
    if (seen->status != 200) continue;
    EXPECT_THAT(Events(*seen), ElementsAre("ERROR 410"));
    as_event = true;
  }
  EXPECT_TRUE(as_status && as_event);
  EXPECT_FALSE(Get("/api/v1/pods?watch=true&resourceVersion=102")->ended);
}

TEST_F(ApiServerTest, AWatchEndsWhenItsClientSaid) {
  const auto seen = Get("/api/v1/pods?watch=true&resourceVersion=100&timeoutSeconds=5");
  Run(4s);
  EXPECT_FALSE(seen->ended);
  Run(2s);
  EXPECT_TRUE(seen->ended);
}

TEST_F(ApiServerTest, StreamingListsAreRefusedInTheThreeKnownWays) {
  const std::string path = std::string(kWatchLivePods) + "&sendInitialEvents=true";
  AddPod("a");
  Make({.streaming = StreamingLists::kRefused});
  EXPECT_EQ(Get(path)->status, 422);
  Make({.streaming = StreamingLists::kBroken});
  const auto broken = Get(path);
  EXPECT_THAT(broken->body, HasSubstr("RequestWatchProgress is disabled"));
  EXPECT_THAT(Events(*broken), ElementsAre("ERROR 500"));
  Make({.streaming = StreamingLists::kEndless});
  const auto endless = Get(path);
  EXPECT_THAT(Events(*endless), ElementsAre("ADDED a@101"));
  EXPECT_FALSE(endless->ended);
}

TEST_F(ApiServerTest, PagesAreOfOneRevisionAndExpireWithTheHistory) {
  Make({.page_size = 2});
  for (const char* name : {"a", "b", "c", "d", "e"}) AddPod(name);
  EXPECT_THAT(Get("/api/v1/pods?limit=500")->body, HasSubstr("\"continue\":\"token-1\""));
  store_.Delete<api::Pod>("default/c");
  const auto second = Get("/api/v1/pods?limit=500&continue=token-1");
  EXPECT_THAT(second->body, HasSubstr("\"name\":\"c\""));
  EXPECT_THAT(second->body, HasSubstr("\"resourceVersion\":\"105\",\"continue\":\"token-2\""));
  server_->Compact();
  EXPECT_EQ(Get("/api/v1/pods?limit=500&continue=token-2")->status, 410);
  EXPECT_THAT(Get("/api/v1/pods?limit=500&resourceVersion=0")->body, HasSubstr("\"continue\":\"\""));
}

TEST_F(ApiServerTest, AKindThatIsNotServedIsNotFound) {
  server_->SetServed(api::Kind::kPod, false);
  EXPECT_EQ(Get(kPods)->status, 404);
  EXPECT_EQ(Get("/api/v1/nodes")->status, 200);
  server_->SetServed(api::Kind::kPod, true);
  EXPECT_EQ(Get(kPods)->status, 200);
}

TEST_F(ApiServerTest, APodIsBoundOnceAndOnlyTheOneThatIsMeant) {
  AddPod("web");
  const api::Pod pod = *store_.Find<api::Pod>("default/web");
  const std::string path = "/api/v1/namespaces/default/pods/web/binding";
  api::Pod other = pod;
  other.metadata.uid = "another";
  EXPECT_EQ(Send("POST", path, client::BindingJson(other, "n1"))->status, 409);
  EXPECT_EQ(Send("POST", path, client::BindingJson(pod, "n1"))->status, 201);
  EXPECT_EQ(store_.Find<api::Pod>("default/web")->spec.node_name, "n1");
  EXPECT_EQ(Send("POST", path, client::BindingJson(pod, "n2"))->status, 409);
  EXPECT_EQ(store_.Find<api::Pod>("default/web")->spec.node_name, "n1");
  EXPECT_EQ(Send("POST", "/api/v1/namespaces/default/pods/none/binding", client::BindingJson(pod, "n1"))->status, 404);
}

TEST_F(ApiServerTest, ABindingMayComeAsProtobuf) {
  AddPod("web");
  const auto seen = Start({.method = "POST",
                           .path = "/api/v1/namespaces/default/pods/web/binding",
                           .headers = {{"Content-Type", "application/vnd.kubernetes.protobuf"}},
                           .body = client::BindingProtobuf(*store_.Find<api::Pod>("default/web"), "n1")});
  EXPECT_EQ(seen->status, 201);
  EXPECT_EQ(store_.Find<api::Pod>("default/web")->spec.node_name, "n1");
}

TEST_F(ApiServerTest, AStatusPatchMergesConditionsByTypeAndWritesOnlyWhatChanges) {
  AddPod("web");
  const std::string path = "/api/v1/namespaces/default/pods/web/status";
  client::PodStatusChange change;
  change.condition =
      api::PodCondition{.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = "no room"};
  change.nominated_node_name = "n1";
  const std::string patch = client::PodStatusPatch(*store_.Find<api::Pod>("default/web"), change, {});
  EXPECT_EQ(Send("PATCH", path, patch)->status, 200);
  EXPECT_EQ(Send("PATCH", path, patch)->status, 409) << "it is for the version before";
  EXPECT_EQ(Send("PATCH", path, R"({"status":{"nominatedNodeName":"n1"}})")->status, 200);
  EXPECT_EQ(store_.revision(), 102U);
  const api::Pod* pod = store_.Find<api::Pod>("default/web");
  ASSERT_EQ(pod->status.conditions.size(), 1U);
  EXPECT_EQ(pod->status.conditions[0].message, "no room");
  EXPECT_EQ(pod->status.nominated_node_name, "n1");
  EXPECT_EQ(Send("PATCH", path, R"({"status":{"nominatedNodeName":null}})")->status, 200);
  EXPECT_EQ(store_.Find<api::Pod>("default/web")->status.nominated_node_name, "");
}

TEST_F(ApiServerTest, ABoundPodIsDeletedWithGraceAndAnUnboundOneAtOnce) {
  AddPod("web");
  AddPod("idle");
  const api::Pod web = *store_.Find<api::Pod>("default/web");
  api::Pod bound = web;
  bound.spec.node_name = "n1";
  store_.Put(bound);
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/default/pods/web", client::DeleteJson("another"))->status, 409);
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/default/pods/web", client::DeleteJson(web.metadata.uid))->status, 200);
  EXPECT_TRUE(store_.Find<api::Pod>("default/web")->metadata.deletion_timestamp.has_value());
  EXPECT_EQ(Send("DELETE", "/api/v1/namespaces/default/pods/idle", "")->status, 200);
  EXPECT_EQ(store_.Find<api::Pod>("default/idle"), nullptr);
}

TEST_F(ApiServerTest, ALeaseIsUpdatedOnlyByWhoHasReadItsLatestVersion) {
  api::Lease lease;
  lease.metadata.name = "kube-scheduler";
  lease.metadata.namespace_ = Symbol("kube-system");
  lease.spec.holder_identity = "a";
  const std::string all = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  EXPECT_EQ(Send("POST", all, api::EncodeJson(api::MakeObject(lease)))->status, 201);
  EXPECT_EQ(Send("POST", all, api::EncodeJson(api::MakeObject(lease)))->status, 409);
  lease.metadata.resource_version = "101";
  EXPECT_EQ(Send("PUT", all + "/kube-scheduler", api::EncodeJson(api::MakeObject(lease)))->status, 200);
  EXPECT_EQ(Send("PUT", all + "/kube-scheduler", api::EncodeJson(api::MakeObject(lease)))->status, 409);
}

TEST_F(ApiServerTest, TheObserverSeesAWriteBeforeItTakesEffectAndAfter) {
  AddPod("web");
  std::vector<std::string> seen;
  server_->writes().Observe([&](const Write& write) {
    seen.push_back(fmt::format("{} {} {} {} \"{}\"", NameOf(write.write_class), write.key, write.process, write.code,
                               store_.Find<api::Pod>("default/web")->spec.node_name));
  });
  const api::Pod pod = *store_.Find<api::Pod>("default/web");
  Send("POST", "/api/v1/namespaces/default/pods/web/binding", client::BindingJson(pod, "n1"));
  Send("POST", "/api/v1/namespaces/default/pods/web/binding", client::BindingJson(pod, "n1"));
  EXPECT_THAT(
      seen, ElementsAre("bind default/web p 0 \"\"", "bind default/web p 201 \"n1\"", "bind default/web p 409 \"n1\""));
}

TEST_F(ApiServerTest, TheStoreKnowsThePast) {
  AddPod("a");
  Run(10s);
  AddPod("b");
  store_.Delete<api::Pod>("default/a");
  EXPECT_EQ(store_.ObjectsAt(api::Kind::kPod, 101).size(), 1U);
  EXPECT_EQ(store_.ObjectsAt(api::Kind::kPod, 102).size(), 2U);
  EXPECT_TRUE(store_.ObjectsAt(api::Kind::kPod, 103).contains("default/b"));
  EXPECT_EQ(store_.RevisionAt(5s), 101U);
  EXPECT_EQ(store_.RevisionAt(11s), 103U);
}

}  // namespace
}  // namespace berth::storm
