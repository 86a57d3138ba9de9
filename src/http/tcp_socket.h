// TcpSocket: a TCP connection that is opened and used without ever blocking.
//
//   looking up the name → connecting → open
//
// Call Advance() whenever the file descriptor is ready and, until the socket is open, also from time to time. Addresses
// are tried one after the other. Not thread-safe.
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

  // Makes as much progress as it can; returns whether the socket is open now. Unusable after an error.
  Result<bool> Advance();

  // Returns the number of bytes, 0 if none can be transferred now. The end of the connection is an error.
  Result<size_t> Read(char* data, size_t size);
  Result<size_t> Write(std::string_view bytes);
  // The peer has closed its sending side.
  bool has_ended() const { return ended_; }

  // What to poll for.
  int fd() const;
  bool wants_write() const { return wants_write_; }

 private:
  enum class State { kNew, kLookingUp, kConnecting, kOpen };

  // Starts connecting to the next address, or is done at once.
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
