// Server: where an API server is and what all requests to it share, worked out once from a RestConfig. Immutable.
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
  // Goes before the path of every request: "/k8s/clusters/one"; mostly empty.
  const std::string& prefix() const { return prefix_; }
  // The name that its certificate has to have.
  const std::string& tls_name() const { return config_.tls_server_name.empty() ? name_ : config_.tls_server_name; }
  // What requests go through, the configured one or the environment's; nothing: straight to the server. An error, when
  // it cannot be used, is every request's.
  const Result<std::optional<Proxy>>& proxy() const { return proxy_; }

 private:
  const RestConfig config_;  // with the authorities of the system, if it has none of its own
  std::string host_, name_, port_, prefix_;
  Result<std::optional<Proxy>> proxy_ = std::optional<Proxy>();
};

// The authorities of the system, PEM: where SSL_CERT_FILE says, or where one of the usual distributions has them.
std::string SystemAuthorities();

}  // namespace berth::http
