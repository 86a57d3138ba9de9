// ByteStream: a byte stream to a server and back, plain or over TLS, directly or through a proxy. It is opened and used
// without ever blocking.
//
//   connecting → [TLS with the proxy] → [tunnel through the proxy] → [TLS with the server] → open
//
// Call Advance() whenever the file descriptor is ready and, until the stream is open, also from time to time. Plain
// HTTP goes to an HTTP proxy without a tunnel: the request itself names the server. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "http/credentials.h"
#include "http/proxy_tunnel.h"
#include "http/server.h"
#include "http/tcp_socket.h"
#include "http/tls_layer.h"

namespace berth::http {

class ByteStream {
 public:
  // All must outlive this.
  ByteStream(const Server& server, TlsContexts& contexts, CredentialsPtr credentials);

  // Makes as much progress as it can; returns whether the stream is open now. Unusable after an error.
  Result<bool> Advance();
  bool is_open() const { return stage_ == Stage::kOpen; }
  // Once it is open: whether the server has agreed to HTTP/2.
  bool speaks_http2() const { return tls_ && tls_->speaks_http2(); }

  // Returns the number of bytes, 0 if none can be transferred now. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The server has announced that it will send no more. Under TLS, nobody in between can forge that.
  bool has_ended() const;

  // What to poll for.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  bool wants_write() const;

 private:
  enum class Stage { kNew, kConnecting, kProxyTls, kTunnel, kTls, kOpen };

  // Both return whether this stage is done.
  Result<bool> AdvanceStage();
  Result<bool> AdvanceTunnel();
  // Starts the next stage.
  Result<void> EnterNext();
  Result<void> Prepare();
  // Puts "proxy http://…: " before an error on the way to the proxy.
  Error OfProxy(const Error& error) const;

  const Server& server_;
  TlsContexts& contexts_;
  const CredentialsPtr credentials_;
  const Proxy* proxy_ = nullptr;
  TlsContextPtr proxy_context_, server_context_;  // null: no TLS
  Stage stage_ = Stage::kNew;
  // Each uses the ones before it.
  std::optional<TcpSocket> socket_;
  std::optional<TlsLayer> proxy_tls_;
  std::unique_ptr<ProxyTunnel> tunnel_;
  std::optional<TlsLayer> tls_;
};

}  // namespace berth::http
