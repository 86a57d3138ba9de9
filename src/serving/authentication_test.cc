#include "serving/authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/authorization.h"
#include "serving/testing/certificates.h"
#include "serving/testing/fake_reviewer.h"

namespace berth::serving {
namespace {

using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;

base::Time Now() { return base::SystemClock().Now(); }

HttpRequest WithToken(const std::string& token) { return {.headers = {{"authorization", "Bearer " + token}}}; }

class AuthenticationTest : public testing::Test {
 protected:
  std::unique_ptr<Authenticator> Make(AuthenticationOptions options, bool with_reviewer = true) {
    auto made = Authenticator::Create(options, with_reviewer ? &reviewer_ : nullptr, clock_, monotonic_);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(*made);
  }

  base::FakeClock clock_{Now()}, monotonic_{Now()};
  FakeReviewer reviewer_;
  TestFolder folder_;
  TestAuthority authority_{"cluster-ca"};
};

TEST_F(AuthenticationTest, WithoutCredentialsOneIsAnonymous) {
  const auto user = Make({})->Authenticate({});
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->name, "system:anonymous");
  EXPECT_THAT(user->groups, ElementsAre("system:unauthenticated"));
}

TEST_F(AuthenticationTest, TokensAreReviewedOnceWhileTheAnswerHolds) {
  reviewer_.tokens["good"] = {.name = "prometheus", .groups = {"monitoring"}};
  const auto authenticator = Make({.token_cache_ttl = 10s});
  EXPECT_FALSE(authenticator->TryAuthenticate(WithToken("good")).has_value());
  for (int i = 0; i < 3; ++i) {
    const auto user = authenticator->Authenticate(WithToken("good"));
    ASSERT_TRUE(user.ok());
    EXPECT_EQ(user->name, "prometheus");
    EXPECT_THAT(user->groups, ElementsAre("monitoring", "system:authenticated"));
    EXPECT_FALSE(authenticator->Authenticate(WithToken("bad")).ok());
  }
  EXPECT_TRUE(authenticator->TryAuthenticate(WithToken("good")).has_value());
  EXPECT_EQ(reviewer_.token_reviews, 2);
  monotonic_.Advance(10s);
  EXPECT_TRUE(authenticator->Authenticate(WithToken("good")).ok());
  EXPECT_EQ(reviewer_.token_reviews, 3);
}

TEST_F(AuthenticationTest, AWallClockThatWasSetBackKeptTokensValid) {
  reviewer_.tokens["good"] = {.name = "prometheus"};
  const auto authenticator = Make({.token_cache_ttl = 10s});
  EXPECT_TRUE(authenticator->Authenticate(WithToken("good")).ok());
  clock_.Advance(-3600s);
  monotonic_.Advance(10s);
  EXPECT_FALSE(authenticator->TryAuthenticate(WithToken("good")).has_value());
}

// A clock that advances by a second whenever it is read.
class TickingClock final : public base::Clock {
 public:
  base::Time Now() const override { return now_ += 1s; }

 private:
  mutable base::Time now_{};
};

TEST_F(AuthenticationTest, ATokenThatExpiredBetweenLookUpAndReviewBlockedWhoMayNotWait) {
  reviewer_.tokens["good"] = {.name = "prometheus"};
  const TickingClock ticking;
  const auto authenticator = *Authenticator::Create({.token_cache_ttl = 10s}, &reviewer_, clock_, ticking);
  EXPECT_TRUE(authenticator->Authenticate(WithToken("good")).ok());
  int known = 0;
  while (known < 100 && authenticator->TryAuthenticate(WithToken("good")).has_value()) ++known;
  // Each lookup reads the clock once; the tenth finds nothing and must not call the reviewer.
  EXPECT_EQ(known, 9);
  EXPECT_EQ(reviewer_.token_reviews, 1);
}

TEST_F(AuthenticationTest, AnErrorOfTheReviewerIsNotKept) {
  reviewer_.tokens["good"] = {.name = "prometheus"};
  const auto authenticator = Make({});
  reviewer_.down = true;
  EXPECT_FALSE(authenticator->Authenticate(WithToken("good")).ok());
  reviewer_.down = false;
  EXPECT_TRUE(authenticator->Authenticate(WithToken("good")).ok());
}

TEST_F(AuthenticationTest, WhatIsNoBearerTokenIsIgnored) {
  const auto authenticator = Make({});
  for (const char* header : {"Basic dXNlcg==", "Bearer", "Bearer ", "", "good"}) {
    const auto user = authenticator->Authenticate({.headers = {{"authorization", header}}});
    ASSERT_TRUE(user.ok()) << header;
    EXPECT_EQ(user->name, "system:anonymous") << header;
  }
  EXPECT_EQ(Make({}, /*with_reviewer=*/false)->Authenticate(WithToken("good"))->name, "system:anonymous");
  EXPECT_EQ(reviewer_.token_reviews, 0);
}

TEST_F(AuthenticationTest, ACertificateNamesTheUser) {
  const auto authenticator = Make({.client_ca_file = folder_.Write("ca.crt", authority_.pem())});
  const std::string der = DerOf(authority_.Sign({"admin", {"system:masters", "ops"}}).certificate);
  const auto user = authenticator->Authenticate({.client_certificates = {der}});
  ASSERT_TRUE(user.ok()) << user.error().message;
  EXPECT_EQ(user->name, "admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters", "ops", "system:authenticated"));
  EXPECT_THAT(user->extra.at("authentication.kubernetes.io/credential-id"), ElementsAre(HasSubstr("X509SHA256=")));
}

