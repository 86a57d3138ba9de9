// WriteWindow: until when this process may write, which leader election moves and every write asks right before it goes
// out. Shared by all who ask, so that it does not matter who of them ends first: whoever holds the lease closes it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace berth::client {

// Thread-safe. Times are those of base::Loop::Now, which all loops of a process share.
class WriteWindow {
 public:
  void MoveTo(base::Duration deadline) { deadline_.store(deadline.count(), std::memory_order_release); }
  void Close() { MoveTo(base::Duration::zero()); }

  // Zero when it is closed.
  base::Duration deadline() const { return base::Duration(deadline_.load(std::memory_order_acquire)); }
  base::Duration TimeLeft(base::Duration now) const { return deadline() - now; }

 private:
  std::atomic<int64_t> deadline_{0};
};

}  // namespace berth::client
