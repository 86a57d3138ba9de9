// Server: the address of an API server and what all requests to it share, computed once from a RestConfig. Immutable.
#pragma once

#include <optional>
#include <string>

#include "http/proxy.h"
#include "http/rest_config.h"

namespace berth::http {

class Server {
 public:
  explicit Server(RestConfig config);

  const RestConfig& config() const { return config_; }
  // "10.0.0.1:6443", as the URL, the Host header and metrics have it.
  const std::string& host() const { return host_; }
  // Its parts: "10.0.0.1" (without the brackets of IPv6) and "6443", or what the scheme implies.
  const std::string& name() const { return name_; }
  const std::string& port() const { return port_; }
  // Precedes the path of every request: "/k8s/clusters/one"; usually empty.
  const std::string& prefix() const { return prefix_; }
  // The name that the server's certificate must have.
  const std::string& tls_name() const { return config_.tls_server_name.empty() ? name_ : config_.tls_server_name; }
  // The proxy that requests go through, from the configuration or the environment; empty: directly to the server. If it
  // is an error, every request fails with it.
  const Result<std::optional<Proxy>>& proxy() const { return proxy_; }

 private:
  const RestConfig config_;  // with the system's authorities if it has none of its own
  std::string host_, name_, port_, prefix_;
  Result<std::optional<Proxy>> proxy_ = std::optional<Proxy>();
};

// The system's certificate authorities, PEM: from SSL_CERT_FILE, or from where common Linux distributions keep them.
std::string SystemAuthorities();

}  // namespace berth::http
