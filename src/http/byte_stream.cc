#include "http/byte_stream.h"

#include <fmt/format.h>

#include <utility>

namespace berth::http {

ByteStream::ByteStream(const Server& server, TlsContexts& contexts, CredentialsPtr credentials)
    : server_(server), contexts_(contexts), credentials_(std::move(credentials)) {}

Result<void> ByteStream::Prepare() {
  const Result<std::optional<Proxy>>& proxy = server_.proxy();
  if (!proxy) return Error::Unavailable(proxy.error().message);
  if (proxy->has_value()) proxy_ = &**proxy;
  if (server_.config().is_tls()) {
    Result<TlsContextPtr> context = contexts_.ForServer(credentials_);
    if (!context) return context.error();
    server_context_ = std::move(*context);
  }
  if (proxy_ != nullptr && proxy_->kind == Proxy::Kind::kHttps) {
    Result<TlsContextPtr> context = contexts_.ForProxy();
    if (!context) return OfProxy(context.error());
    proxy_context_ = std::move(*context);
  }
  if (proxy_ != nullptr) {
    socket_.emplace(proxy_->name, proxy_->port);
  } else {
    socket_.emplace(server_.name(), server_.port());
  }
  return {};
}

Error ByteStream::OfProxy(const Error& error) const {
  return {error.code, fmt::format("proxy {}: {}", proxy_->address(), error.message)};
}

Result<bool> ByteStream::Advance() {
  while (!is_open()) {
    const Result<bool> done = AdvanceStage();
    if (!done) return proxy_ != nullptr && stage_ < Stage::kTunnel ? OfProxy(done.error()) : done;
    if (!*done) return false;
    if (Result<void> entered = EnterNext(); !entered) return entered.error();
  }
  return true;
}

Result<bool> ByteStream::AdvanceStage() {
  switch (stage_) {
    case Stage::kConnecting:
      return socket_->Advance();
    case Stage::kProxyTls:
      return proxy_tls_->Handshake();
    case Stage::kTunnel:
      return AdvanceTunnel();
    case Stage::kTls:
      return tls_->Handshake();
    default:
      return true;
  }
}

Result<void> ByteStream::EnterNext() {
  if (stage_ == Stage::kNew) {
    if (Result<void> prepared = Prepare(); !prepared) return prepared;
    stage_ = Stage::kConnecting;
    return {};
  }
  const bool insecure = server_.config().insecure;
  if (stage_ < Stage::kProxyTls && proxy_context_ != nullptr) {
    stage_ = Stage::kProxyTls;
    proxy_tls_.emplace(proxy_context_, proxy_->name, insecure);
    return proxy_tls_->BeginOver(socket_->fd());
  }
  const bool needs_tunnel = proxy_ != nullptr && (server_context_ != nullptr || proxy_->kind == Proxy::Kind::kSocks5);
  if (stage_ < Stage::kTunnel && needs_tunnel) {
    stage_ = Stage::kTunnel;
    tunnel_ = MakeProxyTunnel(*proxy_, server_.name(), server_.port(), server_.config().user_agent);
    return {};
  }
  if (stage_ < Stage::kTls && server_context_ != nullptr) {
    stage_ = Stage::kTls;
    tls_.emplace(server_context_, server_.tls_name(), insecure);
    return proxy_tls_ ? tls_->BeginOver(*proxy_tls_) : tls_->BeginOver(socket_->fd());
  }
  stage_ = Stage::kOpen;
  return {};
}

// Until the server's layer exists, Read() and Write() go to the proxy.
Result<bool> ByteStream::AdvanceTunnel() {
  for (;;) {
    while (!tunnel_->output().empty()) {
      const Result<size_t> written = Write(tunnel_->output());
      if (!written) return OfProxy(written.error());
      if (*written == 0) return false;
      tunnel_->Sent(*written);
    }
    if (tunnel_->is_open()) return true;
    char buffer[512];
    const Result<size_t> got = Read(buffer, sizeof(buffer));
    if (!got) return OfProxy(got.error());
    if (*got == 0) return false;
    if (Result<void> taken = tunnel_->Receive({buffer, *got}); !taken) return taken.error();
  }
}

Result<size_t> ByteStream::Read(char* data, size_t size) {
  if (tls_) return tls_->Read(data, size);
  return proxy_tls_ ? proxy_tls_->Read(data, size) : socket_->Read(data, size);
}

Result<size_t> ByteStream::Write(std::string_view bytes) {
  if (tls_) return tls_->Write(bytes);
  return proxy_tls_ ? proxy_tls_->Write(bytes) : socket_->Write(bytes);
}

bool ByteStream::has_ended() const {
  if (tls_) return tls_->has_ended();
  return proxy_tls_ ? proxy_tls_->has_ended() : socket_ && socket_->has_ended();
}

bool ByteStream::wants_write() const {
  if (tls_) return tls_->wants_write();
  return proxy_tls_ ? proxy_tls_->wants_write() : socket_ && socket_->wants_write();
}

}  // namespace berth::http
