#include "http/proxy.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/percent.h"

namespace berth::http {
namespace {

struct HostAndPort {
  std::string_view host;  // without brackets
  std::string_view port;
};

HostAndPort SplitPort(std::string_view text) {
  std::string_view host = text, port;
  const size_t colon = text.rfind(':');
  const bool is_plain_v6 = colon != std::string_view::npos && !text.starts_with('[') && text.find(':') != colon;
  if (colon != std::string_view::npos && !is_plain_v6 && text.find(']', colon) == std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, port};
}

// An address as bytes, IPv4 in its IPv6-mapped form.
std::optional<std::array<uint8_t, 16>> AddressOf(std::string_view text) {
  const std::string name(text);
  std::array<uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) return bytes;
  bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (inet_pton(AF_INET, name.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool IsInRange(std::string_view range, const std::array<uint8_t, 16>& address) {
  const size_t slash = range.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view base_text = range.substr(0, slash), bits_text = range.substr(slash + 1);
  const auto base = AddressOf(base_text);
  int bits = -1;
  const auto [end, error] = std::from_chars(bits_text.data(), bits_text.data() + bits_text.size(), bits);
  const bool is_v6 = base_text.find(':') != std::string_view::npos;
  if (!base || error != std::errc() || end != bits_text.data() + bits_text.size()) return false;
  if (bits < 0 || bits > (is_v6 ? 128 : 32)) return false;
  if (!is_v6) bits += 96;
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(base->data(), address.data(), whole) != 0) return false;
  const int left = bits % 8;
  return left == 0 || ((*base)[whole] ^ address[whole]) >> (8 - left) == 0;
}

bool IsThisMachine(std::string_view name) {
  if (base::EqualIgnoringCase(name, "localhost")) return true;
  const auto address = AddressOf(name);
  return address && (IsInRange("127.0.0.0/8", *address) || IsInRange("::1/128", *address));
}

bool Covers(std::string_view entry, std::string_view name, std::string_view port) {
  if (entry == "*") return true;
  const auto address = AddressOf(name);
  if (entry.find('/') != std::string_view::npos) return address && IsInRange(entry, *address);
  auto [host, only_port] = SplitPort(entry);
  if (!only_port.empty() && only_port != port) return false;
  if (address) return AddressOf(host) == address;
  if (host.starts_with("*.")) host.remove_prefix(1);
  if (host.empty()) return false;
  const std::string suffix = host.starts_with('.') ? std::string(host) : "." + std::string(host);
  if (!host.starts_with('.') && base::EqualIgnoringCase(host, name)) return true;
  return name.size() > suffix.size() && base::EqualIgnoringCase(name.substr(name.size() - suffix.size()), suffix);
}

}  // namespace

std::string Proxy::address() const {
  const char* scheme = kind == Kind::kHttp ? "http" : kind == Kind::kHttps ? "https" : "socks5";
  const bool is_v6 = name.find(':') != std::string::npos;
  return is_v6 ? fmt::format("{}://[{}]:{}", scheme, name, port) : fmt::format("{}://{}:{}", scheme, name, port);
}

std::string Proxy::authorization() const {
  if (username.empty() && password.empty()) return {};
  return "Basic " + base::EncodeBase64(username + ":" + password);
}

Result<Proxy> ParseProxy(std::string_view url) {
  const auto invalid = [&](std::string_view why) {
    return Error::InvalidArgument(fmt::format("invalid proxy address: {}", why));
  };
  Proxy proxy;
  const size_t colon = url.find("://");
  const std::string scheme = colon == std::string_view::npos ? "http" : base::LowerCase(url.substr(0, colon));
  std::string_view rest = colon == std::string_view::npos ? url : url.substr(colon + 3);
  if (scheme == "http") {
    proxy.port = "80";
  } else if (scheme == "https") {
    proxy.kind = Proxy::Kind::kHttps;
    proxy.port = "443";
  } else if (scheme == "socks5" || scheme == "socks5h") {
    proxy.kind = Proxy::Kind::kSocks5;
    proxy.port = "1080";
  } else {
    return invalid(fmt::format("expected http, https or socks5, found \"{}\"", scheme));
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    const size_t split = std::min(user.find(':'), user.size());
    const auto username = base::DecodePercent(user.substr(0, split));
    const auto password = base::DecodePercent(user.substr(std::min(split + 1, user.size())));
    if (!username || !password) return invalid("its user or password has a bad percent escape");
    proxy.username = *username;
    proxy.password = *password;
    rest.remove_prefix(at + 1);
  }
  const auto [host, port] = SplitPort(rest);
  if (host.empty()) return invalid("it has no host");
  proxy.name = host;
  if (!port.empty()) proxy.port = port;
  if (!std::all_of(proxy.port.begin(), proxy.port.end(), base::IsDigit)) {
    return invalid(fmt::format("expected a port, found \"{}\"", proxy.port));
  }
  // Both become part of the bytes sent to the proxy.
  if (std::any_of(host.begin(), host.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; })) {
    return invalid("its host has white space or control characters");
  }
  return proxy;
}

bool IsExempt(std::string_view no_proxy, std::string_view name, std::string_view port) {
  while (!no_proxy.empty()) {
    const size_t end = std::min(no_proxy.find_first_of(", \t"), no_proxy.size());
    const std::string_view entry = no_proxy.substr(0, end);
    if (!entry.empty() && Covers(entry, name, port)) return true;
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
  }
  return false;
}

Result<std::optional<Proxy>> ProxyFromEnvironment(bool is_tls, std::string_view name, std::string_view port,
                                                  const Environment& environment) {
  if (IsThisMachine(name)) return std::optional<Proxy>();
  const auto first_of = [&](std::initializer_list<const char*> variables) {
    for (const char* variable : variables) {
      if (std::string value = environment(variable); !value.empty()) return value;
    }
    return std::string();
  };
  std::string url = first_of({is_tls ? "HTTPS_PROXY" : "HTTP_PROXY", is_tls ? "https_proxy" : "http_proxy"});
  if (url.empty()) url = first_of({"ALL_PROXY", "all_proxy"});
  if (url.empty() || IsExempt(first_of({"NO_PROXY", "no_proxy"}), name, port)) return std::optional<Proxy>();
  Result<Proxy> proxy = ParseProxy(url);
  if (!proxy) return proxy.error();
  return std::optional(std::move(*proxy));
}

}  // namespace berth::http
