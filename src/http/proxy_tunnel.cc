#include "http/proxy_tunnel.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "http/http1_parser.h"

namespace berth::http {
namespace {

// RFC 9110, section 9.3.6.
class ConnectTunnel final : public ProxyTunnel, private Http1Parser::Sink {
 public:
  ConnectTunnel(const Proxy& proxy, const std::string& name, const std::string& port, const std::string& user_agent)
      : proxy_(proxy),
        target_(name.find(':') == std::string::npos ? name + ":" + port : "[" + name + "]:" + port),
        parser_("CONNECT", *this) {
    output_ = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target_);
    if (!user_agent.empty()) output_ += "User-Agent: " + user_agent + "\r\n";
    if (const std::string who = proxy.authorization(); !who.empty()) output_ += "Proxy-Authorization: " + who + "\r\n";
    output_ += "\r\n";
  }

  Result<void> Receive(std::string_view bytes) override {
    const Result<size_t> taken = parser_.Take(bytes);
    if (!taken) return Refused(taken.error().message);
    if (status_ == 0) return {};
    if (status_ >= 300) return Refused(fmt::format("{} {}", status_, parser_.reason()));
    // Nothing has been sent to the server yet, so it cannot have answered.
    if (*taken < bytes.size()) return Refused("bytes that do not belong to its answer");
    open_ = true;
    return {};
  }

 private:
  void OnHead(int status, Headers) override { status_ = status; }
  Result<void> OnData(std::string_view) override { return {}; }
  Error Refused(std::string_view why) const {
    return Error::Unavailable(fmt::format("proxy {}: CONNECT {}: {}", proxy_.address(), target_, why));
  }

  const Proxy& proxy_;
  const std::string target_;
  Http1Parser parser_;
  int status_ = 0;
};

constexpr char kVersion = 5, kNoAuthentication = 0, kPassword = 2, kRefused = '\xff';

// RFC 1928, and RFC 1929 for the password.
class Socks5Tunnel final : public ProxyTunnel {
 public:
  Socks5Tunnel(const Proxy& proxy, std::string name, const std::string& port)
      : proxy_(proxy), name_(std::move(name)), target_(fmt::format("{} port {}", name_, port)) {
    std::from_chars(port.data(), port.data() + port.size(), port_);
    const bool has_password = !proxy.username.empty();
    output_ = {kVersion, static_cast<char>(has_password ? 2 : 1), kNoAuthentication};
    if (has_password) output_ += kPassword;
  }

  Result<void> Receive(std::string_view bytes) override {
    input_ += bytes;
    for (size_t before = 0; before != input_.size() && !open_;) {
      before = input_.size();
      if (Result<void> taken = TakeReply(); !taken) return taken;
    }
    if (open_ && !input_.empty()) return Refused("bytes that do not belong to its answer");
    return {};
  }

 private:
  enum class State { kMethod, kCredentials, kConnect };

  Result<void> TakeReply() {
    if (input_.size() < 2) return {};
    const char version = state_ == State::kCredentials ? 1 : kVersion;
    if (input_[0] != version) return Refused("it does not speak SOCKS 5");
    if (state_ == State::kConnect) return TakeConnected();
    const char answer = input_[1];
    input_.erase(0, 2);
    if (state_ == State::kMethod && answer == kPassword && !proxy_.username.empty()) return SendPassword();
    if (state_ == State::kMethod && answer == kRefused) return Refused("it takes none of our ways to authenticate");
    if (answer != kNoAuthentication) return Refused("authentication failed");
    return SendConnect();
  }

  Result<void> SendPassword() {
    if (proxy_.username.size() > 255 || proxy_.password.size() > 255) return Refused("user or password is too long");
    state_ = State::kCredentials;
    output_ += '\x01';
    for (const std::string& text : {proxy_.username, proxy_.password}) {
      output_ += static_cast<char>(text.size());
      output_ += text;
    }
    return {};
  }

  Result<void> SendConnect() {
    if (name_.size() > 255) return Refused("the name of the server is too long");
    state_ = State::kConnect;
    output_ += {kVersion, 1, 0};
    in6_addr address{};
    if (inet_pton(AF_INET, name_.c_str(), &address) == 1) {
      output_ += '\x01';
      output_.append(reinterpret_cast<const char*>(&address), sizeof(in_addr));
    } else if (inet_pton(AF_INET6, name_.c_str(), &address) == 1) {
      output_ += '\x04';
      output_.append(reinterpret_cast<const char*>(&address), sizeof(in6_addr));
    } else {
      output_ += '\x03';
      output_ += static_cast<char>(name_.size());
      output_ += name_;
    }
    output_ += static_cast<char>(port_ >> 8);
    output_ += static_cast<char>(port_ & 0xff);
    return {};
  }

  Result<void> TakeConnected() {
    if (input_[1] != 0) return Refused(ReasonOf(input_[1]));
    if (input_.size() < 5) return {};
    // The address that the proxy uses is ignored, except for its length.
    const size_t address = input_[3] == 1   ? sizeof(in_addr)
                           : input_[3] == 4 ? sizeof(in6_addr)
                                            : 1 + static_cast<size_t>(static_cast<unsigned char>(input_[4]));
    const size_t whole = 4 + address + 2;
    if (input_.size() < whole) return {};
    input_.erase(0, whole);
    open_ = true;
    return {};
  }

  static std::string ReasonOf(char code) {
    static constexpr const char* kReasons[] = {"",
                                               "general failure",
                                               "connection not allowed",
                                               "network unreachable",
                                               "host unreachable",
                                               "connection refused",
                                               "TTL expired",
                                               "command not supported",
                                               "address type not supported"};
    const auto index = static_cast<unsigned char>(code);
    return index < std::size(kReasons) ? kReasons[index] : fmt::format("error {}", index);
  }

  Error Refused(std::string_view why) const {
    return Error::Unavailable(fmt::format("proxy {}: connecting to {}: {}", proxy_.address(), target_, why));
  }

  const Proxy& proxy_;
  const std::string name_;
  const std::string target_;
  uint16_t port_ = 0;
  State state_ = State::kMethod;
  std::string input_;
};

}  // namespace

std::unique_ptr<ProxyTunnel> MakeProxyTunnel(const Proxy& proxy, const std::string& name, const std::string& port,
                                             const std::string& user_agent) {
  if (proxy.kind == Proxy::Kind::kSocks5) return std::make_unique<Socks5Tunnel>(proxy, name, port);
  return std::make_unique<ConnectTunnel>(proxy, name, port, user_agent);
}

}  // namespace berth::http
