#include "http/server.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/kubeconfig.h"

namespace berth::http {
namespace {

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.starts_with("localhost:") || host.starts_with("127.") || host.starts_with("[::1]");
}

// The authorities of the system: where the environment says, or where one of the usual distributions has them.
std::string SystemAuthorities() {
  const char* chosen = std::getenv("SSL_CERT_FILE");
  std::vector<std::string> files = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                    "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                    "/etc/ssl/cert.pem"};
  if (chosen != nullptr && *chosen != '\0') files = {chosen};
  for (const std::string& file : files) {
    if (Result<std::string> pem = ReadFile(file)) return std::move(*pem);
  }
  return {};
}

RestConfig WithAuthorities(RestConfig config) {
  if (config.is_tls() && !config.insecure && config.ca.empty()) config.ca = SystemAuthorities();
  return config;
}

}  // namespace

Server::Server(RestConfig config) : config_(WithAuthorities(std::move(config))) {
  CHECK(config_.credentials != nullptr);
  const size_t start = std::string_view(config_.is_tls() ? "https://" : "http://").size();
  const size_t slash = config_.server.find('/', start);
  host_ = config_.server.substr(start, slash == std::string::npos ? slash : slash - start);
  if (slash != std::string::npos) prefix_ = config_.server.substr(slash);
  loopback_ = IsLoopback(host_);
  const size_t colon = host_.rfind(':');
  const bool has_port = colon != std::string::npos && host_.find(']', colon) == std::string::npos;
  name_ = host_.substr(0, has_port ? colon : std::string::npos);
  port_ = has_port ? host_.substr(colon + 1) : config_.is_tls() ? "443" : "80";
  if (name_.starts_with('[') && name_.ends_with(']')) name_ = name_.substr(1, name_.size() - 2);
}

bool Server::may_use_proxy() const {
  if (!config_.proxy_url.empty()) return true;
  // As Go has it: the environment's proxy is not for this machine.
  if (loopback_) return false;
  const auto is_set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
  };
  constexpr const char* kVariables[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(std::begin(kVariables), std::end(kVariables), is_set);
}

}  // namespace berth::http
