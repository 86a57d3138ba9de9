// Proxy: what requests to a server go through. It comes from a kubeconfig, or from the environment by Go's rules,
// because an environment set up for kube-scheduler has to work unchanged.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::http {

struct Proxy {
  enum class Kind { kHttp, kHttps, kSocks5 };

  Kind kind = Kind::kHttp;
  std::string name;  // without the brackets of IPv6
  std::string port;
  // Both empty: no credentials are sent to the proxy.
  std::string username, password;

  // "http://proxy:3128", for messages: without the password.
  std::string address() const;
  // The value of Proxy-Authorization; empty: none.
  std::string authorization() const;
};

// Parses "http://user:password@proxy:3128"; https, socks5 and socks5h as well. Without a scheme it is http.
Result<Proxy> ParseProxy(std::string_view url);

using Environment = std::function<std::string(const char* name)>;  // empty when there is no such variable

// What HTTPS_PROXY or HTTP_PROXY (by the server's scheme), then ALL_PROXY, and NO_PROXY say; each also in lower case. A
// server on this machine is never reached through the environment's proxy.
Result<std::optional<Proxy>> ProxyFromEnvironment(bool is_tls, std::string_view name, std::string_view port,
                                                  const Environment& environment);

// Whether an entry of NO_PROXY covers a server: "*", an address or a range ("10.0.0.0/8"), a domain with its subdomains
// ("example.com"), its subdomains only (".example.com"); all but a range may have a port.
bool IsExempt(std::string_view no_proxy, std::string_view name, std::string_view port);

}  // namespace berth::http
