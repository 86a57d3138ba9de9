#include "http/server.h"

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/kubeconfig.h"

namespace berth::http {
namespace {

RestConfig WithAuthorities(RestConfig config) {
  if (config.is_tls() && !config.insecure && config.ca.empty()) config.ca = SystemAuthorities();
  return config;
}

std::string RealEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::optional<Proxy>> ChooseProxy(const RestConfig& config, const std::string& name, const std::string& port) {
  if (config.proxy_url.empty()) return ProxyFromEnvironment(config.is_tls(), name, port, &RealEnvironment);
  Result<Proxy> proxy = ParseProxy(config.proxy_url);
  if (!proxy) return proxy.error();
  return std::optional(std::move(*proxy));
}

}  // namespace

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

Server::Server(RestConfig config) : config_(WithAuthorities(std::move(config))) {
  CHECK(config_.credentials != nullptr);
  const size_t start = std::string_view(config_.is_tls() ? "https://" : "http://").size();
  const size_t slash = config_.server.find('/', start);
  host_ = config_.server.substr(start, slash == std::string::npos ? slash : slash - start);
  if (slash != std::string::npos) prefix_ = config_.server.substr(slash);
  const size_t colon = host_.rfind(':');
  const bool has_port = colon != std::string::npos && host_.find(']', colon) == std::string::npos;
  name_ = host_.substr(0, has_port ? colon : std::string::npos);
  port_ = has_port ? host_.substr(colon + 1) : config_.is_tls() ? "443" : "80";
  if (name_.starts_with('[') && name_.ends_with(']')) name_ = name_.substr(1, name_.size() - 2);
  proxy_ = ChooseProxy(config_, name_, port_);
}

}  // namespace berth::http
