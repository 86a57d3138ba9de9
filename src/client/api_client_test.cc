#include "client/api_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/testing/fake_loop.h"
#include "client/testing/fake_node_server.h"
#include "http/testing/fake_transport.h"

namespace berth::client {
namespace {

using http::testing::FakeCallPtr;
using ::testing::ElementsAre;
using ::testing::Pair;
using testing::StatusJson;
using namespace std::chrono_literals;

// The API server's own answer about one object, unlike a 404 for the path.
std::string NotFoundJson(std::string_view resource, std::string_view name) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","message":"{0} \"{1}\" not found","reason":"NotFound",)"
      R"("details":{{"name":"{1}","kind":"{0}"}},"code":404}})",
      resource, name);
}

constexpr int kSilence = -1;

struct Scripted {
  int status = 200;  // 0: the connection breaks; kSilence: no answer
  std::string body = "{}";
  std::string retry_after{};
};

class ApiClientTest : public ::testing::Test {
 protected:
  ApiClientTest() {
    pod_.metadata.name = "web";
    pod_.metadata.namespace_ = Symbol("shop");
    pod_.metadata.uid = "u-1";
  }

  ApiClient Make(ApiClientOptions options = {}) { return ApiClient(transport_, loop_, clock_, std::move(options)); }
  void Answer(const http::testing::FakeCallPtr& call) {
    asked_.push_back(loop_.Now());
    Scripted next;
    if (!script_.empty()) {
      next = script_.front();
      script_.pop_front();
    }
    if (next.status == kSilence) return;
    if (next.status == 0) return call->End(Error::Unavailable("connection refused"));
    http::Headers headers{{"content-type", "application/json"}};
    if (!next.retry_after.empty()) headers.emplace_back("retry-after", next.retry_after);
    call->Answer(next.status, next.body, headers);
  }
  ApiClient::Done<void> Keep() {
    return [this](const Result<void>& result) { result_ = result; };
  }
  const http::Request& Asked(size_t index = 0) const { return transport_.calls().at(index)->request(); }

  base::FakeClock clock_{base::Time(1'700'000'000s)};
  base::testing::FakeLoop loop_{&clock_};
  std::deque<Scripted> script_;
  http::testing::FakeTransport transport_{loop_, [this](const http::testing::FakeCallPtr& call) { Answer(call); }};
  std::vector<base::Duration> asked_;
  Result<void> result_ = Error::Internal("no answer yet");
  api::Pod pod_;
};

TEST_F(ApiClientTest, Binds) {
  ApiClient client = Make();
  client.Bind(pod_, "n", Keep());
  loop_.Run();
  EXPECT_TRUE(result_.ok());
  EXPECT_EQ(Asked().method + " " + Asked().path, "POST /api/v1/namespaces/shop/pods/web/binding");
  EXPECT_THAT(Asked().headers, ElementsAre(Pair("Accept", "application/vnd.kubernetes.protobuf, application/json"),
                                           Pair("Content-Type", "application/vnd.kubernetes.protobuf")));
  EXPECT_EQ(Asked().body, BindingProtobuf(pod_, "n"));
}

TEST_F(ApiClientTest, ComesBackWhenTheServerSays) {
  ApiClient client = Make();
  script_ = {{429, "", "2"}, {503, "", "1"}, {201}};
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1min);
  EXPECT_TRUE(result_.ok());
  EXPECT_THAT(asked_, ElementsAre(0s, 2s, 3s));
}

TEST_F(ApiClientTest, GivesUpAfterTenRetries) {
  ApiClient client = Make();
  script_ = std::deque<Scripted>(20, {429, "", "1"});
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1min);
  EXPECT_EQ(asked_.size(), 11u);
  EXPECT_EQ(result_.error().code, ErrorCode::kUnavailable);
}

TEST_F(ApiClientTest, RepeatsNothingElse) {
  for (const Scripted& answer : std::vector<Scripted>{{400}, {403}, {404}, {422}, {429}}) {
    ApiClient client = Make();
    script_ = {answer};
    asked_.clear();
    client.Bind(pod_, "n", Keep());
    loop_.Advance(1min);
    EXPECT_EQ(asked_.size(), 1u) << answer.status;
    EXPECT_FALSE(result_.ok());
  }
}

