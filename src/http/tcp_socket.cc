#include "http/tcp_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "http/name_lookup.h"

namespace berth::http {
namespace {

// How long one of several addresses may take to answer before the next one is tried.
constexpr std::chrono::seconds kAddressPatience{2};
// Probes on an idle connection; if they go unanswered for kKernelTimeout, the kernel closes it.
constexpr int kKeepAliveIdleSeconds = 15;
constexpr int kKeepAliveIntervalSeconds = 5;
constexpr std::chrono::milliseconds kKernelTimeout = std::chrono::seconds(30);

void SetOption(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof(value));
}

int OpenSocket(int family) {
  const int opened = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (opened < 0) return -1;
  SetOption(opened, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(opened, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kKernelTimeout.count()));
  SetOption(opened, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(opened, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  SetOption(opened, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  return opened;
}

bool IsForLater(int code) { return code == EAGAIN || code == EWOULDBLOCK || code == EINTR; }

}  // namespace

TcpSocket::TcpSocket(std::string name, std::string port) : name_(std::move(name)), port_(std::move(port)) {}

TcpSocket::~TcpSocket() { Close(); }

void TcpSocket::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

int TcpSocket::fd() const { return state_ == State::kLookingUp ? lookup_->fd() : socket_; }

Result<bool> TcpSocket::Advance() {
  if (state_ == State::kNew) {
    lookup_ = NameLookup::Start(name_, port_);
    state_ = State::kLookingUp;
  }
  if (state_ == State::kLookingUp) {
    std::optional<Result<std::vector<SocketAddress>>> found = lookup_->Take();
    if (!found) return false;
    if (!*found) return found->error();
    addresses_ = std::move(**found);
    if (Result<void> connecting = ConnectNext(); !connecting) return connecting.error();
  }
  return state_ == State::kConnecting ? FinishConnecting() : Result<bool>(true);
}

Error TcpSocket::ConnectError(int code) const {
  return Error::Unavailable(fmt::format("Failed to connect to {} port {}: {}", name_, port_, std::strerror(code)));
}

Result<void> TcpSocket::ConnectNext() {
  int code = EADDRNOTAVAIL;
  while (next_address_ < addresses_.size()) {
    const SocketAddress& address = addresses_[next_address_++];
    Close();
    socket_ = OpenSocket(address.family);
    if (socket_ >= 0 && (connect(socket_, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0 ||
                         errno == EINPROGRESS)) {
      state_ = State::kConnecting;
      tried_ = std::chrono::steady_clock::now();
      wants_write_ = true;
      return {};
    }
    code = errno;
  }
  return ConnectError(code);
}

Result<bool> TcpSocket::FinishConnecting() {
  int code = 0;
  socklen_t size = sizeof(code);
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof(peer);
  const bool under_way = code == 0 && getpeername(socket_, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0;
  const bool has_next = next_address_ < addresses_.size();
  if (code != 0 && !has_next) return ConnectError(code);
  if (code != 0 || (under_way && has_next && std::chrono::steady_clock::now() - tried_ > kAddressPatience)) {
    if (Result<void> next = ConnectNext(); !next) return next.error();
    return false;
  }
  if (under_way) return false;
  state_ = State::kOpen;
  wants_write_ = false;
  return true;
}

Result<size_t> TcpSocket::Read(char* data, size_t size) {
  const ssize_t got = recv(socket_, data, size, 0);
  if (got > 0) return static_cast<size_t>(got);
  ended_ = got == 0;
  if (ended_) return Error::Unavailable("the server closed the connection");
  if (IsForLater(errno)) return size_t{0};
  return Error::Unavailable(std::strerror(errno));
}

Result<size_t> TcpSocket::Write(std::string_view bytes) {
  const ssize_t put = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  wants_write_ = put < 0 && IsForLater(errno);
  if (put >= 0) return static_cast<size_t>(put);
  if (wants_write_) return size_t{0};
  return Error::Unavailable(std::strerror(errno));
}

}  // namespace berth::http
