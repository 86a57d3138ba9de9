#include "http/rest_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "http/testing/tls_identity.h"

namespace berth::http {
namespace {

using base::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

class RestConfigTest : public ::testing::Test {
 protected:
  // `cluster` and `user` in YAML.
  std::string Kubeconfig(const std::string& cluster, const std::string& user = "{}") const {
    return folder_.Write("config",
                         "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                         "clusters: [{name: c, cluster: " +
                             cluster + "}]\nusers: [{name: u, user: " + user + "}]\n");
  }
  Result<RestConfig> Build(const std::string& kubeconfig, const std::string& master = "") const {
    return BuildRestConfig({.kubeconfig = kubeconfig}, master, "agent", clock_, surroundings_);
  }
  static std::string Authorization(const RestConfig& config) { return (*config.credentials->Fetch())->authorization; }

  const TemporaryFolder folder_;
  const base::FakeClock clock_;
  std::map<std::string, std::string> environment_;
  Surroundings surroundings_{.environment = [this](const char* name) { return environment_[name]; },
                             .service_account = folder_.path() + "/account"};
};

TEST_F(RestConfigTest, TakesAllFromAKubeconfig) {
  const std::string ca = TestAuthority().certificate();
  folder_.Write("ca.crt", ca);
  const Result<RestConfig> rest =
      BuildRestConfig({.kubeconfig = Kubeconfig(
                           "{server: \"https://h:1/p/\", certificate-authority: ca.crt, tls-server-name: name, "
                           "proxy-url: \"http://p:2\"}",
                           "{token: t, as: jane, as-uid: \"1\", as-groups: [g], as-user-extra: {\"a/b%\": [v, w]}}"),
                       .content_type = "application/json",
                       .qps = 20,
                       .burst = 30},
                      "", "agent", clock_, surroundings_);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->server, "https://h:1/p");
  EXPECT_EQ(rest->ca, ca);
  EXPECT_EQ(rest->tls_server_name, "name");
  EXPECT_EQ(rest->proxy_url, "http://p:2");
  EXPECT_EQ(Authorization(*rest), "Bearer t");
  EXPECT_THAT(rest->impersonation, ElementsAre(Pair("Impersonate-User", "jane"), Pair("Impersonate-Uid", "1"),
                                               Pair("Impersonate-Group", "g"), Pair("Impersonate-Extra-a%2Fb%25", "v"),
                                               Pair("Impersonate-Extra-a%2Fb%25", "w")));
  EXPECT_EQ(rest->qps, 20);
  EXPECT_EQ(rest->burst, 30);
  EXPECT_EQ(rest->content_type, "application/json");
  EXPECT_EQ(rest->user_agent, "agent");
  EXPECT_TRUE(rest->disable_compression);
}

TEST_F(RestConfigTest, MasterAloneIsEnough) {
  const std::pair<const char*, const char*> table[] = {{"https://h:1", "https://h:1"},
                                                       {"h:1", "http://h:1"},
                                                       {"https://[::1]:1/", "https://[::1]:1"},
                                                       {"h", "http://h"}};
  for (const auto& [master, server] : table) {
    const Result<RestConfig> rest = Build("", master);
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->server, server);
    EXPECT_EQ(Authorization(*rest), "");
  }
  EXPECT_EQ(Build(Kubeconfig("{server: \"https://h\"}"), "https://other:2")->server, "https://other:2");
  EXPECT_EQ(Build("", "ftp://h").error().message, "host must be a URL or a host:port pair: \"ftp://h\"");
}

TEST_F(RestConfigTest, SendsNoCredentialsInTheClear) {
  EXPECT_EQ(Authorization(*Build(Kubeconfig("{server: \"http://h\"}", "{token: t}"))), "");
}

TEST_F(RestConfigTest, RunsThePluginOnlyIfNothingElseSaysWhoAsks) {
  const std::string plugin = folder_.WriteProgram("plugin", R"(#!/bin/sh
echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "p"}}'
)");
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin}";
  EXPECT_EQ(Authorization(*Build(Kubeconfig("{server: \"https://h\"}", "{" + exec + "}"))), "Bearer p");
  EXPECT_EQ(Authorization(*Build(Kubeconfig("{server: \"https://h\"}", "{token: t, " + exec + "}"))), "Bearer t");
}

TEST_F(RestConfigTest, UsesTheServiceAccountOfItsPod) {
  environment_ = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const std::string ca = TestAuthority().certificate();
  folder_.Write("account/token", "account-token\n");
  folder_.Write("account/ca.crt", ca);
  const Result<RestConfig> rest = Build("");
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->server, "https://[fd00::1]:443");
  EXPECT_EQ(rest->ca, ca);
  EXPECT_EQ(Authorization(*rest), "Bearer account-token");
  folder_.Write("account/token", "rotated");
  EXPECT_EQ(Authorization(*rest), "Bearer rotated");
  EXPECT_EQ(Build(folder_.Write("empty", ""))->server, "https://[fd00::1]:443");
}

TEST_F(RestConfigTest, SaysThatThereIsNoServer) {
  EXPECT_THAT(Build("").error().message,
              AllOf(StartsWith("invalid configuration: no configuration has been provided, try setting "
                               "KUBERNETES_MASTER environment variable"),
                    HasSubstr("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined")));
}

TEST_F(RestConfigTest, RefusesWhatCannotWork) {
  const auto error = [&](const std::string& cluster, const std::string& user) {
    return Build(Kubeconfig(cluster, user)).error().message;
  };
  EXPECT_THAT(error("{server: \"https://h\", certificate-authority-data: eA==}", "{}"),
              HasSubstr("certificate-authority-data of cluster \"c\": unable to load root certificates"));
  folder_.Write("ca.crt", TestAuthority().certificate());
  EXPECT_EQ(error("{server: \"https://h\", certificate-authority: ca.crt, insecure-skip-tls-verify: true}", "{}"),
            "specifying a root certificates file with the insecure flag is not allowed");
  EXPECT_THAT(error("{server: \"https://h\"}", "{client-certificate-data: eA==, client-key-data: eA==}"),
              StartsWith("user \"u\": failed parsing client key/certificate"));
  EXPECT_EQ(BuildRestConfig({.qps = 5, .burst = 0}, "https://h", "", clock_, surroundings_).error().message,
            "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0");
}

TEST_F(RestConfigTest, LimitsAsClientGoDoes) {
  const auto limits = [&](float qps, int burst) {
    const Result<RestConfig> rest = BuildRestConfig({.qps = qps, .burst = burst}, "h", "", clock_, surroundings_);
    return std::pair(rest->qps, rest->burst);
  };
  EXPECT_EQ(limits(50, 100), std::pair(50.0, 100));
  EXPECT_EQ(limits(0, 0), std::pair(5.0, 10));
  EXPECT_EQ(limits(-1, 0), std::pair(-1.0, 0));
}

TEST(UserAgent, HasUpstreamsForm) {
  EXPECT_THAT(UserAgent("kube-scheduler", "0.1.0"), StartsWith("kube-scheduler/berth-0.1.0 (linux/"));
}

}  // namespace
}  // namespace berth::http