// Regression: an answer was lost, and the resources of a bound pod were given to others.
TEST_F(ApiClientTest, APodIsReadWhenTheAnswerLeavesOpenWhetherItWasBound) {
  const auto pod_on = [&](const char* node, const char* uid = "u-1") {
    api::Pod pod = pod_;
    pod.spec.node_name = node;
    pod.metadata.uid = uid;
    return Scripted{200, api::EncodeJson(api::MakeObject(std::move(pod)))};
  };
  struct Case {
    Scripted bound, read;
    bool ok;
  };
  for (const Scripted& unknown :
       std::vector<Scripted>{{500}, {504}, {0}, {409, StatusJson(409, "Conflict", "bound already")}}) {
    for (const Case& c :
         {Case{unknown, pod_on("n"), true}, Case{unknown, pod_on(""), false}, Case{unknown, pod_on("other"), false},
          Case{unknown, pod_on("n", "u-2"), false}, Case{unknown, {404, NotFoundJson("pods", "web")}, false}}) {
      ApiClient client = Make({.protobuf = false});
      script_ = {c.bound, c.read};
      asked_.clear();
      client.Bind(pod_, "n", Keep());
      loop_.Advance(1min);
      EXPECT_EQ(asked_.size(), 2u);
      EXPECT_EQ(result_.ok(), c.ok) << unknown.status << ", then " << c.read.status << " " << c.read.body;
      EXPECT_EQ(transport_.calls().back()->request().method, "GET");
    }
  }
  EXPECT_EQ(result_.error().message, "bound already") << "the refusal is told, not what became of reading";
}

TEST_F(ApiClientTest, ReadsUntilItIsKnownWhetherThePodWasBoundOrTheLeaseIsOver) {
  const auto window = std::make_shared<WriteWindow>();
  ApiClient client = Make({.protobuf = false, .window = window});
  window->MoveTo(loop_.Now() + 1h);
  api::Pod bound = pod_;
  bound.spec.node_name = "n";
  script_ = {{0}, {503}, {0}, {0}, {504}, {200, api::EncodeJson(api::MakeObject(std::move(bound)))}};
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1min);
  EXPECT_TRUE(result_.ok());
  EXPECT_EQ(asked_.size(), 6u);

  script_ = std::deque<Scripted>(100, Scripted{0});
  asked_.clear();
  window->MoveTo(loop_.Now() + 10s);
  client.Bind(pod_, "n", Keep());
  loop_.Advance(10min);
  EXPECT_FALSE(result_.ok());
  EXPECT_LE(asked_.size(), 6u);
}

// What does not come from the API server, or is not about the object.
std::vector<Scripted> StrangeAnswers() {
  return {
      {404, "default backend - 404"},
      {404, StatusJson(404, "NotFound", "the server could not find the requested resource")},
      {404, NotFoundJson("namespaces", "shop")},
      {401, StatusJson(401, "Unauthorized", "Unauthorized")},
      {403, StatusJson(403, "Forbidden", "pods is forbidden: RBAC: clusterrole not found")},
      {403, "<html>Access denied</html>"},
      {200, "<!DOCTYPE html><title>Log in</title>"},
      {200, "{}"},
      {200, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"other","namespace":"shop","uid":"u-9"}})"},
  };
}

TEST_F(ApiClientTest, ABindingInDoubtCountedAsFailedWhenThePodCouldNotBeRead) {
  api::Pod bound = pod_;
  bound.spec.node_name = "n";
  const Scripted found{200, api::EncodeJson(api::MakeObject(std::move(bound)))};
  for (const Scripted& strange : StrangeAnswers()) {
    SCOPED_TRACE(fmt::format("{} {}", strange.status, strange.body));
    ApiClient client = Make({.protobuf = false});
    result_ = Error::Internal("no answer yet");
    asked_.clear();
    script_ = {{0}, strange, strange, strange, found};
    client.Bind(pod_, "n", Keep());
    loop_.Advance(1min);
    EXPECT_TRUE(result_.ok());
    EXPECT_EQ(asked_.size(), 5u);
  }
}

TEST_F(ApiClientTest, AClaimInDoubtCountedAsNotWrittenWhenItCouldNotBeRead) {
  api::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = "u-c";
  for (const Scripted& strange : StrangeAnswers()) {
    SCOPED_TRACE(fmt::format("{} {}", strange.status, strange.body));
    ApiClient client = Make({.protobuf = false});
    script_ = {{504}, strange, {200, api::EncodeJson(api::MakeObject(claim))}};
    std::optional<bool> written;
    client.PatchResourceClaim(claim, ApiClient::ClaimWrite::kStatus,
                              [&](const Result<api::Object>& object) { written = object.ok(); });
    loop_.Advance(1min);
    EXPECT_EQ(written, true);
  }
}

