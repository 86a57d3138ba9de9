// Which certificate a client gets by the name it asks for (SNI): --tls-sni-cert-key.
//
// Looked up as Go does it: the name itself, then the name with its first label replaced by "*", then whatever is
// served to everybody else. A client that asks for no name is taken to ask for the address it connected to.
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
  // Where a name is taken twice, the earlier one has it; but names given (`is_explicit`) win over those that were read
  // from a certificate.
  void Add(const std::vector<std::string>& names, std::shared_ptr<ssl_ctx_st> context, bool is_explicit);
  // Null when nobody has that name.
  ssl_ctx_st* Find(std::string_view name) const;
  bool empty() const { return contexts_.empty(); }

 private:
  struct Entry {
    std::shared_ptr<ssl_ctx_st> context;
    bool is_explicit;
  };
  std::map<std::string, Entry, std::less<>> contexts_;
};

// The names a certificate is for: its common name, where that is a name at all, and its DNS names.
std::vector<std::string> NamesOf(x509_st* certificate);

// Connections that begin with `context` go on with the one of the name they ask for. `names` live as long as `context`
// does, whoever else holds it.
void ServeByName(ssl_ctx_st* context, ServerNames names);
// Before the handshake: for clients that ask for no name.
void SetLocalAddress(ssl_st* connection, std::string address);

}  // namespace berth::serving
