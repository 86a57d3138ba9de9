// WriteWindow: until when this process may write. Leader election moves it, and every write checks it right before it
// is sent. Shared by all of them, so the order of their destruction does not matter: the holder of the lease closes it.
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
