// TcpSocket: a TCP connection that is made and used without ever blocking.
//
//   looking up the name → connecting → open
//
// Advance() moves it on whenever its file descriptor is ready; until it is open, also from time to time. Addresses are
// tried one after the other. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/exchange.h"

namespace berth::http {

class NameLookup;
struct SocketAddress;

class TcpSocket {
 public:
  TcpSocket(std::string name, std::string port);
  ~TcpSocket();
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;

  // Goes on as far as it can: whether it is open by now. After an error there is no going on.
  Result<bool> Advance();

  // So many bytes, 0: none at the moment. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The other side has said that it will send no more.
  bool has_ended() const { return ended_; }

  // What to wait for.
  int fd() const;
  bool wants_write() const { return wants_write_; }

 private:
  enum class State { kNew, kLookingUp, kConnecting, kOpen };

  // Tries the next address: whether that is under way or done.
  Result<void> ConnectNext();
  Result<bool> FinishConnecting();
  Error ConnectError(int code) const;
  void Close();

  const std::string name_, port_;
  State state_ = State::kNew;
  bool wants_write_ = false;
  bool ended_ = false;
  int socket_ = -1;
  std::shared_ptr<NameLookup> lookup_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  SteadyTime tried_{};  // the address before that
};

}  // namespace berth::http
