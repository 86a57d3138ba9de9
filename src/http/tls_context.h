// TLS settings for connections to a server and its proxy: trusted authorities, client certificate, offered protocols.
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

// Makes contexts and keeps the latest of each: loading the system's authorities takes milliseconds, and connections
// share them. Not thread-safe.
class TlsContexts {
 public:
  // `server` must outlive this. With kHttp2, a server may still choose HTTP/1.1.
  TlsContexts(const Server& server, Protocol protocol) : server_(server), protocol_(protocol) {}

  Result<TlsContextPtr> ForServer(const CredentialsPtr& credentials);
  // Presents no client certificate, and also trusts the system's authorities.
  Result<TlsContextPtr> ForProxy();

 private:
  Result<TlsContextPtr> Make(const Credentials& credentials, const std::string& authorities, Protocol protocol) const;

  const Server& server_;
  const Protocol protocol_;
  TlsContextPtr for_server_, for_proxy_;
  CredentialsPtr shown_;  // by for_server_
};

// The oldest error that OpenSSL has recorded on this thread, in its words; clears all of them.
std::string TakeTlsError();

}  // namespace berth::http
