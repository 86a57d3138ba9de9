#include "http/name_lookup.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace berth::http {
bool IsAddress(const std::string& name) {
  in6_addr ignored;
  return inet_pton(AF_INET, name.c_str(), &ignored) == 1 || inet_pton(AF_INET6, name.c_str(), &ignored) == 1;
}

std::shared_ptr<NameLookup> NameLookup::Start(const std::string& name, const std::string& port) {
  auto lookup = std::make_shared<NameLookup>();
  if (IsAddress(name)) {
    lookup->Run(name, port, AI_NUMERICHOST);
    return lookup;
  }
  std::thread([lookup, name, port] {
    // Signals are handled by the main thread.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    lookup->Run(name, port, AI_ADDRCONFIG);
  }).detach();
  return lookup;
}

void NameLookup::Run(const std::string& name, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(name.c_str(), port.c_str(), &hints, &list);
  Result<std::vector<SocketAddress>> found = std::vector<SocketAddress>();
  if (code != 0) found = Error::Unavailable(fmt::format("Could not resolve host: {}: {}", name, gai_strerror(code)));
  for (const addrinfo* entry = code == 0 ? list : nullptr; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address{.size = entry->ai_addrlen, .family = entry->ai_family};
    std::memcpy(&address.bytes, entry->ai_addr, entry->ai_addrlen);
    found->push_back(address);
  }
  if (code == 0) freeaddrinfo(list);
  const std::lock_guard lock(mutex_);
  found_ = std::move(found);
  done_.Set();
}

std::optional<Result<std::vector<SocketAddress>>> NameLookup::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, std::nullopt);
}

}  // namespace berth::http
