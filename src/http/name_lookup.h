// NameLookup: resolves a host name to addresses, on its own thread if that may take long, because a resolver that waits
// for its servers cannot be cancelled.
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

// Thread-safe. May be destroyed before the lookup is done: the thread owns what it needs.
class NameLookup {
 public:
  static std::shared_ptr<NameLookup> Start(const std::string& name, const std::string& port);

  // Readable when the lookup is done.
  int fd() const { return done_.fd(); }
  // Returns the result once; nothing while the lookup is in progress.
  std::optional<Result<std::vector<SocketAddress>>> Take();

 private:
  void Run(const std::string& name, const std::string& port, int flags);

  WakeSignal done_;
  std::mutex mutex_;
  std::optional<Result<std::vector<SocketAddress>>> found_;  // guarded by mutex_
};

}  // namespace berth::http
