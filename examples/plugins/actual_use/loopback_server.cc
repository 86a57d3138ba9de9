#include "loopback_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace example {

LoopbackServer::LoopbackServer(std::string body, std::string status)
    : body_(std::move(body)), status_(std::move(status)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    std::abort();  // a machine without a loopback is no place for this test
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

LoopbackServer::~LoopbackServer() { Stop(); }

void LoopbackServer::Answer(std::string body, std::string status) {
  const std::lock_guard lock(mutex_);
  body_ = std::move(body);
  status_ = std::move(status);
}

void LoopbackServer::AwaitRequests(int count) {
  std::unique_lock lock(mutex_);
  const int wanted = requests_ + count;
  came_in_.wait(lock, [&] { return requests_ >= wanted; });
}

void LoopbackServer::Stop() {
  if (!thread_.joinable()) return;
  ::shutdown(listener_, SHUT_RDWR);  // ends accept()
  thread_.join();
  ::close(listener_);
}

void LoopbackServer::Serve() {
  for (;;) {
    const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return;
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::read(peer, buffer, sizeof(buffer));
      if (got <= 0) break;
      request.append(buffer, static_cast<size_t>(got));
    }
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      answer = "HTTP/1.1 " + status_ + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
               std::to_string(body_.size()) + "\r\n\r\n" + body_;
      ++requests_;
    }
    came_in_.notify_all();
    (void)!::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(peer);
  }
}

}  // namespace example
