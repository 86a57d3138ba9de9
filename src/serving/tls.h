// The server's side of TLS: certificates, versions, ciphers.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serving/file_stamp.h"
#include "serving/self_signed.h"

struct ssl_ctx_st;  // SSL_CTX

namespace berth::serving {

// A pair for clients that ask for particular names: --tls-sni-cert-key.
struct NamedPair {
  std::string cert_file;
  std::string private_key_file;
  std::vector<std::string> names{};  // empty: those in the certificate
};

// From the flags of kube-scheduler.
struct TlsOptions {
  std::string cert_file{};         // --tls-cert-file
  std::string private_key_file{};  // --tls-private-key-file
  std::string cert_dir{};          // --cert-dir: where a generated pair is kept; empty: in memory
  std::string pair_name = "kube-scheduler";
  std::string min_version{};                 // --tls-min-version: "VersionTLS13"; empty: TLS 1.2
  std::vector<std::string> cipher_suites{};  // --tls-cipher-suites, for TLS 1.2; empty: our choice
  std::vector<int32_t> curve_preferences{};  // --tls-curve-preferences, by IANA's numbers; empty: OpenSSL's choice
  std::vector<NamedPair> named_pairs{};      // --tls-sni-cert-key
  CertificateSubject self_signed_subject{};  // of the pair that is generated if none is given
};

// Thread-safe.
class TlsContext {
 public:
  static Result<std::unique_ptr<TlsContext>> Create(const TlsOptions& options, const base::Clock& clock);

  // For a new connection. Checks whether the certificate's files have changed and reads them again if so; if they do
  // not form a pair, that is logged, and the previous ones stay in use until the files change again.
  std::shared_ptr<ssl_ctx_st> Current();

 private:
  struct Settings {
    int min_version = 0;
    std::string ciphers{};  // as OpenSSL names them
    std::string groups{};   // likewise for key exchange; empty: OpenSSL's choice
  };

  TlsContext(Settings settings, std::string cert_file, std::string key_file, std::vector<NamedPair> named);
  static Result<Settings> ReadSettings(const TlsOptions& options);
  Result<std::shared_ptr<ssl_ctx_st>> Build(const PemPair& pair) const;
  Result<std::shared_ptr<ssl_ctx_st>> BuildFromFiles(const std::string& cert_file, const std::string& key_file) const;
  // Replaces everything, or nothing.
  Result<void> Reload();

  const Settings settings_;
  const std::string cert_file_;  // empty: the pair is in memory and never changes
  const std::string key_file_;
  const std::vector<NamedPair> named_;
  PemPair in_memory_{};
  std::mutex mutex_;
  FileStamps stamps_;                    // guarded by mutex_
  std::shared_ptr<ssl_ctx_st> current_;  // guarded by mutex_
};

}  // namespace berth::serving
