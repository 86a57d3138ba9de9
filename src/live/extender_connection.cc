#include "live/extender_connection.h"

#include <fmt/format.h>

#include <utility>

#include "http/api_transport.h"
#include "http/kubeconfig.h"

namespace berth::live {
namespace {

http::CredentialFiles CertificateOf(const config::ExtenderTlsConfig& tls) {
  const bool has_certificate = !tls.cert_data.empty() || !tls.cert_file.empty();
  const bool has_key = !tls.key_data.empty() || !tls.key_file.empty();
  // One without the other is ignored.
  if (!has_certificate || !has_key) return {};
  http::CredentialFiles files;
  files.certificate = tls.cert_data;
  files.key = tls.key_data;
  if (tls.cert_data.empty()) files.certificate_file = tls.cert_file;
  if (tls.key_data.empty()) files.key_file = tls.key_file;
  return files;
}

}  // namespace

Result<http::RestConfig> ExtenderRestConfig(const config::Extender& extender, const std::string& user_agent,
                                            const base::Clock& clock) {
  const std::string& url = extender.url_prefix;
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return Error::InvalidArgument(
        fmt::format("urlPrefix: expected an address that begins with http:// "
                    "or https://, found \"{}\"",
                    url));
  }
  const config::ExtenderTlsConfig tls = extender.tls_config.value_or(config::ExtenderTlsConfig{});
  http::RestConfig config;
  config.server = url.substr(0, url.find_last_not_of('/') + 1);
  config.tls_server_name = tls.server_name;
  config.ca = tls.ca_data;
  if (config.ca.empty() && !tls.ca_file.empty()) {
    Result<std::string> pem = http::ReadFile(tls.ca_file);
    if (!pem) return pem.error();
    config.ca = std::move(*pem);
  }
  if (!config.ca.empty()) {
    if (const Result<void> readable = http::CheckAuthorities(config.ca); !readable) return readable.error();
  }
  // With enableHTTPS and no authority, any certificate is accepted.
  config.insecure = tls.insecure || (extender.enable_https && config.ca.empty());
  config.credentials = std::make_shared<http::FileCredentials>(CertificateOf(tls), clock);
  config.qps = -1;
  config.user_agent = user_agent;
  return config;
}

Result<std::vector<std::unique_ptr<HttpExtender>>> MakeHttpExtenders(std::span<const config::Extender> extenders,
                                                                     const std::string& user_agent,
                                                                     const base::Clock& clock) {
  std::vector<std::unique_ptr<HttpExtender>> made;
  for (size_t i = 0; i < extenders.size(); ++i) {
    Result<http::RestConfig> config = ExtenderRestConfig(extenders[i], user_agent, clock);
    if (!config) {
      return Error{config.error().code,
                   fmt::format("couldn't build extenders: extenders[{}]: {}", i, config.error().message)};
    }
    made.push_back(
        std::make_unique<HttpExtender>(extenders[i], std::make_unique<http::ApiTransport>(std::move(*config))));
  }
  return made;
}

}  // namespace berth::live
