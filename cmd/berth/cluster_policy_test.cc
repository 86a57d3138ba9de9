#include "cluster_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cmd {
namespace {

using ::testing::HasSubstr;

// Answers every request with the same response, and records its path.
class OneAnswer final : public http::Transport {
 public:
  OneAnswer(int status, std::string body, http::Headers headers = {})
      : head_{.status = status, .headers = std::move(headers)}, body_(std::move(body)) {}

  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    path = request.path;
    handler.on_head(head_);
    handler.on_data(body_);
    handler.on_done({});
    return 1;
  }
  void Cancel(http::CallId) override {}

  std::string path;

 private:
  http::ResponseHead head_;
  std::string body_;
};

config::PolicySource Source(std::string name) {
  config::PolicySource source;
  source.config_map = std::move(name);
  return source;
}

TEST(ReadPolicyConfigMap, IsTheTextAtItsKey) {
  OneAnswer api(200, R"({"kind": "ConfigMap", "data": {"policy.cfg": "{}", "other": "x"}})");
  const Result<std::string> text = ReadPolicyConfigMap(api, Source("p"));
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "{}");
  EXPECT_EQ(api.path, "/api/v1/namespaces/kube-system/configmaps/p");
}

TEST(ReadPolicyConfigMap, ErrorsReadAsUpstreams) {
  OneAnswer missing(404, R"({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
                             "message": "configmaps \"p\" not found", "code": 404})");
  EXPECT_EQ(ReadPolicyConfigMap(missing, Source("p")).error().message,
            "couldn't get policy config map kube-system/p: configmaps \"p\" not found");
  OneAnswer other_key(200, R"({"kind": "ConfigMap", "data": {"policy": "{}"}})");
  EXPECT_EQ(ReadPolicyConfigMap(other_key, Source("p")).error().message,
            "missing policy config map value at key \"policy.cfg\"");
  OneAnswer page(200, "<html>sign in", {{"content-type", "text/html"}});
  EXPECT_THAT(ReadPolicyConfigMap(page, Source("p")).error().message, HasSubstr("is a web page"));
  OneAnswer torn(200, "{");
  EXPECT_FALSE(ReadPolicyConfigMap(torn, Source("p")).ok());
}

}  // namespace
}  // namespace berth::cmd
