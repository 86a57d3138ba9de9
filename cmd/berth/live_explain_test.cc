#include "live_explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace berth::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Answers by method and path, and records the requests.
class FakeApiServer final : public http::Transport {
 public:
  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    const auto found = answers.find(request.method + " " + request.path);
    http::ResponseHead head;
    head.status = found == answers.end() ? 404 : found->second.first;
    if (head.status == 200 && request.path.ends_with("/explain")) head.headers.emplace_back("x-berth-place", place);
    asked.push_back(std::move(request));
    if (handler.on_head) handler.on_head(head);
    if (handler.on_data) handler.on_data(found == answers.end() ? R"({"message":"not found"})" : found->second.second);
    handler.on_done({});
    return asked.size();
  }
  void Cancel(http::CallId) override {}

  std::map<std::string, std::pair<int, std::string>> answers;
  std::vector<http::Request> asked;
  std::string place = "Unschedulable";
};

constexpr char kPods[] = R"({"items":[
  {"metadata":{"name":"other"},"spec":{"nodeName":"cp-1"}},
  {"metadata":{"name":"kube-scheduler-cp-1","labels":{"component":"kube-scheduler"}},
   "spec":{"nodeName":"cp-1","containers":[{"command":["kube-scheduler","--secure-port=10300"]}]}},
  {"metadata":{"name":"berth-scheduler-7f-x","labels":{"app.kubernetes.io/name":"berth"}},
   "spec":{"nodeName":"w1","containers":[{"args":["--v=2","--secure-port=x"]}]}}]})";

class LiveExplainTest : public ::testing::Test {
 protected:
  LiveExplainTest() {
    server_.answers["GET /api/v1/namespaces/shop/pods/web"] = {200,
                                                               R"({"spec":{"schedulerName":"default-scheduler"}})"};
    server_.answers["GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"] = {
        200, R"({"spec":{"holderIdentity":"cp-1_0b1c"}})"};
    server_.answers["GET /api/v1/namespaces/kube-system/pods?limit=5000"] = {200, kPods};
    server_.answers["POST /api/v1/namespaces/kube-system/serviceaccounts/berth-reader/token"] = {
        201, R"({"status":{"token":"short"}})"};
    server_.answers["GET " + page_] = {200, "why\n"};
  }
  std::string ErrorOf() {
    const Result<LiveAnswer> answer = ExplainLive(server_, {}, "shop/web", false);
    return answer ? "no error" : answer.error().message;
  }

  const std::string page_ =
      "/api/v1/namespaces/kube-system/pods/https:kube-scheduler-cp-1:10300/proxy/debug/berth/pods/shop/web/explain";
  FakeApiServer server_;
};

TEST(FindSchedulerPod, ByNameOrByTheNodeThatItIsCalledAfter) {
  const Result<SchedulerPod> on_host = FindSchedulerPod(kPods, "cp-1_0b1c");
  ASSERT_TRUE(on_host.ok());
  EXPECT_EQ(on_host->name, "kube-scheduler-cp-1");
  EXPECT_EQ(on_host->port, "10300");
  const Result<SchedulerPod> named = FindSchedulerPod(kPods, "berth-scheduler-7f-x_77");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->name, "berth-scheduler-7f-x");
  EXPECT_EQ(named->port, "10259") << "a port that is none is not taken";
  EXPECT_THAT(FindSchedulerPod(kPods, "w2_1").error().message, HasSubstr("no scheduler pod found for the leader w2_1"));
  EXPECT_FALSE(FindSchedulerPod("rubbish", "w2_1").ok());
}

TEST_F(LiveExplainTest, AsksTheLeaderThroughTheProxyWithATokenForTheSchedulerAlone) {
  const Result<LiveAnswer> answer = ExplainLive(server_, {}, "shop/web", /*json=*/false);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "why\n");
  EXPECT_FALSE(answer->placed);
  ASSERT_EQ(server_.asked.size(), 5u);
  EXPECT_THAT(server_.asked[3].body, HasSubstr(R"("audiences":["berth-scheduler"])"));
  EXPECT_EQ(server_.asked[4].path, page_);
  EXPECT_THAT(server_.asked[4].headers, ElementsAre(std::pair<std::string, std::string>("accept", "text/plain"),
                                                    std::pair<std::string, std::string>("x-berth-token", "short")));
  server_.place = "Placed";
  EXPECT_TRUE(ExplainLive(server_, {}, "shop/web", true)->placed);
}

