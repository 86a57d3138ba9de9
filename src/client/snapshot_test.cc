#include "client/snapshot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/testing/fake_loop.h"
#include "client/api_path.h"
#include "client/scheduling_kinds.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Parameter;
using testing::StatusJson;

struct Answer {
  int status = 200;
  std::string body;
};

// A list of bare objects, given as "namespace/name" or "name".
std::string ListOf(api::Kind kind, const std::vector<std::string>& keys, std::string_view next_page = {}) {
  const api::KindInfo& info = api::InfoOf(kind);
  std::string items;
  for (const std::string& key : keys) {
    const size_t slash = key.find('/');
    const std::string name_space = slash == std::string::npos ? "" : key.substr(0, slash);
    items += fmt::format(R"({}{{"metadata":{{"name":"{}","namespace":"{}"}}}})", items.empty() ? "" : ",",
                         key.substr(slash + 1), name_space);
  }
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}List","metadata":{{"resourceVersion":"7","continue":"{}"}},)"
                     R"("items":[{}]}})",
                     info.api_version(), info.name, next_page, items);
}

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest()
      : transport_(loop_, [this](const http::testing::FakeCallPtr& call) { Handle(call); }),
        client_(transport_, loop_, clock_, {}) {}

  Result<Snapshot> Take() {
    std::optional<Result<Snapshot>> taken;
    TakeSnapshot(client_, loop_, [&](Result<Snapshot> result) { taken = std::move(result); });
    loop_.Run();
    CHECK(taken.has_value());
    return std::move(*taken);
  }

  // Empty lists of everything, unless the test sets another. What follows the page is the continue token.
  void Handle(const http::testing::FakeCallPtr& call) {
    const std::string& target = call->request().path;
    const std::string path = target.substr(0, target.find('?'));
    const std::string page = path + Parameter(call->request(), "continue");
    if (const auto found = answers_.find(page); found != answers_.end()) {
      return call->Answer(found->second.status, found->second.body);
    }
    for (const api::KindInfo& info : api::AllKinds()) {
      if (path == CollectionPath(info.kind)) return call->Answer(200, ListOf(info.kind, {}));
    }
    ADD_FAILURE() << "asked for " << target;
  }

  void Serve(api::Kind kind, const std::vector<std::string>& keys) {
    answers_[CollectionPath(kind)] = {200, ListOf(kind, keys)};
  }
  void Refuse(api::Kind kind, int status, std::string_view message) {
    answers_[CollectionPath(kind)] = {status, StatusJson(status, "", message)};
  }

  std::map<std::string, Answer> answers_;
  base::FakeClock clock_;
  base::testing::FakeLoop loop_{&clock_};
  http::testing::FakeTransport transport_;
  ApiClient client_;
};

std::vector<std::string> Names(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const api::Object& object : snapshot.objects) {
    names.push_back(fmt::format("{} {}", object.info().name, api::KeyOf(object.metadata())));
  }
  return names;
}

TEST_F(SnapshotTest, HasEverythingInOrder) {
  Serve(api::Kind::kPod, {"b/z", "b/a", "a/z"});
  Serve(api::Kind::kNode, {"n2", "n1"});
  Serve(api::Kind::kDeviceClass, {"gpu"});
  Serve(api::Kind::kPriorityClass, {"urgent"});
  Serve(api::Kind::kDaemonSet, {"a/agent"});
  Serve(api::Kind::kDeployment, {"a/web"});
  Serve(api::Kind::kResourceQuota, {"a/q"});
  const Result<Snapshot> taken = Take();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_THAT(Names(*taken),
              ElementsAre("DaemonSet a/agent", "Deployment a/web", "DeviceClass gpu", "Node n1", "Node n2", "Pod a/z",
                          "Pod b/a", "Pod b/z", "PriorityClass urgent", "ResourceQuota a/q"));
  EXPECT_THAT(taken->warnings, IsEmpty());
}

