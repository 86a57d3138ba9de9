#include "client/rate_limit.h"

#include <algorithm>

#include "base/check.h"

namespace berth::client {

using Seconds = std::chrono::duration<double>;

RateLimiter::RateLimiter(double qps, int burst, const base::Clock& clock)
    : qps_(qps), burst_(burst), clock_(clock), tokens_(burst), last_(clock.Now()) {
  CHECK_WHY(qps <= 0 || burst > 0, "a bucket that holds no token lets nothing through");
}

base::Duration RateLimiter::Take() {
  if (qps_ <= 0) return {};
  const std::lock_guard lock(mutex_);
  const base::Time now = clock_.Now();
  // A clock set back must not take tokens away; it only brings none.
  const Seconds passed = std::max(base::Duration::zero(), now - last_);
  last_ = now;
  tokens_ = std::min(burst_, tokens_ + passed.count() * qps_) - 1;
  if (tokens_ >= 0) return {};
  return std::chrono::ceil<base::Duration>(Seconds(-tokens_ / qps_));
}

}  // namespace berth::client
