#include "plain_http.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace example {

using berth::Error;
using berth::Result;

namespace {

using Clock = std::chrono::steady_clock;

// More than 100,000 nodes take; a wrong URL may point at anything.
constexpr size_t kMaxAnswer = 64 << 20;

struct Address {
  std::string host, port = "80", path = "/";
};

Result<Address> ParseUrl(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return Error::InvalidArgument("expected an address that begins with http://");
  Address address;
  const size_t slash = std::min(url.find('/', kScheme.size()), url.size());
  address.host = url.substr(kScheme.size(), slash - kScheme.size());
  if (slash < url.size()) address.path = url.substr(slash);
  if (const size_t colon = address.host.rfind(':'); colon != std::string::npos) {
    address.port = address.host.substr(colon + 1);
    address.host.resize(colon);
  }
  return address;
}

class Connection {
 public:
  Connection(Clock::time_point deadline, const std::function<bool()>& stopping)
      : deadline_(deadline), stopping_(stopping) {}
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> Open(const Address& to) {
    addrinfo hints{}, *list = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (const int code = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &list); code != 0) {
      return Error::Unavailable(::gai_strerror(code));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, &::freeaddrinfo);
    socket_ = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (::connect(socket_, list->ai_addr, list->ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return Error::Unavailable(std::strerror(errno));
    if (Result<void> ready = Await(POLLOUT); !ready) return ready;
    int code = 0;
    socklen_t size = sizeof(code);
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
    return code == 0 ? Result<void>() : Error::Unavailable(std::strerror(code));
  }

  Result<void> Send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (Result<void> ready = Await(POLLOUT); !ready) return ready;
      const ssize_t put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && errno != EAGAIN) return Error::Unavailable(std::strerror(errno));
      if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
    }
    return {};
  }

  // Until the server closes.
  Result<std::string> ReadAll() {
    std::string all;
    char buffer[16 << 10];
    while (all.size() < kMaxAnswer) {
      if (Result<void> ready = Await(POLLIN); !ready) return ready.error();
      const ssize_t got = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (got == 0) return all;
      if (got < 0 && errno != EAGAIN) return Error::Unavailable(std::strerror(errno));
      if (got > 0) all.append(buffer, static_cast<size_t>(got));
    }
    return Error::Unavailable("the answer is too long");
  }

 private:
  Result<void> Await(short events) {
    for (;;) {
      if (stopping_()) return Error::Unavailable("stopped");
      if (Clock::now() >= deadline_) return Error::Unavailable("no answer in time");
      pollfd waiting{.fd = socket_, .events = events, .revents = 0};
      if (::poll(&waiting, 1, 100) > 0) return {};
    }
  }

  const Clock::time_point deadline_;
  const std::function<bool()>& stopping_;
  int socket_ = -1;
};

}  // namespace

Result<std::string> GetPlainHttp(const std::string& url, Clock::duration timeout,
                                 const std::function<bool()>& stopping) {
  const Result<Address> address = ParseUrl(url);
  if (!address) return address.error();
  Connection connection(Clock::now() + timeout, stopping);
  if (Result<void> opened = connection.Open(*address); !opened) return opened.error();
  // HTTP/1.0: the answer comes in one piece and ends with the connection.
  const Result<void> sent = connection.Send("GET " + address->path + " HTTP/1.0\r\nHost: " + address->host + ":" +
                                            address->port + "\r\nAccept: application/json\r\n\r\n");
  if (!sent) return sent.error();
  Result<std::string> answer = connection.ReadAll();
  if (!answer) return answer;
  const size_t status = answer->find(' '), line = answer->find("\r\n"), body = answer->find("\r\n\r\n");
  if (!answer->starts_with("HTTP/1.") || body == std::string::npos) return Error::Unavailable("the answer is not HTTP");
  if (answer->compare(status + 1, 3, "200") != 0) {
    return Error::Unavailable("the answer is " + answer->substr(status + 1, line - status - 1));
  }
  return answer->substr(body + 4);
}

}  // namespace example
