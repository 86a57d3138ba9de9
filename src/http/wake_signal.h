// WakeSignal: a file descriptor that becomes readable when Set() is called, for a thread that polls sockets.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.h"

namespace berth::http {

// Thread-safe.
class WakeSignal {
 public:
  WakeSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK_WHY(fd_ >= 0, "no file descriptor left"); }
  ~WakeSignal() { close(fd_); }
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  int fd() const { return fd_; }
  // Both can fail only because the counter is full or empty, which has the same effect.
  void Set() { eventfd_write(fd_, 1); }
  void Clear() {
    eventfd_t ignored = 0;
    eventfd_read(fd_, &ignored);
  }

 private:
  const int fd_;
};

}  // namespace berth::http