TEST_F(AuthenticationTest, ABadCertificateFailsUnlessATokenIsGood) {
  const auto authenticator = Make({.client_ca_file = folder_.Write("ca.crt", authority_.pem())});
  reviewer_.tokens["good"] = {.name = "prometheus"};
  const TestAuthority other("cluster-ca");
  struct Case {
    const char* what;
    std::string certificate;
  };
  for (const Case& c :
       {Case{"of another authority", other.Sign({"admin"}).certificate},
        Case{"for servers", authority_.Sign({.name = "admin", .usage = "serverAuth"}).certificate},
        Case{"expired", authority_.Sign({.name = "admin", .from = Now() - std::chrono::hours(72)}).certificate},
        Case{"not yet valid",
             authority_.Sign({.name = "admin", .from = Now() + std::chrono::hours(72)}).certificate}}) {
    HttpRequest request{.client_certificates = {DerOf(c.certificate)}};
    EXPECT_FALSE(authenticator->Authenticate(request).ok()) << c.what;
    request.headers = {{"authorization", "Bearer good"}};
    const auto user = authenticator->Authenticate(request);
    ASSERT_TRUE(user.ok()) << c.what;
    EXPECT_EQ(user->name, "prometheus");
  }
  EXPECT_FALSE(authenticator->Authenticate({.client_certificates = {"rubbish"}}).ok());
}

TEST_F(AuthenticationTest, AChangedAuthorityFileIsReadAgain) {
  const TestAuthority next("next-ca");
  const std::string file = folder_.Write("ca.crt", authority_.pem());
  const auto authenticator = Make({.client_ca_file = file});
  const HttpRequest request{.client_certificates = {DerOf(next.Sign({"admin"}).certificate)}};
  EXPECT_FALSE(authenticator->Authenticate(request).ok());
  folder_.Write("ca.crt", "no certificate at all");
  EXPECT_FALSE(authenticator->Authenticate(request).ok());
  folder_.Write("ca.crt", next.pem());
  EXPECT_TRUE(authenticator->Authenticate(request).ok());
}

TEST_F(AuthenticationTest, AFrontProxySpeaksForItsUsers) {
  const TestAuthority proxies("proxy-ca");
  AuthenticationOptions options;
  options.request_header.client_ca_file = folder_.Write("proxy.crt", proxies.pem());
  options.request_header.allowed_names = {"front-proxy"};
  const auto authenticator = Make(options);
  HttpRequest request{.headers = {{"x-remote-user", "jane"},
                                  {"x-remote-group", "devs"},
                                  {"x-remote-group", "ops"},
                                  {"x-remote-extra-scopes%2fkind", "view"}}};
  // Any client can send these headers.
  EXPECT_EQ(authenticator->Authenticate(request)->name, "system:anonymous");
  request.client_certificates = {DerOf(proxies.Sign({"front-proxy"}).certificate)};
  const auto user = authenticator->Authenticate(request);
  ASSERT_TRUE(user.ok()) << user.error().message;
  EXPECT_EQ(user->name, "jane");
  EXPECT_THAT(user->groups, ElementsAre("devs", "ops", "system:authenticated"));
  EXPECT_THAT(user->extra.at("scopes/kind"), ElementsAre("view"));
  request.client_certificates = {DerOf(proxies.Sign({"somebody"}).certificate)};
  EXPECT_FALSE(authenticator->Authenticate(request).ok());
}

