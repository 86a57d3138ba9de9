// NameLookup: the addresses of a host, looked up on a thread of their own where that may take long: no call can break
// off a resolver that waits for its servers.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/wake_signal.h"

namespace berth::http {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  int family = 0;
};

// Whether it is an address rather than a name.
bool IsAddress(const std::string& name);

// Thread-safe. Whoever has lost interest drops it: the thread keeps what it needs.
class NameLookup {
 public:
  static std::shared_ptr<NameLookup> Start(const std::string& name, const std::string& port);

  // Can be read when it is done.
  int fd() const { return done_.fd(); }
  // Once; nothing while it is going on.
  std::optional<Result<std::vector<SocketAddress>>> Take();

 private:
  void Run(const std::string& name, const std::string& port, int flags);

  WakeSignal done_;
  std::mutex mutex_;
  std::optional<Result<std::vector<SocketAddress>>> found_;  // guarded by mutex_
};

}  // namespace berth::http
