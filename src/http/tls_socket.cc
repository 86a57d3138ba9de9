#include "http/tls_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "http/name_lookup.h"
#include "http/socket_options.h"
#include "http/tls_context.h"

namespace berth::http {
namespace {

// How long one of several addresses may take to answer before the next one is tried.
constexpr std::chrono::seconds kAddressPatience{2};

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

}  // namespace

TlsSocket::TlsSocket(const Server& server, CredentialsPtr credentials)
    : server_(server),
      credentials_(std::move(credentials)),
      context_(nullptr, &SSL_CTX_free),
      ssl_(nullptr, &SSL_free) {}

TlsSocket::~TlsSocket() {
  // Says goodbye, without waiting for the answer.
  if (is_open()) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  Close();
}

void TlsSocket::Close() {
  ssl_ = nullptr;
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

int TlsSocket::fd() const { return state_ == State::kLookingUp ? lookup_->fd() : socket_; }

Result<bool> TlsSocket::Advance() {
  if (state_ == State::kNew) {
    if (Result<void> prepared = Prepare(); !prepared) return prepared.error();
  }
  if (state_ == State::kLookingUp) {
    std::optional<Result<std::vector<SocketAddress>>> found = lookup_->Take();
    if (!found) return false;
    if (!*found) return found->error();
    addresses_ = std::move(**found);
    if (Result<void> connecting = ConnectNext(); !connecting) return connecting.error();
  }
  if (state_ == State::kConnecting) {
    const Result<bool> connected = FinishConnecting();
    if (!connected || !*connected) return connected;
  }
  return state_ == State::kHandshaking ? Handshake() : Result<bool>(true);
}

Result<void> TlsSocket::Prepare() {
  Result<TlsContextPtr> context = MakeTlsContext(server_, *credentials_);
  if (!context) return context.error();
  context_ = std::move(*context);
  lookup_ = NameLookup::Start(server_.name(), server_.port());
  state_ = State::kLookingUp;
  return {};
}

Error TlsSocket::ConnectError(int code) const {
  return Error::Unavailable(
      fmt::format("Failed to connect to {} port {}: {}", server_.name(), server_.port(), std::strerror(code)));
}

Result<void> TlsSocket::ConnectNext() {
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

Result<bool> TlsSocket::FinishConnecting() {
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
  if (Result<void> begun = BeginHandshake(); !begun) return begun.error();
  return true;
}

Result<void> TlsSocket::BeginHandshake() {
  ssl_.reset(SSL_new(context_.get()));
  const std::string& name = server_.tls_name();
  const bool is_address = IsAddress(name);
  if (!is_address) SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
  if (!server_.config().insecure) {
    X509_VERIFY_PARAM* expected = SSL_get0_param(ssl_.get());
    X509_VERIFY_PARAM_set_hostflags(expected,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str())
                               : X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size());
    if (set != 1) return Error::Unavailable(fmt::format("tls: \"{}\" cannot be the name of a server", name));
  }
  if (SSL_set_fd(ssl_.get(), socket_) != 1) return Error::Internal("tls: " + TakeTlsError());
  SSL_set_connect_state(ssl_.get());
  state_ = State::kHandshaking;
  return {};
}

Result<bool> TlsSocket::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    state_ = State::kOpen;
    wants_write_ = false;
    return true;
  }
  const int reason = SSL_get_error(ssl_.get(), result);
  wants_write_ = reason == SSL_ERROR_WANT_WRITE;
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return false;
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (verdict != X509_V_OK && !server_.config().insecure) {
    const bool misnamed = verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
    const std::string why =
        misnamed
            ? fmt::format("no alternative certificate subject name matches target host name '{}'", server_.tls_name())
            : X509_verify_cert_error_string(verdict);
    return Error::Unavailable("tls: failed to verify certificate: " + why);
  }
  return TlsError(result);
}

bool TlsSocket::speaks_http2() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

Error TlsSocket::TlsError(int result) const {
  const int code = errno;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_ZERO_RETURN) return Error::Unavailable("the server closed the connection");
  if (reason == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
    return Error::Unavailable(code == 0 ? "the server closed the connection" : std::strerror(code));
  }
  return Error::Unavailable("tls: " + TakeTlsError());
}

Result<size_t> TlsSocket::Read(char* data, size_t size) {
  ERR_clear_error();
  errno = 0;
  size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), data, size, &got);
  if (result == 1) return got;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return size_t{0};
  return TlsError(result);
}

Result<size_t> TlsSocket::Write(std::string_view bytes) {
  ERR_clear_error();
  errno = 0;
  size_t put = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put);
  wants_write_ = result != 1;
  if (result == 1) return put;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return size_t{0};
  return TlsError(result);
}

}  // namespace berth::http