TEST_F(AuthenticationTest, TheClusterFillsInWhatFlagsLeftOpen) {
  const auto authenticator = Make({});
  const HttpRequest request{.client_certificates = {DerOf(authority_.Sign({"admin"}).certificate)}};
  EXPECT_EQ(authenticator->Authenticate(request)->name, "system:anonymous");
  ASSERT_TRUE(authenticator->Use({.client_ca = authority_.pem()}).ok());
  EXPECT_EQ(authenticator->Authenticate(request)->name, "admin");
  EXPECT_FALSE(authenticator->Use({.client_ca = "rubbish"}).ok());
  EXPECT_EQ(authenticator->Authenticate(request)->name, "admin");
}

TEST_F(AuthenticationTest, AMissingAuthorityFileIsAnError) {
  const auto made =
      Authenticator::Create({.client_ca_file = folder_.path() + "/none.crt"}, nullptr, clock_, monotonic_);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("/none.crt: cannot be read"));
}

class AuthorizationTest : public testing::Test {
 protected:
  std::unique_ptr<Authorizer> Make(AuthorizationOptions options = {}, bool with_reviewer = true) {
    auto made = Authorizer::Create(options, with_reviewer ? &reviewer_ : nullptr, clock_);
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

  base::FakeClock clock_;
  FakeReviewer reviewer_;
};

TEST_F(AuthorizationTest, SomePathsAndGroupsAreAlwaysAllowed) {
  struct Case {
    std::vector<std::string> groups;
    std::string path;
    bool allowed;
  };
  const auto authorizer = Make({.always_allow_paths = {"/healthz", "metrics/*"}}, /*with_reviewer=*/false);
  for (const Case& c : {Case{{}, "/healthz", true}, Case{{}, "/healthz/ping", false}, Case{{}, "/healthzz", false},
                        Case{{}, "/metrics/resources", true}, Case{{}, "/metrics", false}, Case{{}, "/", false},
                        Case{{"a", "system:masters"}, "/metrics", true}}) {
    const auto answer = authorizer->Authorize({{.name = "u", .groups = c.groups}, "get", c.path});
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->allowed, c.allowed) << c.path;
  }
  EXPECT_FALSE(Authorizer::Create({.always_allow_paths = {"/a*b"}}, nullptr, clock_).ok());
}

TEST_F(AuthorizationTest, AnswersHoldForTheirTime) {
  reviewer_.allowed = {{"prometheus", "/metrics"}};
  const auto authorizer = Make({.allow_cache_ttl = 10s, .deny_cache_ttl = 5s});
  const AccessQuestion good{{.name = "prometheus"}, "get", "/metrics"};
  const AccessQuestion bad{{.name = "jane"}, "get", "/metrics"};
  EXPECT_FALSE(authorizer->TryAuthorize(good).has_value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(authorizer->Authorize(good)->allowed);
    EXPECT_FALSE(authorizer->Authorize(bad)->allowed);
  }
  EXPECT_EQ(reviewer_.access_reviews, 2);
  clock_.Advance(5s);
  EXPECT_TRUE(authorizer->TryAuthorize(good).has_value());
  EXPECT_FALSE(authorizer->TryAuthorize(bad).has_value());
  // The user's groups are part of the question.
  EXPECT_FALSE(authorizer->TryAuthorize({{.name = "prometheus", .groups = {"g"}}, "get", "/metrics"}).has_value());
}

TEST_F(AuthorizationTest, AnErrorIsNoAnswer) {
  reviewer_.allowed = {{"prometheus", "/metrics"}};
  const auto authorizer = Make();
  reviewer_.down = true;
  EXPECT_FALSE(authorizer->Authorize({{.name = "prometheus"}, "get", "/metrics"}).ok());
  reviewer_.down = false;
  EXPECT_TRUE(authorizer->Authorize({{.name = "prometheus"}, "get", "/metrics"})->allowed);
}

TEST(TtlCache, IsBounded) {
  base::FakeClock clock;
  TtlCache<int> cache(clock, 2);
  cache.Put("a", 1, 30s);
  cache.Put("b", 2, 10s);
  cache.Put("c", 3, 20s);
  EXPECT_EQ(cache.Get("a"), 1);
  EXPECT_EQ(cache.Get("b"), std::nullopt);
  EXPECT_EQ(cache.Get("c"), 3);
  cache.Put("c", 4, 40s);
  EXPECT_EQ(cache.Get("a"), 1);
  EXPECT_EQ(cache.Get("c"), 4);
  cache.Put("d", 5, 0s);
  EXPECT_EQ(cache.Get("d"), std::nullopt);
}

}  // namespace
}  // namespace berth::serving