// Storm seed 143774.
TEST_F(ApiClientTest, AWriteInDoubtWaitedAMinuteForEachReadThatWasNotAnswered) {
  api::Pod bound = pod_;
  bound.spec.node_name = "n";
  ApiClient client = Make({.protobuf = false});
  script_ = {{504}, {kSilence}, {kSilence}, {200, api::EncodeJson(api::MakeObject(std::move(bound)))}};
  client.Bind(pod_, "n", Keep());
  loop_.Advance(30s);
  EXPECT_TRUE(result_.ok());
  EXPECT_EQ(asked_.size(), 4u);
}

// A later attempt had reserved the claim for the pod again, and its devices were taken away from the running pod.
TEST_F(ApiClientTest, ALateEndOfAReservationEndedTheNextOne) {
  api::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = "u-c";
  claim.metadata.resource_version = "1";
  claim.status.reserved_for = {{.resource = "pods", .name = "web", .uid = "u-1"}};
  api::ResourceClaim newer = claim;
  newer.metadata.resource_version = "2";
  const auto shows = [](const api::ResourceClaim& read) {
    return Scripted{200, api::EncodeJson(api::MakeObject(api::ResourceClaim(read)))};
  };
  ApiClient client = Make({.protobuf = false});
  script_ = {{0}, shows(claim), {409, StatusJson(409, "Conflict", "modified")}, shows(newer), {200}};
  client.UnreserveResourceClaim(claim, "u-1", Keep());
  client.PatchResourceClaim(claim, ApiClient::ClaimWrite::kStatus, [](const Result<api::Object>&) {});
  loop_.Advance(1min);
  EXPECT_TRUE(result_.ok());
  ASSERT_EQ(asked_.size(), 6u);
  const auto version = [&](size_t index) {
    const std::string& body = Asked(index).body;
    return body.substr(body.find("resourceVersion"), 21);
  };
  EXPECT_EQ(version(0), R"(resourceVersion":"1"})");
  EXPECT_EQ(Asked(1).method, "GET");
  EXPECT_EQ(version(2), R"(resourceVersion":"1"})");
  EXPECT_EQ(Asked(3).method, "GET");
  EXPECT_EQ(version(4), R"(resourceVersion":"2"})");
  EXPECT_EQ(Asked(5).body.find("$patch"), std::string::npos) << "the next reservation comes last";
}

class GatewayTest : public ApiClientTest, public ::testing::WithParamInterface<std::string> {};  // its Retry-After

TEST_P(GatewayTest, AGatewayThatGaveUpWaitingDecidedThatABindingHadFailed) {
  api::Pod bound = pod_;
  bound.spec.node_name = "n";
  transport_.set_server([&, unbound = api::EncodeJson(api::MakeObject(api::Pod(pod_))),
                         found = api::EncodeJson(api::MakeObject(std::move(bound)))](const auto& call) {
    http::Headers headers;
    if (!GetParam().empty()) headers.emplace_back("retry-after", GetParam());
    if (call->request().method == "POST") return call->Answer(504, "", headers);
    call->Answer(200, loop_.Now() < 1s ? unbound : found);
  });
  ApiClient client = Make({.protobuf = false});
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1s);
  EXPECT_FALSE(result_.ok());
  EXPECT_TRUE(client.writes().last_unanswered()) << "the lease must not be released yet";
  loop_.Advance(9s);
  EXPECT_TRUE(result_.ok());
}
INSTANTIATE_TEST_SUITE_P(Gateways, GatewayTest, ::testing::Values("", "3600"));

// Every other write waited for the tokens that this took, and the claim's for its end.
TEST_F(ApiClientTest, TheEndOfAReservationWasTriedForEverAndWithoutAPause) {
  api::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = "u-c";
  claim.status.reserved_for = {{.resource = "pods", .name = "web", .uid = "u-1"}};
  transport_.set_server([body = api::EncodeJson(api::MakeObject(api::ResourceClaim(claim)))](const auto& call) {
    call->Answer(call->request().method == "GET" ? 200 : 409, body);
  });
  ApiClient client = Make({.protobuf = false});
  client.UnreserveResourceClaim(claim, "u-1", Keep());
  bool next_has_ended = false;
  client.PatchResourceClaim(claim, ApiClient::ClaimWrite::kStatus,
                            [&](const Result<api::Object>&) { next_has_ended = true; });
  for (int second = 0; second < 120; ++second) loop_.Advance(1s);
  EXPECT_LE(transport_.calls().size(), 20u);
  EXPECT_TRUE(next_has_ended);
  EXPECT_FALSE(result_.ok());
}

