// The settings of TLS for connections to a server and its proxy: whom to trust, who we are, what we speak.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "http/credentials.h"
#include "http/server.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace berth::http {

using TlsContextPtr = std::shared_ptr<SSL_CTX>;

// What is offered to a server.
enum class Protocol { kHttp1, kHttp2 };

// Makes contexts and keeps the latest of each: reading the authorities of a system takes milliseconds, and connections
// share them. Not thread-safe.
class TlsContexts {
 public:
  // `server` must outlive this. With kHttp2, a server may still choose HTTP/1.1.
  TlsContexts(const Server& server, Protocol protocol) : server_(server), protocol_(protocol) {}

  Result<TlsContextPtr> ForServer(const CredentialsPtr& credentials);
  // It is shown no certificate of ours, and may have one that the system trusts as well.
  Result<TlsContextPtr> ForProxy();

 private:
  Result<TlsContextPtr> Make(const Credentials& credentials, const std::string& authorities, Protocol protocol) const;

  const Server& server_;
  const Protocol protocol_;
  TlsContextPtr for_server_, for_proxy_;
  CredentialsPtr shown_;  // by for_server_
};

// The oldest error that OpenSSL has noted on this thread, in its words; forgets all of them.
std::string TakeTlsError();

}  // namespace berth::http
