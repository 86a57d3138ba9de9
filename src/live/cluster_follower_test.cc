#include "live/cluster_follower.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/testing/fake_loop.h"
#include "client/api_path.h"
#include "client/testing/fake_node_server.h"
#include "config/load.h"
#include "http/testing/fake_transport.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace berth::live {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An API server with streaming lists of every kind, in virtual time; the test decides when the follower takes its
// turns.
class ClusterFollowerTest : public ::testing::Test {
 protected:
  void Make(FollowerOptions options = {}) {
    options.configuration = config::DefaultConfiguration(gates_);
    options.gates = gates_;
    options.protobuf = false;
    auto made = ClusterFollower::Create(std::move(options), plugins::InTreeRegistry(),
                                        {.transport = transport_, .io = loop_, .clock = clock_});
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    follower_ = *std::move(made);
    follower_->Start();
    Settle();
  }
  void Settle() {
    loop_.Run();
    follower_->Turn();
  }
  void Handle(const FakeCallPtr& call) {
    const std::string& target = call->request().path;
    const std::string path = target.substr(0, target.find('?'));
    for (const api::KindInfo& info : api::AllKinds()) {
      if (path != client::CollectionPath(info.kind)) continue;
      if (const auto refused = refused_.find(info.kind); refused != refused_.end()) {
        return call->Answer(refused->second, client::testing::StatusJson(refused->second, "Forbidden", "no " + path));
      }
      if (silent_) return;
      if (!Contains(target, "watch=true")) return AnswerList(call, info);
      call->Head(200, {{"content-type", "application/json"}});
      watches_[info.kind] = call;
      if (!Contains(target, "sendInitialEvents=true")) return;
      for (const api::Object& object : objects_[info.kind]) call->Data(Frame("ADDED", object));
      if (!unfinished_.contains(info.kind)) EndList(info.kind);
    }
  }
  static bool Contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
  void AnswerList(const FakeCallPtr& call, const api::KindInfo& info) {
    if (unfinished_.contains(info.kind)) {
      return call->Answer(504, client::testing::StatusJson(504, "Timeout", "a list takes too long: stream it"));
    }
    std::vector<std::string> items;
    for (const api::Object& object : objects_[info.kind]) items.push_back(api::EncodeJson(object));
    call->Answer(200, fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"50"}},)"
                                  R"("items":[{}]}})",
                                  info.name, info.api_version(), fmt::join(items, ",")));
  }
  void EndList(api::Kind kind) {
    const api::KindInfo& info = api::InfoOf(kind);
    watches_.at(kind)->Data(
        fmt::format(R"({{"type":"BOOKMARK","object":{{"kind":"{}","apiVersion":"{}","metadata":)"
                    R"({{"resourceVersion":"50","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
                    "\n",
                    info.name, info.api_version()));
  }
  static std::string Frame(std::string_view type, const api::Object& object) {
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, api::EncodeJson(object));
  }
  static api::Object PodAt(const berth::testing::PodBuilder& builder, int version) {
    api::Pod pod = *berth::testing::PodBuilder(builder).Shared();
    pod.metadata.resource_version = std::to_string(version);
    return api::MakeObject(std::move(pod));
  }
  void Send(std::string_view type, const api::Object& object) { watches_.at(object.kind())->Data(Frame(type, object)); }
  static api::Object Node(const std::string& name) {
    api::Node node = *MakeNode(name).Capacity("cpu", "4").Capacity("memory", "8Gi").Capacity("pods", "110").Shared();
    node.metadata.resource_version = "10";
    node.metadata.uid = name;
    return api::MakeObject(std::move(node));
  }

  config::FeatureGates gates_;
  base::FakeClock clock_{base::Time(std::chrono::hours(24 * 365))};
  base::testing::FakeLoop loop_{&clock_};
  http::testing::FakeTransport transport_{loop_, [this](const FakeCallPtr& call) { Handle(call); }};
  std::map<api::Kind, std::vector<api::Object>> objects_;
  std::map<api::Kind, FakeCallPtr> watches_;
  std::map<api::Kind, int> refused_;
  std::set<api::Kind> unfinished_;  // lists that the test has to complete
  bool silent_ = false;
  std::unique_ptr<ClusterFollower> follower_;
};

TEST_F(ClusterFollowerTest, FollowsTheClusterAndSchedulesNothing) {
  objects_[api::Kind::kNode] = {Node("n1")};
  objects_[api::Kind::kPod] = {PodAt(MakePod("old").Node("n1"), 11),
                               PodAt(MakePod("new").SchedulerName("default-scheduler"), 12)};
  Make();
  ASSERT_TRUE(follower_->synced());
  for (int i = 0; i < 20; ++i) {
    loop_.Advance(std::chrono::seconds(1));
    follower_->Turn();
  }
  const scheduler::Driver& driver = follower_->driver();
  EXPECT_EQ(driver.cluster().pod_count(), 1u);
  ASSERT_NE(driver.queue().Find("default/new"), nullptr);
  Send("MODIFIED", PodAt(MakePod("new").SchedulerName("default-scheduler").Node("n1"), 60));
  Settle();
  EXPECT_EQ(driver.cluster().NodeOf("default/new"), "n1");
  EXPECT_EQ(driver.queue().Find("default/new"), nullptr);
  Send("DELETED", PodAt(MakePod("old").Node("n1"), 61));
  Settle();
  EXPECT_EQ(driver.cluster().pod_count(), 1u);
  for (const FakeCallPtr& call : transport_.calls()) EXPECT_EQ(call->request().method, "GET") << call->request().path;
}

