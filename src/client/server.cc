#include "client/server.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "client/kubeconfig.h"

namespace berth::client {
namespace {

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.starts_with("localhost:") || host.starts_with("127.") || host.starts_with("[::1]");
}

// The authorities of the system, as the path that libcurl was built with names them.
std::string SystemAuthorities() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  if (info->age < CURLVERSION_EIGHTH || info->cainfo == nullptr) return {};
  Result<std::string> pem = ReadFile(info->cainfo);
  return pem ? std::move(*pem) : std::string();
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

}  // namespace berth::client
