#include "live/credential_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "serving/testing/certificates.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialPluginsTest : public ::testing::Test {
 protected:
  // Credentials from a plugin with this script.
  std::shared_ptr<http::CredentialSource> FromPlugin(const std::string& script) {
    const std::string program = folder_.Write("plugin.sh", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    config::ClientConnection connection;
    connection.kubeconfig = folder_.Write("kubeconfig", R"(
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ")" +
                                                            program + R"(", interactiveMode: Never}
)");
    auto rest = http::BuildRestConfig(connection, "", "test", clock_, plugins_.Watching(http::RealSurroundings()));
    EXPECT_TRUE(rest.ok()) << rest.error().message;
    plugins_.Follow(rest->credentials);
    return rest->credentials;
  }

  serving::TestFolder folder_;
  metrics::Registry registry_;
  base::SystemClock clock_;
  CredentialPlugins plugins_{registry_, clock_};
};

TEST_F(CredentialPluginsTest, CallsAreCountedByHowTheyEnded) {
  const auto good = FromPlugin(
      R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}')");
  EXPECT_TRUE(good->Fetch().ok());
  EXPECT_THAT(registry_.Expose(),
              HasSubstr("rest_client_exec_plugin_call_total{call_status=\"no_error\",code=\"0\"} 1\n"));
  EXPECT_FALSE(FromPlugin("exit 3")->Fetch().ok());
  EXPECT_THAT(registry_.Expose(),
              HasSubstr("rest_client_exec_plugin_call_total{call_status=\"plugin_execution_error\",code=\"3\"} 1\n"));
}

TEST_F(CredentialPluginsTest, ACertificatesLifeIsToldOnceThereIsOne) {
  EXPECT_THAT(registry_.Expose(), HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf\n"));
  const serving::PemPair pair = serving::TestAuthority("ca").Sign({.name = "me"});
  folder_.Write("me.crt", pair.certificate);
  folder_.Write("me.key", pair.private_key);
  const auto source =
      FromPlugin("f=" + folder_.path() +
                 R"(; c=$(sed 's/$/\\n/' $f/me.crt | tr -d '\n'); k=$(sed 's/$/\\n/' $f/me.key | tr -d '\n')
printf '%s' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"'"$c"'","clientKeyData":"'"$k"'"}}')");
  const auto fetched = source->Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  const std::string page = registry_.Expose();
  EXPECT_THAT(page, Not(HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf\n")));
  const size_t at = page.find("\nrest_client_exec_plugin_ttl_seconds ");
  ASSERT_NE(at, std::string::npos);
  const double life = std::stod(page.substr(at + 37));
  EXPECT_NEAR(life, 24 * 3600 - 60, 60) << "the test's certificates are good for a day";
}

}  // namespace
}  // namespace berth::live
