// TlsSocket: a TLS connection to an API server that is made and used without ever blocking.
//
//   looking up the name → connecting → shaking hands → open
//
// Advance() moves it on whenever its file descriptor is ready; until it is open, also from time to time. Not
// thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/credentials.h"
#include "http/exchange.h"
#include "http/server.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace berth::http {

class NameLookup;
struct SocketAddress;

class TlsSocket {
 public:
  // `server` must outlive this.
  TlsSocket(const Server& server, CredentialsPtr credentials);
  ~TlsSocket();
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  // Goes on as far as it can: whether it is open by now. After an error there is no going on.
  Result<bool> Advance();
  bool is_open() const { return state_ == State::kOpen; }
  // Once it is open: whether the server has agreed to HTTP/2.
  bool speaks_http2() const;

  // So many bytes, 0: none at the moment. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);

  // What to wait for.
  int fd() const;
  bool wants_write() const { return wants_write_; }

 private:
  enum class State { kNew, kLookingUp, kConnecting, kHandshaking, kOpen };

  Result<void> Prepare();
  // Tries the next address: whether that is under way or done.
  Result<void> ConnectNext();
  Result<bool> FinishConnecting();
  Result<bool> Handshake();
  Result<void> BeginHandshake();
  Error ConnectError(int code) const;
  Error TlsError(int result) const;
  void Close();

  const Server& server_;
  const CredentialsPtr credentials_;
  State state_ = State::kNew;
  bool wants_write_ = false;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  int socket_ = -1;
  std::shared_ptr<NameLookup> lookup_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  SteadyTime tried_{};  // the address before that
};

}  // namespace berth::http