// Whoever wants to reserve the claim again waits in a thread that other bindings need.
TEST_F(ApiClientTest, AnUnansweredEndOfAReservationHeldItsClaimForMinutes) {
  api::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = "u-c";
  const std::string free = api::EncodeJson(api::MakeObject(api::ResourceClaim(claim)));
  claim.status.reserved_for = {{.resource = "pods", .name = "web", .uid = "u-1"}};
  ApiClient client = Make({.protobuf = false});
  script_ = {{kSilence}, {kSilence}, {200, free}, {200}};
  client.UnreserveResourceClaim(claim, "u-1", Keep());
  client.PatchResourceClaim(claim, ApiClient::ClaimWrite::kStatus, [](const Result<api::Object>&) {});
  loop_.Advance(25s);
  EXPECT_EQ(asked_.size(), 4u);
  EXPECT_TRUE(result_.ok());
}

TEST_F(ApiClientTest, BindingsInDoubtReadTheirPodsAllAtOnce) {
  constexpr size_t kPods = 300;
  const size_t most = kDefaultWriteBudgets[static_cast<size_t>(WriteClass::kBind)].max_in_flight;
  ApiClient client = Make({.protobuf = false, .bucket = std::make_shared<TokenBucket>(50, 100)});
  transport_.set_server([](const http::testing::FakeCallPtr& call) {
    if (call->request().method == "POST") call->Answer(504, "");
  });
  for (size_t i = 0; i < kPods; ++i) {
    api::Pod pod = pod_;
    pod.metadata.name = fmt::format("web-{}", i);
    pod.metadata.uid = fmt::format("u-{}", i);
    client.Bind(pod, "n", [](const Result<void>&) {});
  }
  const base::Duration begin = loop_.Now();
  size_t in_flight = 0;
  for (int second = 0; second < 20; ++second) {
    loop_.Advance(1s);
    const auto& calls = transport_.calls();
    in_flight = std::max(in_flight, static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [](const auto& call) {
                           return call->request().method == "GET" && !call->ended();
                         })));
    EXPECT_LE(static_cast<double>(calls.size()), 100 + 50 * std::chrono::duration<double>(loop_.Now() - begin).count());
  }
  EXPECT_GT(in_flight, 0u);
  EXPECT_LE(in_flight, most);
}

TEST_F(ApiClientTest, ReadsNotForEverWhatItMayNotRead) {
  const auto window = std::make_shared<WriteWindow>();
  window->MoveTo(loop_.Now() + 24h);
  ApiClient client = Make({.protobuf = false, .window = window});
  script_ = std::deque<Scripted>(100, {403, StatusJson(403, "Forbidden", "pods is forbidden")});
  script_.push_front({504, StatusJson(504, "Timeout", "request timed out")});
  client.Bind(pod_, "n", Keep());
  loop_.Advance(5min);
  EXPECT_EQ(asked_.size(), 12u);
  EXPECT_EQ(result_.error().message, "request timed out");
}

TEST_F(ApiClientTest, ACallSleptAnHourBecauseAProxyAskedForThat) {
  ApiClient client = Make({.protobuf = false});
  script_ = {{429, "", "3600"}};
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1s);
  EXPECT_EQ(result_.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(result_.error().message, ::testing::EndsWith("(try again in 3600 s)"));

  script_ = {{503, "", "3600"}, {200}};
  result_ = Error::Internal("no answer yet");
  client.PatchPodStatus(pod_, {.nominated_node_name = "n"}, Keep());
  loop_.Advance(1s);
  EXPECT_TRUE(result_.ok()) << "tried again by its own backoff";

  script_ = {{503, "", "3600"}};
  client.Get(api::Kind::kNode, "", "n", [this](const Result<api::Object>& read) { result_ = read.error(); });
  loop_.Advance(1s);
  EXPECT_EQ(result_.error().code, ErrorCode::kUnavailable);
}