TEST_F(LiveExplainTest, TheLeaseIsThatOfThePodsScheduler) {
  server_.answers["GET /api/v1/namespaces/shop/pods/web"] = {200, R"({"spec":{"schedulerName":"berth-scheduler"}})"};
  EXPECT_THAT(ErrorOf(), HasSubstr("lease kube-system/berth-scheduler"));
  LiveFlags named;
  named.lease = "kube-scheduler";
  EXPECT_TRUE(ExplainLive(server_, named, "shop/web", false).ok());
}

TEST_F(LiveExplainTest, EveryThingThatCanBeMissingIsASentence) {
  const struct {
    std::string request;
    std::pair<int, std::string> answer;
    std::string message;
  } cases[] = {
      {"GET /api/v1/namespaces/shop/pods/web",
       {404, R"({"message":"pods \"web\" not found"})"},
       "cannot read pod shop/web: pods \"web\" not found"},
      {"GET /api/v1/namespaces/shop/pods/web",
       {403, R"({"message":"jane cannot get"})"},
       "no right to read pod shop/web: jane cannot get"},
      {"GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
       {200, R"({"spec":{}})"},
       "nobody holds lease kube-system/kube-scheduler"},
      {"GET /api/v1/namespaces/kube-system/pods?limit=5000",
       {200, R"({"items":[]})"},
       "no scheduler pod found for the leader cp-1_0b1c in namespace kube-system"},
      {"POST /api/v1/namespaces/kube-system/serviceaccounts/berth-reader/token",
       {403, R"({"message":"no"})"},
       "no token of service account kube-system/berth-reader to ask the scheduler with: no"},
      {"GET " + page_,
       {503, R"({"kind":"Problems","errors":["this scheduler is not the leader"]})"},
       "pod kube-scheduler-cp-1: this scheduler is not the leader (503)"},
      {"GET " + page_,
       {404, R"({"kind":"Problems","errors":["the scheduler knows no pod shop/web"]})"},
       "the scheduler knows no pod shop/web (404)"},
      {"GET " + page_,
       {403, R"({"kind":"Status","message":"forbidden: User \"system:anonymous\" cannot get path"})"},
       "another scheduler runs there"},
      {"GET " + page_, {404, "404 page not found\n"}, "another scheduler runs there"},
  };
  for (const auto& [request, answer, message] : cases) {
    const auto before = server_.answers[request];
    server_.answers[request] = answer;
    EXPECT_THAT(ErrorOf(), HasSubstr(message)) << request;
    server_.answers[request] = before;
  }
}

TEST_F(LiveExplainTest, WhatIsNoNameNeverBecomesPartOfAPath) {
  for (const char* pod : {"shop/../../secrets?x", "shop/..", "shop", "", "/web", "shop/", "shop/a b", "SHOP/web"}) {
    const Result<LiveAnswer> answer = ExplainLive(server_, {}, pod, false);
    ASSERT_FALSE(answer.ok()) << pod;
    EXPECT_THAT(answer.error().message, HasSubstr("expected NAMESPACE/NAME")) << pod;
  }
  EXPECT_TRUE(server_.asked.empty());
}

TEST(LiveFlags, WhatDoesNotGoTogetherIsAnError) {
  LiveFlags flags;
  flags.server_url = "https://x";
  EXPECT_FALSE(flags.Check().ok()) << "needs --live";
  flags.live = true;
  EXPECT_TRUE(flags.Check().ok());
  flags.server_url = "http://x";
  EXPECT_FALSE(flags.Check().ok()) << "a token must not go out in the clear";
  flags.server_url.clear();
  flags.insecure = true;
  EXPECT_FALSE(flags.Check().ok());
}

}  // namespace
}  // namespace berth::cmd
