// The settings of TLS for connections to an API server: whom to trust, and who we are.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "http/credentials.h"
#include "http/server.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace berth::http {

using TlsContextPtr = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

Result<TlsContextPtr> MakeTlsContext(const Server& server, const Credentials& credentials);

// The oldest error that OpenSSL has noted on this thread, in its words; forgets all of them.
std::string TakeTlsError();

}  // namespace berth::http
