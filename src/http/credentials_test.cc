#include "http/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "http/testing/tls_identity.h"

namespace berth::http {
namespace {

using namespace std::chrono_literals;
using base::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As a transport does.
Result<CredentialsPtr> Ask(CredentialSource& source) {
  if (CredentialsPtr current = source.Current()) return current;
  return source.Fetch();
}

struct HeaderCase {
  CredentialFiles files;
  const char* authorization;
};

TEST(FileCredentials, MakesTheHeader) {
  const base::FakeClock clock;
  for (const HeaderCase& test : {HeaderCase{{}, ""}, HeaderCase{{.token = "abc"}, "Bearer abc"},
                                 HeaderCase{{.username = "u", .password = "p:w"}, "Basic dTpwOnc="}}) {
    FileCredentials source(test.files, clock);
    const CredentialsPtr credentials = *Ask(source);
    EXPECT_EQ(credentials->authorization, test.authorization);
    EXPECT_FALSE(source.Refuse(credentials)) << "nothing else can be had";
    EXPECT_EQ(source.Current(), credentials);
  }
}

TEST(FileCredentials, ReadsATokenAgainAfterAWhile) {
  const TemporaryFolder folder;
  base::FakeClock clock;
  FileCredentials source({.token_file = folder.Write("token", " one\n")}, clock);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer one");
  folder.Write("token", "two");
  clock.Advance(49s);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer one");
  clock.Advance(1s);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer two");
}

TEST(FileCredentials, ReadsATokenAgainWhenItIsRefused) {
  const TemporaryFolder folder;
  const base::FakeClock clock(base::Time(1h));
  FileCredentials source({.token_file = folder.Write("token", "one")}, clock);
  const CredentialsPtr first = *Ask(source);
  folder.Write("token", "two");
  EXPECT_TRUE(source.Refuse(first));
  const CredentialsPtr second = *Ask(source);
  EXPECT_EQ(second->authorization, "Bearer two");
  EXPECT_TRUE(source.Refuse(first));  // a late answer
  EXPECT_EQ(source.Current(), second);
}

TEST(FileCredentials, KeepsTheOldTokenWhileThereIsNoNewOne) {
  const TemporaryFolder folder;
  base::FakeClock clock;
  std::vector<std::string> warnings;
  FileCredentials source({.token_file = folder.Write("token", "one")}, clock,
                         [&](const Error& error) { warnings.push_back(error.message); });
  ASSERT_TRUE(Ask(source));
  folder.Write("token", "");
  clock.Advance(1min);
  EXPECT_EQ((*Ask(source))->authorization, "Bearer one");
  EXPECT_THAT(warnings, ElementsAre("read empty token from file \"" + folder.path() + "/token\""));
}

TEST(FileCredentials, SaysThatThereNeverWasAToken) {
  const base::FakeClock clock;
  FileCredentials source({.token_file = "/nowhere/token"}, clock);
  const Result<CredentialsPtr> none = Ask(source);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "failed to read token file \"/nowhere/token\": open /nowhere/token: no such file or directory");
}

TEST(FileCredentials, ReadsACertificateAgainOnceItFitsItsKey) {
  const TemporaryFolder folder;
  const TestAuthority authority;
  const TlsIdentity old_one = authority.Issue("old", ""), new_one = authority.Issue("new", "");
  base::FakeClock clock;
  FileCredentials source(
      {.certificate_file = folder.Write("crt", old_one.certificate), .key_file = folder.Write("key", old_one.key)},
      clock);
  EXPECT_EQ((*Ask(source))->client_certificate, old_one.certificate);
  folder.Write("crt", new_one.certificate);
  clock.Advance(5min);
  EXPECT_EQ((*Ask(source))->client_certificate, old_one.certificate) << "half replaced";
  folder.Write("key", new_one.key);
  clock.Advance(5min);
  const CredentialsPtr replaced = *Ask(source);
  EXPECT_EQ(replaced->client_certificate, new_one.certificate);
  EXPECT_EQ(replaced->client_key, new_one.key);
}

TEST(CheckKeyPair, FindsWhatCannotBeUsed) {
  const TestAuthority authority;
  const TlsIdentity one = authority.Issue("one", ""), two = authority.Issue("two", "");
  EXPECT_TRUE(CheckKeyPair(one.certificate, one.key));
  EXPECT_THAT(CheckKeyPair(one.certificate, two.key).error().message, HasSubstr("does not match"));
  EXPECT_THAT(CheckKeyPair("nonsense", one.key).error().message, HasSubstr("expected a certificate in PEM"));
  EXPECT_THAT(CheckKeyPair(one.certificate, "nonsense").error().message, HasSubstr("expected a private key in PEM"));
}

}  // namespace
}  // namespace berth::http
