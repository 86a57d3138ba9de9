// TlsLayer: a TLS client over a connection, or over another such layer: if the proxy itself is reached over TLS, the
// server's TLS runs inside the proxy's. Never blocks. Not thread-safe.
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
  // `name` is the name that the certificate must have; an insecure layer accepts any certificate.
  TlsLayer(TlsContextPtr context, std::string name, bool insecure);
  ~TlsLayer();
  TlsLayer(const TlsLayer&) = delete;
  TlsLayer& operator=(const TlsLayer&) = delete;

  // Call one of these first. The layer below must outlive this.
  Result<void> BeginOver(int socket);
  Result<void> BeginOver(TlsLayer& outer);
  // Returns whether the layer is open now.
  Result<bool> Handshake();

  // Returns the number of bytes, 0 if none can be transferred now. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The peer has announced, under TLS, that it will send no more.
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
