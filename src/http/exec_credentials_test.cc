#include "http/exec_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/time.h"
#include "base/testing/temporary_folder.h"
#include "http/testing/tls_identity.h"

namespace berth::http {
namespace {

using namespace std::chrono_literals;
using base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

// A plugin that prints `status` and counts its runs; "$run" in the status is the number of the run.
class ExecCredentialsTest : public ::testing::Test {
 protected:
  ExecConfig Plugin(const std::string& status, const std::string& before = "") const {
    const std::string script = "#!/bin/sh\n" + before + "\necho x >>" + folder_.path() + "/runs\nrun=$(wc -l <" +
                               folder_.path() +
                               "/runs | tr -d ' ')\ncat <<END\n{\"kind\": \"ExecCredential\", \"apiVersion\": \"" +
                               kVersion + "\"" + status + "}\nEND\n";
    return {.command = folder_.WriteProgram("plugin", script), .api_version = kVersion};
  }

  Result<CredentialsPtr> Ask(CredentialSource& source) {
    if (CredentialsPtr current = source.Current()) return current;
    return source.Fetch();
  }

  const TemporaryFolder folder_;
  base::FakeClock clock_{*api::ParseTime("2030-01-01T00:00:00Z")};
};

TEST_F(ExecCredentialsTest, KeepsATokenUntilItExpires) {
  ExecCredentials source(Plugin(R"(, "status": {"token": "t$run", "expirationTimestamp": "2030-01-01T01:00:00Z"})"), {},
                         clock_);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer t1");
  clock_.Advance(1h);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer t1");
  clock_.Advance(1s);
  EXPECT_EQ(source.Current(), nullptr);
  // The plugin's output is used once even if it has expired.
  EXPECT_EQ((*Ask(source))->authorization, "Bearer t2");
}

TEST_F(ExecCredentialsTest, RunsAgainWhenTheTokenIsRefused) {
  ExecCredentials source(Plugin(R"(, "status": {"token": "t$run"})"), {}, clock_);
  const CredentialsPtr first = *Ask(source);
  clock_.Advance(10000h);
  EXPECT_EQ(*Ask(source), first);
  EXPECT_TRUE(source.Refuse(first));
  EXPECT_EQ((*Ask(source))->authorization, "Bearer t2");
  EXPECT_TRUE(source.Refuse(first));  // a late answer
  EXPECT_EQ((*Ask(source))->authorization, "Bearer t2");
}

TEST_F(ExecCredentialsTest, TellsThePluginAboutTheCluster) {
  ExecConfig config =
      Plugin(R"(, "status": {"token": "t"})", "echo \"$1 $OWN $KUBERNETES_EXEC_INFO\" >" + folder_.path() + "/told");
  config.args = {"argument"};
  config.env = {{"OWN", "value"}};
  const ClusterEntry cluster = {
      .server = "https://s", .tls_server_name = "n", .certificate_authority_data = "ca", .proxy_url = "http://p"};
  const auto told = [&]() -> std::string {
    ExecCredentials source(config, cluster, clock_);
    EXPECT_TRUE(Ask(source));
    return *ReadFile(folder_.path() + "/told");
  };
  EXPECT_EQ(told(), R"(argument value {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                    R"("spec":{"interactive":false}})"
                    "\n");
  config.provide_cluster_info = true;
  config.cluster_extension = R"({"audience":"x"})";
  EXPECT_EQ(
      told(),
      R"(argument value {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
      R"({"server":"https://s","tls-server-name":"n","certificate-authority-data":"Y2E=","proxy-url":"http://p",)"
      R"("config":{"audience":"x"}},"interactive":false}})"
      "\n");
}

TEST_F(ExecCredentialsTest, TakesACertificate) {
  const TlsIdentity identity = TestAuthority().Issue("me", "");
  const auto escaped = [](std::string pem) {
    for (size_t at = 0; (at = pem.find('\n', at)) != std::string::npos; at += 2) pem.replace(at, 1, "\\n");
    return pem;
  };
  ExecCredentials source(Plugin(", \"status\": {\"clientCertificateData\": \"" + escaped(identity.certificate) +
                                "\", \"clientKeyData\": \"" + escaped(identity.key) + "\"}"),
                         {}, clock_);
  const Result<CredentialsPtr> credentials = Ask(source);
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ((*credentials)->client_certificate, identity.certificate);
  EXPECT_EQ((*credentials)->client_key, identity.key);
  EXPECT_EQ((*credentials)->authorization, "");
}

TEST_F(ExecCredentialsTest, SaysWhatIsWrongWithAnAnswer) {
  const std::pair<const char*, const char*> table[] = {
      {"", "exec plugin didn't return a status field"},
      {R"(, "status": {})", "exec plugin didn't return a token or cert/key pair"},
      {R"(, "status": {"clientKeyData": "x"})", "exec plugin returned only certificate or key, not both"},
      {R"(, "status": {"clientKeyData": "x", "clientCertificateData": "y"})",
       "failed parsing client key/certificate: expected a certificate in PEM, found none"},
      {R"(, "apiVersion": "client.authentication.k8s.io/v1beta1")",
       "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin returned version "
       "client.authentication.k8s.io/v1beta1"},
      {R"(, "status": {"token": 5})", "status.token: expected a string, found number 5"},
      {R"(, "status": {)", "decoding stdout: "},
  };
  for (const auto& [status, error] : table) {
    ExecCredentials source(Plugin(status), {}, clock_);
    const Result<CredentialsPtr> credentials = Ask(source);
    ASSERT_FALSE(credentials) << status;
    EXPECT_EQ(credentials.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(credentials.error().message, HasSubstr(error));
  }
}

TEST_F(ExecCredentialsTest, TellsHowARunEnded) {
  std::vector<std::string> calls;
  const ExecObserver observer = [&](std::string_view status, int code) {
    calls.push_back(std::string(status) + " " + std::to_string(code));
  };
  ExecConfig config = Plugin("", "exit 3");
  ExecCredentials failing(config, {}, clock_, observer);
  EXPECT_EQ(Ask(failing).error().message, "exec: executable " + config.command + " failed with exit code 3");

  ExecCredentials working(Plugin(R"(, "status": {"token": "t"})"), {}, clock_, observer);
  EXPECT_TRUE(Ask(working));

  config.command = "berth-no-such-plugin";
  config.install_hint = "get it at the usual place";
  ExecCredentials absent(config, {}, clock_, observer);
  EXPECT_THAT(Ask(absent).error().message, EndsWith("get it at the usual place"));
  for (int i = 1; i < 10; ++i) ASSERT_FALSE(Ask(absent));
  EXPECT_EQ(Ask(absent).error().message, "exec: executable berth-no-such-plugin not found");
  EXPECT_THAT(std::vector(calls.begin(), calls.begin() + 3),
              ElementsAre("plugin_execution_error 3", "no_error 0", "plugin_not_found_error 1"));
}

TEST_F(ExecCredentialsTest, RefusesToAskAPersonWhoIsNotThere) {
  ExecConfig config = Plugin(R"(, "status": {"token": "t"})");
  config.interactive_mode = ExecConfig::InteractiveMode::kAlways;
  ExecCredentials source(config, {}, clock_);
  if (isatty(STDIN_FILENO) == 1) GTEST_SKIP() << "there is a terminal";
  EXPECT_EQ(Ask(source).error().message,
            "exec plugin cannot support interactive mode: standard input is not a terminal");
}

TEST_F(ExecCredentialsTest, EndsAPluginThatHangs) {
  // The plugin signals through a pipe that it is running, then waits for input that never comes.
  const std::string pipe = folder_.path() + "/running", never = folder_.path() + "/never";
  ASSERT_EQ(std::system(("mkfifo " + pipe + " " + never).c_str()), 0);
  ExecCredentials source(Plugin("", "echo x >" + pipe + "\ncat " + never), {}, clock_);
  std::thread asking([&] {
    const Result<CredentialsPtr> credentials = Ask(source);
    ASSERT_FALSE(credentials);
    EXPECT_THAT(credentials.error().message, HasSubstr("failed with exit code -1"));
  });
  EXPECT_EQ(*ReadFile(pipe), "x\n");
  source.Interrupt();
  asking.join();
}

}  // namespace
}  // namespace berth::http
