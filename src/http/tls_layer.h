// TlsLayer: TLS as a client over a connection, or over another such layer: through a proxy that is itself spoken to
// over TLS, the server's is inside the proxy's. Never blocks. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/tls_context.h"

typedef struct ssl_st SSL;

namespace berth::http {

class TlsLayer {
 public:
  // `name` is the one that the certificate has to have; an insecure layer takes any certificate.
  TlsLayer(TlsContextPtr context, std::string name, bool insecure);
  ~TlsLayer();
  TlsLayer(const TlsLayer&) = delete;
  TlsLayer& operator=(const TlsLayer&) = delete;

  // One of these first. What is below must outlive this.
  Result<void> BeginOver(int socket);
  Result<void> BeginOver(TlsLayer& outer);
  // Whether it is open by now.
  Result<bool> Handshake();

  // So many bytes, 0: none at the moment. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The other side has said, under TLS, that it will send no more.
  bool has_ended() const;
  // Once it is open: whether the server has agreed to HTTP/2.
  bool speaks_http2() const;
  bool wants_write() const { return wants_write_; }

 private:
  Result<void> Prepare();
  Error ErrorOf(int result) const;

  const TlsContextPtr context_;
  const std::string name_;
  const bool insecure_;
  bool open_ = false;
  bool wants_write_ = false;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
};

}  // namespace berth::http
