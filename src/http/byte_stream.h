// ByteStream: bytes to a server and from it, plain or over TLS, directly or through a proxy; made and used without ever
// blocking.
//
//   connecting → [TLS with the proxy] → [tunnel through the proxy] → [TLS with the server] → open
//
// Advance() moves it on whenever its file descriptor is ready; until it is open, also from time to time. Plain HTTP
// goes to an HTTP proxy without a tunnel: the request has to say which server is meant. Not thread-safe.
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

  // Goes on as far as it can: whether it is open by now. After an error there is no going on.
  Result<bool> Advance();
  bool is_open() const { return stage_ == Stage::kOpen; }
  // Once it is open: whether the server has agreed to HTTP/2.
  bool speaks_http2() const { return tls_ && tls_->speaks_http2(); }

  // So many bytes, 0: none at the moment. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The server has said that it will send no more, in a way that nobody between could have forged if there is TLS.
  bool has_ended() const;

  // What to wait for.
  int fd() const { return socket_ ? socket_->fd() : -1; }
  bool wants_write() const;

 private:
  enum class Stage { kNew, kConnecting, kProxyTls, kTunnel, kTls, kOpen };

  // Both: whether this stage is done.
  Result<bool> AdvanceStage();
  Result<bool> AdvanceTunnel();
  // Begins the stage after this one.
  Result<void> EnterNext();
  Result<void> Prepare();
  // "proxy http://…: " before what went wrong on the way to it.
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
