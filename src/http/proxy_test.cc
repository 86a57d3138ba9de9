#include "http/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "http/proxy_tunnel.h"

namespace berth::http {
namespace {

using ::testing::HasSubstr;

TEST(ParseProxy, ReadsAddresses) {
  struct Case {
    const char* url;
    const char* address;
    const char* authorization;
  };
  for (const Case& c : {
           Case{"http://proxy:3128", "http://proxy:3128", ""},
           Case{"http://proxy/", "http://proxy:80", ""},
           Case{"proxy:8080", "http://proxy:8080", ""},
           Case{"HTTPS://proxy", "https://proxy:443", ""},
           Case{"socks5://10.0.0.1", "socks5://10.0.0.1:1080", ""},
           Case{"socks5h://proxy:9", "socks5://proxy:9", ""},
           Case{"http://[::1]:3128", "http://[::1]:3128", ""},
           Case{"http://[fd00::1]", "http://[fd00::1]:80", ""},
           Case{"http://u:p@proxy", "http://proxy:80", "Basic dTpw"},
           Case{"http://u@proxy", "http://proxy:80", "Basic dTo="},
           Case{"http://u:p%40%3A@proxy", "http://proxy:80", "Basic dTpwQDo="},
       }) {
    const Result<Proxy> proxy = ParseProxy(c.url);
    ASSERT_TRUE(proxy) << c.url << ": " << proxy.error().message;
    EXPECT_EQ(proxy->address(), c.address) << c.url;
    EXPECT_EQ(proxy->authorization(), c.authorization) << c.url;
  }
}

TEST(ParseProxy, SaysWhatIsWrongWithoutThePassword) {
  struct Case {
    const char* url;
    const char* error;
  };
  for (const Case& c : {
           Case{"ftp://u:secret@proxy", "expected http, https or socks5, found \"ftp\""},
           Case{"http://", "it has no host"},
           Case{"http://u:secret@", "it has no host"},
           Case{"http://proxy:x", "expected a port, found \"x\""},
           Case{"http://u:secret%4@proxy", "bad percent escape"},
           Case{"http://u:secret%zz@proxy", "bad percent escape"},
           Case{"http://a\r\nb", "white space or control characters"},
       }) {
    const Result<Proxy> proxy = ParseProxy(c.url);
    ASSERT_FALSE(proxy) << c.url;
    EXPECT_THAT(proxy.error().message, HasSubstr(c.error)) << c.url;
    EXPECT_THAT(proxy.error().message, ::testing::Not(HasSubstr("secret"))) << c.url;
  }
}

TEST(IsExempt, HasTheRulesOfGo) {
  struct Case {
    const char* no_proxy;
    const char* name;
    bool exempt;
  };
  for (const Case& c : {
           Case{"", "example.com", false},
           Case{"*", "example.com", true},
           Case{"example.com", "example.com", true},
           Case{"example.com", "API.Example.com", true},
           Case{"example.com", "notexample.com", false},
           Case{".example.com", "example.com", false},
           Case{".example.com", "api.example.com", true},
           Case{"*.example.com", "api.example.com", true},
           Case{"a, ,b.c ,example.com", "example.com", true},
           Case{"a b.c example.com", "example.com", true},
           Case{"example.com:6443", "example.com", true},
           Case{"example.com:443", "example.com", false},
           Case{"10.0.0.1", "10.0.0.1", true},
           Case{"10.0.0.1:6443", "10.0.0.1", true},
           Case{"10.0.0.1:1", "10.0.0.1", false},
           Case{"10.0.0.10", "10.0.0.1", false},
           Case{"10.0.0.0/8", "10.200.0.1", true},
           Case{"10.0.0.0/8", "11.0.0.1", false},
           Case{"10.128.0.0/9", "10.127.0.1", false},
           Case{"10.128.0.0/9", "10.129.0.1", true},
           Case{"0.0.0.0/0", "10.0.0.1", true},
           Case{"10.0.0.0/33", "10.0.0.0", false},
           Case{"10.0.0.0/8", "example.com", false},
           Case{"fd00::/8", "fd00::1", true},
           Case{"fd00::/8", "fe00::1", false},
           Case{"[fd00::1]:6443", "fd00::1", true},
           Case{"fd00::1", "fd00::1", true},
       }) {
    EXPECT_EQ(IsExempt(c.no_proxy, c.name, "6443"), c.exempt) << c.no_proxy << " " << c.name;
  }
}

TEST(ProxyFromEnvironment, ChoosesByTheKindOfServer) {
  std::map<std::string, std::string> variables;
  const auto choose = [&](bool is_tls, const char* name) {
    const auto proxy =
        ProxyFromEnvironment(is_tls, name, "6443", [&](const char* variable) { return variables[variable]; });
    if (!proxy) return proxy.error().message;
    return *proxy ? (*proxy)->address() : std::string();
  };
  EXPECT_EQ(choose(true, "server"), "");
  variables["ALL_PROXY"] = "all:1";
  EXPECT_EQ(choose(true, "server"), "http://all:1");
  variables["https_proxy"] = "low:1";
  EXPECT_EQ(choose(true, "server"), "http://low:1");
  EXPECT_EQ(choose(false, "server"), "http://all:1");
  variables["HTTPS_PROXY"] = "https://up:1";
  variables["HTTP_PROXY"] = "plain:1";
  EXPECT_EQ(choose(true, "server"), "https://up:1");
  EXPECT_EQ(choose(false, "server"), "http://plain:1");
  for (const char* here : {"localhost", "127.0.0.2", "::1"}) EXPECT_EQ(choose(true, here), "") << here;
  variables["no_proxy"] = "server";
  EXPECT_EQ(choose(true, "server"), "");
  EXPECT_EQ(choose(true, "other"), "https://up:1");
  variables["HTTPS_PROXY"] = "gopher://up";
  EXPECT_THAT(choose(true, "other"), HasSubstr("found \"gopher\""));
}

// What a tunnel sends to a proxy that replies with `answers`, one after the other, a byte at a time; then the outcome.
struct Talk {
  std::vector<std::string> said;
  std::string error;
  bool open = false;
};

Talk TalkTo(const char* url, const std::string& name, const std::vector<std::string>& answers) {
  const Proxy proxy = *ParseProxy(url);
  const auto tunnel = MakeProxyTunnel(proxy, name, "6443", "agent");
  Talk talk;
  for (const std::string& answer : answers) {
    talk.said.emplace_back(tunnel->output());
    tunnel->Sent(tunnel->output().size());
    for (const char c : answer) {
      const Result<void> taken = tunnel->Receive({&c, 1});
      if (!taken) talk.error = taken.error().message;
      if (!taken) return talk;
    }
  }
  talk.open = tunnel->is_open();
  return talk;
}

TEST(ProxyTunnel, AsksWithConnect) {
  const Talk talk = TalkTo("http://u:p@proxy", "server", {"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n"});
  EXPECT_TRUE(talk.open) << talk.error;
  EXPECT_THAT(talk.said,
              ::testing::ElementsAre("CONNECT server:6443 HTTP/1.1\r\nHost: server:6443\r\nUser-Agent: agent\r\n"
                                     "Proxy-Authorization: Basic dTpw\r\n\r\n"));
  EXPECT_THAT(TalkTo("http://proxy", "fd00::1", {"HTTP/1.1 200\r\n\r\n"}).said[0],
              HasSubstr("CONNECT [fd00::1]:6443 HTTP/1.1\r\n"));
}

TEST(ProxyTunnel, SaysWhyConnectWasRefused) {
  struct Case {
    const char* answer;
    const char* error;
  };
  for (const Case& c : {
           Case{"HTTP/1.1 403 Forbidden by policy\r\nContent-Length: 9\r\n\r\n",
                "proxy http://proxy:80: CONNECT server:6443: 403 Forbidden by policy"},
           Case{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "407 Proxy Authentication Required"},
           Case{"SSH-2.0-OpenSSH\r\n", "expected a status line, found \"SSH-2.0-OpenSSH\""},
       }) {
    const Talk talk = TalkTo("http://u:secret@proxy", "server", {c.answer});
    EXPECT_THAT(talk.error, HasSubstr(c.error)) << c.answer;
    EXPECT_THAT(talk.error, ::testing::Not(HasSubstr("secret")));
  }
}

TEST(ProxyTunnel, RefusesBytesThatNobodyAskedFor) {
  const Proxy proxy = *ParseProxy("http://proxy");
  const auto tunnel = MakeProxyTunnel(proxy, "server", "6443", "");
  EXPECT_FALSE(tunnel->Receive("HTTP/1.1 200 OK\r\n\r\nmore"));
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out += static_cast<char>(byte);
  return out;
}

TEST(ProxyTunnel, SpeaksSocks5) {
  const std::string connected = Bytes({5, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  Talk talk = TalkTo("socks5://proxy", "server", {Bytes({5, 0}), connected});
  EXPECT_TRUE(talk.open) << talk.error;
  EXPECT_THAT(talk.said, ::testing::ElementsAre(Bytes({5, 1, 0}),
                                                Bytes({5, 1, 0, 3, 6}) + "server" + Bytes({6443 >> 8, 6443 & 0xff})));
  talk = TalkTo("socks5://u:pw@proxy", "10.0.0.1", {Bytes({5, 2}), Bytes({1, 0}), connected});
  EXPECT_TRUE(talk.open) << talk.error;
  EXPECT_THAT(talk.said, ::testing::ElementsAre(Bytes({5, 2, 0, 2}), Bytes({1, 1, 'u', 2, 'p', 'w'}),
                                                Bytes({5, 1, 0, 1, 10, 0, 0, 1, 6443 >> 8, 6443 & 0xff})));
  // The proxy may give its address as a host name, or as IPv6.
  EXPECT_TRUE(TalkTo("socks5://proxy", "server", {Bytes({5, 0}), Bytes({5, 0, 0, 3, 2, 'a', 'b', 0, 0})}).open);
  EXPECT_TRUE(TalkTo("socks5://proxy", "::1", {Bytes({5, 0}), Bytes({5, 0, 0, 4}) + std::string(18, '\0')}).open);
}

TEST(ProxyTunnel, SaysWhySocks5Failed) {
  struct Case {
    std::vector<std::string> answers;
    const char* error;
  };
  for (const Case& c : {
           Case{{Bytes({5, 0}), Bytes({5, 5})},
                "proxy socks5://proxy:1080: connecting to server port 6443: connection refused"},
           Case{{Bytes({5, 0}), Bytes({5, 99})}, "error 99"},
           Case{{Bytes({5, 0xff})}, "none of our ways to authenticate"},
           Case{{Bytes({5, 2}), Bytes({1, 1})}, "authentication failed"},
           Case{{"HTTP/1.1 400"}, "does not speak SOCKS 5"},
       }) {
    EXPECT_THAT(TalkTo("socks5://u:p@proxy", "server", c.answers).error, HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace berth::http
