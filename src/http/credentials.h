// What authenticates a request to the API server: an Authorization header, a client certificate, both or neither; and
// where they come from, since tokens and certificates are replaced while the program runs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace berth::http {

// Immutable once made: requests in flight share it.
struct Credentials {
  std::string authorization;       // the header's value; empty: none
  std::string client_certificate;  // PEM; empty: none
  std::string client_key;
};

// Whether they can share a connection: tokens go with each request, only the certificate belongs to the connection.
inline bool ShowTheSameCertificate(const Credentials& a, const Credentials& b) {
  return &a == &b || (a.client_certificate == b.client_certificate && a.client_key == b.client_key);
}

using CredentialsPtr = std::shared_ptr<const Credentials>;

// Thread-safe.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // The credentials at hand that are believed to be valid; null if Fetch() has to be called first. Never blocks.
  virtual CredentialsPtr Current() = 0;
  // Blocks for as long as reading a file or running another program takes.
  virtual Result<CredentialsPtr> Fetch() = 0;
  // The server answered 401 to these. Returns whether there may be others; then Current() no longer returns these.
  virtual bool Refuse(const CredentialsPtr& refused) = 0;
  // Makes a Fetch() in progress fail soon, because its caller is shutting down.
  virtual void Interrupt() {}
};

// From a kubeconfig or a service account. Files are read again from time to time; if that fails, the previous contents
// stay in use.
struct CredentialFiles {
  std::string token;       // the initial token if there is a token_file; otherwise the only one
  std::string token_file;  // read again every minute
  std::string username, password;
  std::string certificate, key;            // PEM
  std::string certificate_file, key_file;  // read again every five minutes, unless there is PEM
};

// Receives the reason why credentials could not be renewed while older ones are still in use.
using CredentialWarning = std::function<void(const Error& error)>;

class FileCredentials final : public CredentialSource {
 public:
  // `clock` must outlive this.
  FileCredentials(CredentialFiles files, const base::Clock& clock, CredentialWarning warn = {});

  CredentialsPtr Current() override;
  Result<CredentialsPtr> Fetch() override;
  bool Refuse(const CredentialsPtr& refused) override;

 private:
  Result<std::string> ReadToken() const;
  Result<void> ReadCertificate(Credentials& into) const;

  // Constant after construction.
  const CredentialFiles files_;
  const base::Clock& clock_;
  const CredentialWarning warn_;

  std::mutex mutex_;
  // Guarded by mutex_.
  CredentialsPtr current_;
  base::Time token_until_{};
  base::Time certificate_until_{};
};

// An error unless the certificate chain and the key, both PEM, can be read and belong together.
Result<void> CheckKeyPair(const std::string& certificate, const std::string& key);
// An error unless there is at least one certificate in PEM.
Result<void> CheckAuthorities(const std::string& pem);

}  // namespace berth::http
