#include "serving/reviewer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/authentication.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Answers every request at once with the same response.
class FakeTransport final : public http::Transport {
 public:
  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    last = std::move(request);
    if (status == 0) {
      handler.on_done(Error::Unavailable("connection refused"));
      return 1;
    }
    if (handler.on_head) handler.on_head({.status = status});
    if (handler.on_data) handler.on_data(body);
    handler.on_done({});
    return 1;
  }
  void Cancel(http::CallId) override {}

  int status = 201;  // 0: no connection
  std::string body;
  http::Request last;
};

TEST(ApiReviewer, AsksForTokens) {
  FakeTransport transport;
  transport.body =
      R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"system:serviceaccount:m:p",
          "uid":"42","groups":["a","b"],"extra":{"k":["v","w"]}}}})";
  const auto user = ApiReviewer(transport).ReviewToken("secret\"", "");
  ASSERT_TRUE(user.ok()) << user.error().message;
  ASSERT_TRUE(user->has_value());
  EXPECT_EQ(**user, (User{"system:serviceaccount:m:p", "42", {"a", "b"}, {{"k", {"v", "w"}}}}));
  EXPECT_EQ(transport.last.method, "POST");
  EXPECT_EQ(transport.last.path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(transport.last.body,
            R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":"secret\""}})");
}

// A server that does not know audiences must not authenticate a token that was issued for itself.
TEST(ApiReviewer, ATokenForAnAudienceCountsOnlyIfTheServerSaysItIsForThatAudience) {
  FakeTransport transport;
  ApiReviewer reviewer(transport);
  transport.body = R"({"status":{"authenticated":true,"user":{"username":"u"},"audiences":["x","berth-scheduler"]}})";
  const auto user = reviewer.ReviewToken("t", "berth-scheduler");
  ASSERT_TRUE(user.ok() && user->has_value());
  EXPECT_EQ(transport.last.body, R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",)"
                                 R"("spec":{"token":"t","audiences":["berth-scheduler"]}})");
  for (const char* audiences : {"", R"(,"audiences":[])", R"(,"audiences":["https://kubernetes.default.svc"])"}) {
    transport.body = R"({"status":{"authenticated":true,"user":{"username":"u"})" + std::string(audiences) + "}}";
    EXPECT_EQ(*reviewer.ReviewToken("t", "berth-scheduler"), std::nullopt) << audiences;
  }
}

TEST(ApiReviewer, TellsNobodysTokenFromAnError) {
  FakeTransport transport;
  ApiReviewer reviewer(transport);
  transport.body = R"({"status":{}})";
  EXPECT_EQ(*reviewer.ReviewToken("t", ""), std::nullopt);
  for (const auto& [status, body] :
       std::vector<std::pair<int, std::string>>{{201, R"({"status":{"error":"cannot verify"}})"},
                                                {201, "rubbish"},
                                                {201, "{}"},
                                                {201, "[]"},
                                                {403, "{}"},
                                                {0, ""}}) {
    transport.status = status;
    transport.body = body;
    EXPECT_FALSE(reviewer.ReviewToken("t", "").ok()) << status << " " << body;
    if (body != R"({"status":{"error":"cannot verify"}})") {
      EXPECT_FALSE(reviewer.ReviewAccess({}).ok()) << status << " " << body;
    }
  }
}

TEST(ApiReviewer, AsksForAccess) {
  FakeTransport transport;
  ApiReviewer reviewer(transport);
  transport.body = R"({"status":{"allowed":true,"reason":"RBAC: allowed"}})";
  const auto answer = reviewer.ReviewAccess({{"jane", "7", {"devs"}, {{"k", {"v"}}}}, "get", "/metrics"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_TRUE(answer->allowed);
  EXPECT_FALSE(answer->denied);
  EXPECT_EQ(answer->reason, "RBAC: allowed");
  EXPECT_EQ(transport.last.path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(transport.last.body,
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"nonResourceAttributes":)"
            R"({"path":"/metrics","verb":"get"},"user":"jane","groups":["devs"],"extra":{"k":["v"]},"uid":"7"}})");
}

TEST(ClusterAuthentication, IsReadFromTheConfigMap) {
  FakeTransport transport;
  transport.status = 200;
  transport.body = R"({"kind":"ConfigMap","data":{"client-ca-file":"PEM1","requestheader-client-ca-file":"PEM2",
      "requestheader-allowed-names":"[\"front-proxy-client\"]","requestheader-username-headers":"[\"X-Remote-User\"]",
      "requestheader-group-headers":"[\"X-Remote-Group\"]","requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]"}})";
  const auto found = LookUpClusterAuthentication(transport);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->client_ca, "PEM1");
  EXPECT_EQ(found->request_header_ca, "PEM2");
  EXPECT_THAT(found->request_header.allowed_names, ElementsAre("front-proxy-client"));
  EXPECT_THAT(found->request_header.username_headers, ElementsAre("X-Remote-User"));
  EXPECT_EQ(transport.last.path, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");

  transport.body = R"({"data":{"requestheader-allowed-names":"{}"}})";
  EXPECT_THAT(LookUpClusterAuthentication(transport).error().message, HasSubstr("expected a list, found an object"));
  transport.status = 403;
  EXPECT_THAT(LookUpClusterAuthentication(transport).error().message, HasSubstr("expected status 200, found 403"));
}

}  // namespace
}  // namespace berth::serving