TEST_F(SnapshotTest, OnlyListsAndPodsFirst) {
  ASSERT_TRUE(Take());
  EXPECT_EQ(transport_.calls().size(), std::size(kSchedulingKinds) + 9);  // and what creates and shapes pods and claims
  for (const http::testing::FakeCallPtr& call : transport_.calls()) {
    EXPECT_EQ(call->request().method, "GET");
    EXPECT_EQ(call->request().body, "");
    EXPECT_EQ(Parameter(call->request(), "watch"), "");
    EXPECT_THAT(call->request().path, ::testing::Not(HasSubstr("secrets")));
  }
  const http::Request& first = transport_.calls().front()->request();
  EXPECT_THAT(first.path, ::testing::StartsWith("/api/v1/pods?"));
  EXPECT_EQ(Parameter(first, "fieldSelector"), "status.phase!=Succeeded,status.phase!=Failed");
  EXPECT_EQ(Parameter(first, "resourceVersion"), "") << "the latest, not what a cache happens to have";
}

TEST_F(SnapshotTest, ReadsEveryPage) {
  answers_["/api/v1/nodes"] = {200, ListOf(api::Kind::kNode, {"c", "b"}, "token")};
  answers_["/api/v1/nodestoken"] = {200, ListOf(api::Kind::kNode, {"a"})};
  const Result<Snapshot> taken = Take();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_THAT(Names(*taken), ElementsAre("Node a", "Node b", "Node c"));
}

TEST_F(SnapshotTest, GoesOnWithoutWhatItMayNotSee) {
  Serve(api::Kind::kNode, {"n"});
  Serve(api::Kind::kStorageClass, {"fast"});
  Refuse(api::Kind::kPersistentVolume, 403, "not for you");
  Refuse(api::Kind::kDeviceClass, 404, "the server could not find the requested resource");
  const Result<Snapshot> taken = Take();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_THAT(Names(*taken), ElementsAre("Node n", "StorageClass fast"));
  EXPECT_THAT(taken->warnings,
              ElementsAre("cannot read persistentvolumes: not for you; going on without",
                          "cannot read deviceclasses.resource.k8s.io: the server could not find the requested "
                          "resource; going on without"));
}

TEST_F(SnapshotTest, NoPictureWithoutPodsAndNodesOrWithAFailure) {
  const struct {
    api::Kind kind;
    int status;
    std::string_view error;
  } cases[] = {
      {api::Kind::kPod, 403, "cannot read pods: why"},
      {api::Kind::kNode, 404, "cannot read nodes: why"},
      {api::Kind::kService, 401, "cannot read services: why"},
      {api::Kind::kReplicaSet, 500, "cannot read replicasets.apps: why"},
  };
  for (const auto& [kind, status, error] : cases) {
    answers_.clear();
    Refuse(kind, status, "why");
    const Result<Snapshot> taken = Take();
    ASSERT_FALSE(taken) << error;
    EXPECT_THAT(taken.error().message, HasSubstr(error));
  }
}

TEST_F(SnapshotTest, AConnectionThatBreaksIsAnError) {
  transport_.set_server(
      [](const http::testing::FakeCallPtr& call) { call->End(Error::Unavailable("connection refused")); });
  const Result<Snapshot> taken = Take();
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("cannot read pods: "));
  EXPECT_THAT(taken.error().message, HasSubstr("connection refused"));
  EXPECT_EQ(transport_.calls().size(), 1u);
}

TEST_F(SnapshotTest, AnAnswerThatIsNoListIsAnError) {
  const struct {
    std::string_view body, error;
  } cases[] = {
      {"sign in", "cannot read nodes: the server's list:1:1"},
      {"<html>sign in</html>", "cannot read nodes: the answer is a web page"},
  };
  for (const auto& [body, error] : cases) {
    answers_["/api/v1/nodes"] = {200, std::string(body)};
    const Result<Snapshot> taken = Take();
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message, HasSubstr(error));
  }
}

}  // namespace
}  // namespace berth::client
