// RateLimiter: a token bucket over requests, so that one client does not drown the API server.
#pragma once

#include <mutex>

#include "base/clock.h"

namespace berth::client {

// `burst` requests at once, then `qps` a second, as client-go's flow control: every request takes a token, the start of
// a watch as well. Nothing sleeps here: who takes a token is told how long to wait before using it.
// Thread-safe; tokens are handed out in the order of the calls.
class RateLimiter {
 public:
  // No limit when `qps` is 0 or less; otherwise `burst` must be at least 1. `clock` must outlive this.
  RateLimiter(double qps, int burst, const base::Clock& clock);

  // Takes the next token: how long until it may be used, 0 for at once.
  base::Duration Take();

 private:
  const double qps_;
  const double burst_;
  const base::Clock& clock_;

  std::mutex mutex_;
  // Guarded by mutex_. Negative: tokens already promised.
  double tokens_;
  base::Time last_;
};

}  // namespace berth::client
