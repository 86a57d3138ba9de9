// Certificates generated at run time, for tests that use TLS on loopback.
#pragma once

#include <string>

namespace berth::http {

struct TlsIdentity {
  std::string certificate;  // PEM
  std::string key;
};

// A certificate authority of its own.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "test-ca");

  const std::string& certificate() const { return identity_.certificate; }
  // For a server or a client; `alternative_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:localhost".
  TlsIdentity Issue(const std::string& common_name, const std::string& alternative_names = "IP:127.0.0.1") const;

 private:
  TlsIdentity identity_;
};

}  // namespace berth::http
