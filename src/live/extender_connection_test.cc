#include "live/extender_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/testing/http_server.h"
#include "http/testing/tls_identity.h"
#include "testing/builders.h"

namespace berth::live {
namespace {

using berth::testing::MakePod;
using http::HttpServer;
using http::ServedReply;
using http::ServedRequest;

class ExtenderConnectionTest : public ::testing::Test {
 protected:
  ExtenderConnectionTest() { extender_.url_prefix = "https://extender.example/v1//"; }

  // Starts from an empty configuration.
  config::ExtenderTlsConfig& Tls() { return extender_.tls_config.emplace(); }
  Result<http::RestConfig> Read() const { return ExtenderRestConfig(extender_, "berth", clock_); }

  config::Extender extender_;
  base::SystemClock clock_;
};

TEST_F(ExtenderConnectionTest, WithoutTlsSettingsTheSystemVouches) {
  const auto config = Read();
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->server, "https://extender.example/v1");
  EXPECT_FALSE(config->insecure);
  EXPECT_EQ(config->ca, "");
  const auto credentials = config->credentials->Fetch();
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ((*credentials)->client_certificate, "");
}

TEST_F(ExtenderConnectionTest, EnableHttpsTrustsAnybodyWithoutAuthorities) {
  extender_.enable_https = true;
  EXPECT_TRUE(Read()->insecure);
  extender_.enable_https = false;
  Tls().insecure = true;
  extender_.tls_config->server_name = "other";
  EXPECT_TRUE(Read()->insecure);
  EXPECT_EQ(Read()->tls_server_name, "other");
}

TEST_F(ExtenderConnectionTest, SaysWhatIsWrong) {
  Tls().ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(Read().error().message, ::testing::HasSubstr("/nowhere/ca.pem"));
  Tls().ca_data = "not PEM";
  EXPECT_FALSE(Read().ok());
  extender_.url_prefix = "extender.example:80";
  EXPECT_EQ(MakeHttpExtenders({&extender_, 1}, "berth", clock_).error().message,
            "couldn't build extenders: extenders[0]: urlPrefix: expected an "
            "address that begins with http:// or "
            "https://, found \"extender.example:80\"");
}

TEST_F(ExtenderConnectionTest, ShowsItsCertificateToOneThatIsVouchedFor) {
  const http::TestAuthority authority;
  const http::TlsIdentity server_identity = authority.Issue("extender");
  const http::TlsIdentity client_identity = authority.Issue("scheduler");
  std::string client_name, path, body;
  HttpServer server(
      [&](const ServedRequest& request, ServedReply& reply) {
        client_name = request.client_name;
        path = request.path;
        body = request.body;
        reply.Send(200, R"({"Error":"taken"})");
      },
      {.identity = &server_identity, .client_authority = authority.certificate()});
  extender_.url_prefix = server.url() + "/v1/";
  extender_.bind_verb = "bind";
  Tls().ca_data = authority.certificate();
  extender_.tls_config->cert_data = client_identity.certificate;
  extender_.tls_config->key_data = client_identity.key;
  const auto extenders = MakeHttpExtenders({&extender_, 1}, "berth", clock_);
  ASSERT_TRUE(extenders.ok()) << extenders.error().message;
  EXPECT_EQ(extenders->front()->Bind(*MakePod("web").Info(), "n1").error().message, "taken");
  EXPECT_EQ(client_name, "scheduler");
  EXPECT_EQ(path, "/v1/bind");
  EXPECT_EQ(body, R"({"PodName":"web","PodNamespace":"default","PodUID":"default/web","Node":"n1"})");

  extender_.tls_config->ca_data = http::TestAuthority("somebody else").certificate();
  const auto doubtful = MakeHttpExtenders({&extender_, 1}, "berth", clock_);
  ASSERT_TRUE(doubtful.ok());
  EXPECT_THAT(doubtful->front()->Bind(*MakePod("web").Info(), "n1").error().message,
              ::testing::HasSubstr("certificate"));
}

TEST_F(ExtenderConnectionTest, DoesNotWaitForever) {
  HttpServer server([](const ServedRequest&, ServedReply& reply) { reply.WaitForEnd(); });
  extender_.url_prefix = server.url();
  extender_.bind_verb = "bind";
  extender_.http_timeout = std::chrono::milliseconds(50);
  const auto extenders = MakeHttpExtenders({&extender_, 1}, "berth", clock_);
  ASSERT_TRUE(extenders.ok()) << extenders.error().message;
  const Result<void> bound = extenders->front()->Bind(*MakePod("web").Info(), "n1");
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().code, ErrorCode::kDeadlineExceeded) << bound.error().message;
}

}  // namespace
}  // namespace berth::live