TEST_F(ClusterFollowerTest, AFirstListThatComesInPartsIsAppliedAsItComesAndIsWholeAtItsEnd) {
  objects_[api::Kind::kNode] = {Node("n1")};
  objects_[api::Kind::kPod] = {PodAt(MakePod("a").Node("n1"), 11)};
  unfinished_ = {api::Kind::kPod};
  int synced = 0, turns = 0;
  FollowerOptions options;
  options.on_synced = [&] { ++synced; };
  options.on_turn = [&] { ++turns; };
  Make(options);
  loop_.Advance(std::chrono::seconds(2));
  Settle();
  const scheduler::Driver& driver = follower_->driver();
  EXPECT_EQ(driver.cluster().NodeOf("default/a"), "n1") << "a part takes effect at once";
  EXPECT_FALSE(follower_->synced()) << "a part is not the list";
  EXPECT_THAT(follower_->MissingKinds(), HasSubstr("pods"));

  Send("ADDED", PodAt(MakePod("b").Node("n1"), 12));
  Settle();
  EXPECT_EQ(driver.cluster().pod_count(), 2u);
  // Objects passed on may change or be deleted before the list ends.
  Send("MODIFIED", PodAt(MakePod("a").Node("n2"), 40));
  Send("DELETED", PodAt(MakePod("b").Node("n1"), 41));
  Settle();
  EXPECT_EQ(synced, 0);
  EXPECT_EQ(turns, 0) << "nobody is to decide by a part of the cluster";

  EndList(api::Kind::kPod);
  Settle();
  EXPECT_TRUE(follower_->synced());
  EXPECT_EQ(synced, 1);
  EXPECT_EQ(turns, 1);
  EXPECT_EQ(follower_->MissingKinds(), "");
  EXPECT_EQ(driver.cluster().NodeOf("default/a"), "n2");
  EXPECT_EQ(driver.cluster().NodeOf("default/b"), "");
  EXPECT_EQ(driver.cluster().pod_count(), 1u);
}

TEST_F(ClusterFollowerTest, PendingPodsOfOtherSchedulersAreKnown) {
  objects_[api::Kind::kPod] = {PodAt(MakePod("theirs").SchedulerName("other"), 12)};
  Make();
  ASSERT_TRUE(follower_->pods_of_others().contains("default/theirs"));
  Send("MODIFIED", PodAt(MakePod("theirs").SchedulerName("other").Node("n1"), 60));
  Settle();
  EXPECT_TRUE(follower_->pods_of_others().empty());
}

// A scheduler may drop changes that are obsolete when it reads them; a follower that compares decisions may not.
TEST_F(ClusterFollowerTest, EveryChangeIsSeenInOrderBeforeItTakesEffect) {
  std::vector<std::string> seen;
  FollowerOptions options;
  options.apply = [&](scheduler::Driver& driver, const FollowedChange& change) {
    if (const api::Pod* pod = change.object.As<api::Pod>()) {
      seen.push_back(fmt::format("{}{} on '{}' was '{}'", change.deleted ? "-" : "+", pod->metadata.name,
                                 pod->spec.node_name, std::as_const(driver).cluster().NodeOf(pod->metadata.uid)));
    }
    change.deleted ? driver.Remove(change.object) : driver.Put(change.object);
  };
  Make(options);
  const auto pod = [] { return MakePod("p").SchedulerName("default-scheduler"); };
  Send("ADDED", PodAt(pod(), 60));
  Send("MODIFIED", PodAt(pod().Label("a", "b"), 61));
  Send("MODIFIED", PodAt(pod().Node("n1"), 62));
  Send("DELETED", PodAt(pod().Node("n1"), 63));
  Settle();
  EXPECT_THAT(seen, ElementsAre("+p on '' was ''", "+p on '' was ''", "+p on 'n1' was ''", "-p on 'n1' was 'n1'"));
}

TEST_F(ClusterFollowerTest, ARefusalSaysWhatMayNotBeRead) {
  refused_[api::Kind::kStorageClass] = 403;
  Make();
  ASSERT_TRUE(follower_->failure().has_value());
  EXPECT_THAT(follower_->failure()->message, HasSubstr("does not show storageclasses to this user"));
  EXPECT_THAT(follower_->failure()->message, HasSubstr("list and watch"));
}

TEST_F(ClusterFollowerTest, AServerThatDoesNotAnswerIsGivenUp) {
  silent_ = true;
  Make();
  EXPECT_FALSE(follower_->failure().has_value());
  loop_.Advance(std::chrono::seconds(21));
  follower_->Turn();
  ASSERT_TRUE(follower_->failure().has_value());
  EXPECT_THAT(follower_->failure()->message, HasSubstr("the cluster cannot be read"));
  EXPECT_THAT(follower_->failure()->message, HasSubstr("pods"));
}

TEST(ReadOnlyTransportDeathTest, AWriteEndsTheProgramBeforeItLeaves) {
  base::testing::FakeLoop loop;
  http::testing::FakeTransport transport(loop, [](const FakeCallPtr&) {});
  ReadOnlyTransport read_only(transport);
  EXPECT_DEATH(read_only.Start({.method = "POST", .path = "/api/v1/namespaces"}, {}), "only reads");
}

}  // namespace
}  // namespace berth::live
