// What proves to the API server who is asking: an Authorization header, a client certificate, both or neither; and
// where that comes from, since tokens and certificates are replaced while the program runs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace berth::http {

// Frozen once made: requests in flight share it.
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

  // What is at hand and believed to be good; null when Fetch() has to be called first. Never blocks.
  virtual CredentialsPtr Current() = 0;
  // May take as long as a file or another program takes.
  virtual Result<CredentialsPtr> Fetch() = 0;
  // The server answered 401 to these. Whether others may be had: then Current() no longer returns the refused ones.
  virtual bool Refuse(const CredentialsPtr& refused) = 0;
  // Makes a Fetch() that is under way fail soon: who asked is leaving.
  virtual void Interrupt() {}
};

// From a kubeconfig or a service account. What comes from files is read again from time to time; when that fails, what
// was read before is used on.
struct CredentialFiles {
  std::string token;       // the first token, when the file is read again; the only one, without a file
  std::string token_file;  // read again every minute
  std::string username, password;
  std::string certificate, key;            // PEM
  std::string certificate_file, key_file;  // read again every five minutes, unless there is PEM
};

// Told why credentials could not be renewed while older ones are still in use.
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

// Whether a certificate chain and a key, both PEM, can be read and belong together.
Result<void> CheckKeyPair(const std::string& certificate, const std::string& key);
// Whether there is at least one certificate in PEM.
Result<void> CheckAuthorities(const std::string& pem);

}  // namespace berth::http
