// Whether a client's certificate comes from a trusted authority, and what it says about the client.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serving/file_stamp.h"

struct x509_store_st;  // X509_STORE

namespace berth::serving {

struct CertificateIdentity {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string sha256;  // of the certificate, in hexadecimal
};

// Thread-safe.
class CertificateAuthority {
 public:
  static Result<std::shared_ptr<CertificateAuthority>> FromPem(std::string_view pem, const base::Clock& clock);
  // Reads the file again when it has changed; if it cannot be read, that is logged and the last good one stays in use.
  static Result<std::shared_ptr<CertificateAuthority>> FromFile(const std::string& path, const base::Clock& clock);

  // `chain` as in HttpRequest; not empty. The certificate must be for use by clients and valid now.
  Result<CertificateIdentity> Verify(const std::vector<std::string>& chain);

 private:
  CertificateAuthority(std::string path, const base::Clock& clock);
  std::shared_ptr<x509_store_st> CurrentStore();

  const std::string path_;  // empty: never changes
  const base::Clock& clock_;
  std::mutex mutex_;
  FileStamps stamps_;                     // guarded by mutex_
  std::shared_ptr<x509_store_st> store_;  // guarded by mutex_
};

}  // namespace berth::serving