TEST_F(ApiClientTest, ARetriedReadOutlivedItsTimeout) {
  ApiClient client = Make({.protobuf = false, .timeout = 5s});
  script_ = std::deque<Scripted>(20, {503, "", "2"});
  client.Get(api::Kind::kNode, "", "n", [this](const Result<api::Object>& read) { result_ = read.error(); });
  loop_.Advance(1min);
  EXPECT_THAT(asked_, ElementsAre(0s, 2s, 4s));
  EXPECT_EQ(Asked(2).timeout, 1s) << "what is left of it";
  EXPECT_EQ(result_.error().code, ErrorCode::kUnavailable);
}

TEST_F(ApiClientTest, PatchesAStatusUpToTenTimes) {
  ApiClient client = Make();
  script_ = {{409, StatusJson(409, "Conflict", "")}, {0}, {503}, {500}, {504}, {0}, {0}, {0}, {0}, {0}, {200}};
  client.PatchPodStatus(pod_, {.nominated_node_name = "n"}, Keep());
  loop_.Advance(2min);
  EXPECT_EQ(asked_.size(), 10u);
  EXPECT_FALSE(result_.ok());
  EXPECT_GE(asked_[3] - asked_[2], 250ms);
  EXPECT_LE(asked_[3] - asked_[2], 275ms);
  EXPECT_EQ(Asked().method + " " + Asked().path, "PATCH /api/v1/namespaces/shop/pods/web/status");
  EXPECT_THAT(Asked().headers, ::testing::Contains(Pair("Content-Type", "application/strategic-merge-patch+json")));
}

