// Selects the certificate by the name that a client asks for (SNI): --tls-sni-cert-key.
//
// Looked up as in Go: the name itself, then the name with its first label replaced by "*", then the default
// certificate. A client that asks for no name is treated as asking for the address it connected to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ssl_ctx_st;  // SSL_CTX
struct ssl_st;      // SSL
struct x509_st;     // X509

namespace berth::serving {

class ServerNames {
 public:
  // If a name is added twice, the first one wins; but names that were configured (`is_explicit`) win over those read
  // from a certificate.
  void Add(const std::vector<std::string>& names, std::shared_ptr<ssl_ctx_st> context, bool is_explicit);
  // Null if nothing was added for that name.
  ssl_ctx_st* Find(std::string_view name) const;
  bool empty() const { return contexts_.empty(); }

 private:
  struct Entry {
    std::shared_ptr<ssl_ctx_st> context;
    bool is_explicit;
  };
  std::map<std::string, Entry, std::less<>> contexts_;
};

// The names a certificate is for: its common name, if that is a valid name, and its DNS names.
std::vector<std::string> NamesOf(x509_st* certificate);

// Connections that start with `context` continue with the context of the name they ask for. `names` live as long as
// `context`, whoever else holds it.
void ServeByName(ssl_ctx_st* context, ServerNames names);
// Call before the handshake: used for clients that ask for no name.
void SetLocalAddress(ssl_st* connection, std::string address);

}  // namespace berth::serving
