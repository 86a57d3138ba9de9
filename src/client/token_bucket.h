// TokenBucket: limits the request rate: `burst` at once, then `qps` a second, as client-go's flow control.
//
// It never sleeps, and never promises a future token: a caller that finds none asks again later, so the order in which
// tokens are used is decided when they become available, not when they were requested. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "base/clock.h"

namespace berth::client {

class TokenBucket {
 public:
  // No limit when `qps` is 0 or less; otherwise `burst` must be at least 1.
  TokenBucket(double qps, int burst);

  bool limited() const { return qps_ > 0; }
  double burst() const { return burst_; }

  // How long until a token can be taken that leaves `keep` others; 0: now. `now` is monotonic (base::Loop::Now).
  base::Duration WaitFor(base::Duration now, double keep);
  // Takes a token, or what is left of one, for requests that do not wait: the bucket never goes into debt.
  void Take(base::Duration now);

 private:
  void Refill(base::Duration now);

  const double qps_;
  const double burst_;

  std::mutex mutex_;
  // Guarded by mutex_.
  double tokens_;
  std::optional<base::Duration> last_;
};

}  // namespace berth::client
