#include "serving/server_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/secure_serving.h"
#include "serving/testing/certificates.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Handshake {
  std::string name;   // the first DNS name of the server's certificate; empty if the handshake failed
  std::string group;  // of the key exchange
};

// What a client sees that asks for `server_name` (none if empty) and offers `groups`.
Handshake Connect(uint16_t port, const std::string& server_name, const char* groups = "X25519:P-256:P-384") {
  const std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set1_groups_list(context.get(), groups);
  const std::unique_ptr<BIO, OpensslFree<BIO_free_all>> bio(BIO_new_ssl_connect(context.get()));
  BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  SSL* ssl = nullptr;
  BIO_get_ssl(bio.get(), &ssl);
  if (!server_name.empty()) SSL_set_tlsext_host_name(ssl, server_name.c_str());
  Handshake seen;
  if (BIO_do_connect(bio.get()) == 1 && BIO_do_handshake(bio.get()) == 1) {
    const CertificateHandle shown(SSL_get1_peer_certificate(ssl));
    const std::vector<std::string> names = NamesOf(shown.get());
    seen.name = names.empty() ? "(none)" : names.front();
    seen.group = OBJ_nid2sn(static_cast<int>(SSL_get_negotiated_group(ssl)));
  }
  ERR_clear_error();
  return seen;
}

class ServerNamesTest : public testing::Test {
 protected:
  ServerNamesTest() {
    pages_.metrics = &registry_;
    options_.server.bind_address = "127.0.0.1";
    const PemPair pair = PairFor("everybody.example");
    options_.tls.cert_file = folder_.Write("everybody.crt", pair.certificate);
    options_.tls.private_key_file = folder_.Write("everybody.key", pair.private_key);
  }
  PemPair PairFor(const std::string& host) {
    return *GenerateSelfSigned({.host = host}, KeyKind::kEcdsa, clock_.Now());
  }
  void AddNamed(const std::string& file, const std::string& host, std::vector<std::string> names) {
    const PemPair pair = PairFor(host);
    options_.tls.named_pairs.push_back({folder_.Write(file + ".crt", pair.certificate),
                                        folder_.Write(file + ".key", pair.private_key), std::move(names)});
  }
  Result<void> Start() {
    auto started = SecureServing::Start(options_, pages_, nullptr, nullptr, clock_);
    if (!started) return started.error();
    serving_ = std::move(*started);
    return {};
  }
  std::string NameFor(const std::string& server_name) { return Connect(serving_->port(), server_name).name; }

  base::SystemClock clock_;
  TestFolder folder_;
  metrics::Registry registry_;
  Pages pages_;
  SecureServingOptions options_;
  std::unique_ptr<SecureServing> serving_;
};

TEST_F(ServerNamesTest, EachClientGetsTheCertificateOfTheNameItAsksFor) {
  AddNamed("own", "own.example", {});
  AddNamed("wild", "wild.example", {"*.wild.example", "other.example"});
  AddNamed("late", "late.example", {"other.example", "own.example"});
  AddNamed("address", "by-address.example", {"127.0.0.1"});
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(NameFor("OWN.example"), "late.example") << "a name that is given wins over one that was read";
  EXPECT_EQ(NameFor("a.wild.example"), "wild.example");
  EXPECT_EQ(NameFor("a.b.wild.example"), "everybody.example") << "one label only";
  EXPECT_EQ(NameFor("wild.example"), "everybody.example") << "names were given, so those inside do not count";
  EXPECT_EQ(NameFor("other.example"), "wild.example") << "the first that has the name";
  EXPECT_EQ(NameFor("unheard.example"), "everybody.example");
  EXPECT_EQ(NameFor(""), "by-address.example") << "no name: the address that was connected to";
}

TEST_F(ServerNamesTest, AChangedPairIsReadAgain) {
  AddNamed("named", "before.example", {"asked.example"});
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(NameFor("asked.example"), "before.example");
  const PemPair pair = PairFor("after.example");
  folder_.Write("named.crt", pair.certificate);
  EXPECT_EQ(NameFor("asked.example"), "before.example") << "half a pair is no pair";
  folder_.Write("named.key", pair.private_key);
  EXPECT_EQ(NameFor("asked.example"), "after.example");
}

TEST_F(ServerNamesTest, AMissingFileIsAnErrorAtTheStart) {
  options_.tls.named_pairs = {{"none.crt", "none.key", {}}};
  EXPECT_THAT(Start().error().message, HasSubstr("--tls-sni-cert-key: none.crt: cannot be read"));
}

TEST_F(ServerNamesTest, KeyExchangesAreThoseOfTheFlag) {
  options_.tls.curve_preferences = {24, 23};
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Connect(serving_->port(), "", "X25519:P-256:P-384").group, "secp384r1");
  EXPECT_EQ(Connect(serving_->port(), "", "X25519:P-256").group, "prime256v1");
  EXPECT_EQ(Connect(serving_->port(), "", "X25519").name, "");
}

TEST_F(ServerNamesTest, KeyExchangesThatMakeNoSenseAreRefused) {
  struct Case {
    std::vector<int32_t> numbers;
    const char* error;
  };
  for (const Case& c :
       {Case{{0}, "curve preference 0 is out of range (must be 1-65535)"},
        Case{{29, 29}, "duplicate curve preference 29"}, Case{{29, 9}, "curve preference 9 is not supported"}}) {
    options_.tls.curve_preferences = c.numbers;
    const Result<void> started = Start();
    ASSERT_FALSE(started.ok()) << c.error;
    EXPECT_THAT(started.error().message, HasSubstr(c.error));
  }
  // Known to Go, and to some versions of OpenSSL.
  options_.tls.curve_preferences = {4588, 29};
  EXPECT_TRUE(Start().ok());
}

TEST_F(ServerNamesTest, APortIsSharedByThoseThatPermitIt) {
  options_.server.share_port = true;
  ASSERT_TRUE(Start().ok());
  options_.server.port = serving_->port();
  auto second = SecureServing::Start(options_, pages_, nullptr, nullptr, clock_);
  EXPECT_TRUE(second.ok());
  options_.server.share_port = false;
  auto third = SecureServing::Start(options_, pages_, nullptr, nullptr, clock_);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().message, HasSubstr("failed to create listener"));
}

TEST(NamesOf, AreTheCommonNameIfItIsOneAndTheDnsNames) {
  const auto names = [](const std::string& common_name) {
    const PemPair pair = TestAuthority("ca").Sign({.name = common_name});
    return NamesOf(ReadPemCertificates(pair.certificate).at(0).get());
  };
  EXPECT_THAT(names("foo.example"), ElementsAre("foo.example"));
  EXPECT_THAT(names("*.foo.example"), ElementsAre("*.foo.example"));
  for (const char* no_name : {"10.0.0.1", "::1", "Jane Doe", "UPPER.example", "-a.example", "a..b"}) {
    EXPECT_THAT(names(no_name), ElementsAre()) << no_name;
  }
}

}  // namespace
}  // namespace berth::serving
