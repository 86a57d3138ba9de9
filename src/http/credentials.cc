#include "http/credentials.h"

#include <fmt/format.h>

#include "api/field_error.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "http/kubeconfig.h"

namespace berth::http {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The kubelet renews a projected token minutes before it expires, so noticing within a minute, less some leeway, is
// enough.
constexpr base::Duration kTokenLife = minutes(1) - seconds(10);
constexpr base::Duration kCertificateLife = minutes(5);

}  // namespace

FileCredentials::FileCredentials(CredentialFiles files, const base::Clock& clock, CredentialWarning warn)
    : files_(std::move(files)), clock_(clock), warn_(std::move(warn)) {}

CredentialsPtr FileCredentials::Current() {
  const base::Time now = clock_.Now();
  const std::lock_guard lock(mutex_);
  const bool stale = (!files_.token_file.empty() && now >= token_until_) ||
                     (!files_.certificate_file.empty() && now >= certificate_until_);
  return stale ? nullptr : current_;
}

Result<std::string> FileCredentials::ReadToken() const {
  if (files_.token_file.empty()) return files_.token;
  Result<std::string> text = ReadFile(files_.token_file);
  if (!text) {
    return Error::Unavailable(
        fmt::format("failed to read token file {}: {}", api::Quote(files_.token_file), text.error().message));
  }
  std::string token(base::Trimmed(*text));
  if (token.empty()) {
    return Error::Unavailable(fmt::format("read empty token from file {}", api::Quote(files_.token_file)));
  }
  return token;
}

Result<void> FileCredentials::ReadCertificate(Credentials& into) const {
  into.client_certificate = files_.certificate;
  into.client_key = files_.key;
  const std::pair<const std::string&, std::string&> parts[] = {{files_.certificate_file, into.client_certificate},
                                                               {files_.key_file, into.client_key}};
  for (const auto& [file, pem] : parts) {
    if (file.empty() || !pem.empty()) continue;
    Result<std::string> text = ReadFile(file);
    if (!text) return Error::Unavailable(text.error().message);
    pem = std::move(*text);
  }
  if (into.client_certificate.empty()) return {};
  return CheckKeyPair(into.client_certificate, into.client_key);
}

Result<CredentialsPtr> FileCredentials::Fetch() {
  auto fresh = std::make_shared<Credentials>();
  const Result<std::string> token = ReadToken();
  const Result<void> certificate = ReadCertificate(*fresh);

  const std::lock_guard lock(mutex_);
  const base::Time now = clock_.Now();
  token_until_ = now + kTokenLife;
  certificate_until_ = now + kCertificateLife;
  if (!token && warn_) warn_(token.error());
  if (!certificate && warn_) warn_(certificate.error());
  if (!certificate) {
    if (!current_) return certificate.error();
    fresh->client_certificate = current_->client_certificate;
    fresh->client_key = current_->client_key;
  }
  if (token && !token->empty()) {
    fresh->authorization = "Bearer " + *token;
  } else if (!token && current_) {
    fresh->authorization = current_->authorization;
  } else if (!token) {
    if (files_.token.empty()) return token.error();
    fresh->authorization = fmt::format("Bearer {}", base::Trimmed(files_.token));
  } else if (!files_.username.empty() || !files_.password.empty()) {
    fresh->authorization = "Basic " + base::EncodeBase64(files_.username + ":" + files_.password);
  }
  current_ = std::move(fresh);
  return current_;
}

bool FileCredentials::Refuse(const CredentialsPtr& refused) {
  if (files_.token_file.empty() && files_.certificate_file.empty()) return false;
  const std::lock_guard lock(mutex_);
  // Another request's 401 may already have led to new ones.
  if (current_ == refused) token_until_ = certificate_until_ = base::Time{};
  return true;
}

}  // namespace berth::http