TEST_F(ApiClientTest, PatchesNothingThatIsSoAndNothingThatIsGone) {
  ApiClient client = Make();
  client.PatchPodStatus(pod_, {.nominated_node_name = ""}, Keep());
  loop_.Run();
  EXPECT_TRUE(result_.ok());
  EXPECT_TRUE(asked_.empty());
  script_ = {{404, NotFoundJson("pods", "web")}};
  client.PatchPodStatus(pod_, {.nominated_node_name = "n"}, Keep());
  loop_.Advance(1min);
  EXPECT_EQ(result_.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(ApiClientTest, AReportThatSomeProxyRejectedWasLost) {
  for (const Scripted& proxys : std::vector<Scripted>{{404, "default backend - 404"}, {401}, {403}, {200, "<html>"}}) {
    ApiClient client = Make();
    script_ = {proxys, {200}};
    asked_.clear();
    client.PatchPodStatus(pod_, {.nominated_node_name = "n" + std::to_string(proxys.status)}, Keep());
    loop_.Advance(1min);
    EXPECT_EQ(asked_.size(), 2u) << proxys.status;
    EXPECT_TRUE(result_.ok()) << proxys.status;
  }
}

TEST_F(ApiClientTest, ALoginPageWasTakenForABinding) {
  ApiClient client = Make();
  script_ = {{200, "<html><form action=/login>"}, {200, api::EncodeJson(api::MakeObject(pod_))}};
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1min);
  EXPECT_EQ(asked_.size(), 2u) << "it asks whether the pod was bound";
  EXPECT_FALSE(result_.ok());
}

TEST_F(ApiClientTest, DeletesThatVeryPod) {
  ApiClient client = Make();
  client.DeletePod(pod_, Keep());
  loop_.Run();
  EXPECT_EQ(Asked().method + " " + Asked().path, "DELETE /api/v1/namespaces/shop/pods/web");
  EXPECT_EQ(Asked().body, DeleteJson("u-1"));
}

TEST_F(ApiClientTest, EachAttemptTakesAToken) {
  ApiClient client = Make({.bucket = std::make_shared<TokenBucket>(1, 1)});
  script_ = {{429, "", "1"}, {201}, {201}};
  client.Bind(pod_, "n", Keep());
  pod_.metadata.uid = "u-2";
  client.Bind(pod_, "n", Keep());
  loop_.Advance(1min);
  EXPECT_THAT(asked_, ElementsAre(0s, 1s, 2s));
}

TEST_F(ApiClientTest, LeasesAndReadsWaitForNobody) {
  const auto bucket = std::make_shared<TokenBucket>(0.01, 2);
  ApiClient client = Make({.bucket = bucket});
  for (int i = 0; i < 10; ++i) {
    pod_.metadata.uid = std::to_string(i);
    client.Bind(pod_, "n", Keep());
  }
  loop_.Run();
  EXPECT_EQ(asked_.size(), 1u) << "one token is left for a lease";
  api::Lease lease;
  lease.metadata.name = "l";
  client.Update(api::MakeObject(lease), [](const Result<api::Object>&) {});
  client.Get(api::Kind::kNode, "", "n", [](const Result<api::Object>&) {});
  loop_.Run();
  EXPECT_THAT(asked_, ElementsAre(0s, 0s, 0s));
}

TEST_F(ApiClientTest, TheWriteWindowIsLookedAtRightBeforeSending) {
  const auto window = std::make_shared<WriteWindow>();
  window->MoveTo(5s);
  ApiClient client = Make({.bucket = std::make_shared<TokenBucket>(1, 1), .window = window});
  client.Bind(pod_, "n", [](const Result<void>&) {});
  pod_.metadata.uid = "u-2";
  client.Bind(pod_, "n", Keep());
  loop_.Run();
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(Asked().timeout, 5s) << "it does not outlive the window";
  window->Close();
  loop_.Advance(2s);
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(result_.error().code, ErrorCode::kConflict);
  // Reads are always allowed.
  client.Get(api::Kind::kNode, "", "n", [](const Result<api::Object>&) {});
  loop_.Advance(2s);
  EXPECT_EQ(asked_.size(), 2u);
}

// Regression: devices whose write had timed out were given to another claim, and then the write took effect.
TEST_F(ApiClientTest, AClaimIsReadWhenTheAnswerLeavesOpenWhetherItsStatusWasWritten) {
  api::ResourceClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = "u-c";
  claim.status.reserved_for.push_back({"", "pods", "p", "u-1"});
  const auto json = [](const api::ResourceClaim& found) { return api::EncodeJson(api::MakeObject(found)); };
  api::ResourceClaim without = claim, another = claim;
  without.status.reserved_for.clear();
  another.metadata.uid = "u-d";
  for (const Scripted& unknown : std::vector<Scripted>{{500}, {504}, {0}}) {
    for (const auto& [read, ok] : {std::pair(Scripted{200, json(claim)}, true),
                                   {Scripted{200, json(without)}, false},
                                   {Scripted{200, json(another)}, false},
                                   {Scripted{404, NotFoundJson("resourceclaims", "c")}, false}}) {
      ApiClient client = Make({.protobuf = false});
      script_ = {unknown, read};
      asked_.clear();
      std::optional<bool> written;
      client.PatchResourceClaim(claim, ApiClient::ClaimWrite::kStatus,
                                [&](const Result<api::Object>& object) { written = object.ok(); });
      loop_.Advance(1min);
      EXPECT_EQ(asked_.size(), 2u);
      EXPECT_EQ(written, ok) << unknown.status << ", then " << read.status << " " << read.body;
    }
  }
}

TEST_F(ApiClientTest, AFullLineOfStatusPatchesRefuses) {
  WriteBudgets budgets = kDefaultWriteBudgets;
  budgets[static_cast<size_t>(WriteClass::kStatus)].max_waiting = 1;
  ApiClient client = Make({.budgets = budgets});
  client.PatchPodStatus(pod_, {.nominated_node_name = "n"}, [](const Result<void>&) {});
  EXPECT_FALSE(client.CanAccept(WriteClass::kStatus));
  client.PatchPodStatus(pod_, {.nominated_node_name = "m"}, Keep());
  loop_.Run();
  EXPECT_EQ(result_.error().message, "not sent: 1 writes of class status are waiting");
  EXPECT_EQ(result_.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(client.CanAccept(WriteClass::kStatus));
}

TEST_F(ApiClientTest, GetsAndPatchesObjects) {
  ApiClient client = Make({.protobuf = false});
  script_ = {{200, R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv","resourceVersion":"4"}})"},
             {200, R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv","resourceVersion":"5"}})"},
             {200, R"({"kind":"Wonder","apiVersion":"v1","metadata":{"name":"pv"}})"}};
  std::vector<std::string> found;
  const auto keep = [&](const Result<api::Object>& object) {
    found.push_back(object ? object->metadata().resource_version : object.error().message);
    if (object && found.size() == 1) {
      client.PatchClaimRef(*object->As<api::PersistentVolume>(), {}, {}, [&](const Result<api::Object>& patched) {
        found.push_back(patched->metadata().resource_version);
      });
    }
  };
  client.Get(api::Kind::kPersistentVolume, "", "pv", keep);
  loop_.Run();
  EXPECT_EQ(Asked(1).path, "/api/v1/persistentvolumes/pv");
  client.Get(api::Kind::kPersistentVolume, "", "pv", keep);
  loop_.Run();
  EXPECT_THAT(found, ElementsAre("4", "5", "expected one object in the server's answer, found a Wonder"));
}

}  // namespace
}  // namespace berth::client
