// TokenBucket: how many requests may go out: `burst` at once, then `qps` a second, as client-go's flow control.
//
// It never sleeps, and never promises a token that is not there: who finds none asks again later, so the order in which
// tokens are used is decided when they are there, not when they were asked for. Thread-safe.
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

  // How long until a token can be taken that leaves `keep` others; 0 for now. `now` is monotonic (base::Loop::Now).
  base::Duration WaitFor(base::Duration now, double keep);
  // Takes a token, or what is left of one, for requests that do not wait: there is no debt.
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
