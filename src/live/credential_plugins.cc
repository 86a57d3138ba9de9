#include "live/credential_plugins.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/log.h"

namespace berth::live {

namespace {

// When the first certificate of a PEM text expires.
std::optional<base::Time> ExpiryOf(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                      BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr),
                                                                X509_free);
  std::tm when{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &when) != 1) return std::nullopt;
  return base::Time(std::chrono::seconds(timegm(&when)));
}

}  // namespace

CredentialPlugins::CredentialPlugins(metrics::Registry& registry, const base::Clock& clock)
    : clock_(clock), metrics_(registry, [this] { return ShortestLife(); }) {}

http::Surroundings CredentialPlugins::Watching(http::Surroundings surroundings) {
  surroundings.warn = [](const Error& error) { LOG_WARNING("Credentials", {"err", error}); };
  surroundings.exec_observer = [this](std::string_view call_status, int exit_code) {
    metrics_.calls.With(std::to_string(exit_code), call_status).Add();
  };
  return surroundings;
}

void CredentialPlugins::Follow(const std::shared_ptr<http::CredentialSource>& credentials) {
  if (dynamic_cast<const http::ExecCredentials*>(credentials.get()) == nullptr) return;
  const std::lock_guard lock(mutex_);
  plugins_.push_back(credentials);
}

double CredentialPlugins::ShortestLife() const {
  double shortest = std::numeric_limits<double>::infinity();
  const std::lock_guard lock(mutex_);
  for (const auto& plugin : plugins_) {
    const http::CredentialsPtr current = plugin->Current();
    if (!current || current->client_certificate.empty()) continue;
    const std::optional<base::Time> expiry = ExpiryOf(current->client_certificate);
    if (expiry) shortest = std::min(shortest, std::chrono::duration<double>(*expiry - clock_.Now()).count());
  }
  return shortest;
}

}  // namespace berth::live
