#include "client/token_bucket.h"

#include <algorithm>

#include "base/check.h"

namespace berth::client {
namespace {

using Seconds = std::chrono::duration<double>;

// A wait is rounded up to a nanosecond; the rest that may then be missing from a token is not worth another wait.
constexpr double kRounding = 1e-6;

}  // namespace

TokenBucket::TokenBucket(double qps, int burst) : qps_(qps), burst_(burst), tokens_(burst) {
  CHECK_WHY(qps <= 0 || burst > 0, "a bucket that holds no token lets nothing through");
}

void TokenBucket::Refill(base::Duration now) {
  // Threads may get here in a different order than they read the time.
  if (last_ && now <= *last_) return;
  if (last_) tokens_ = std::min(burst_, tokens_ + Seconds(now - *last_).count() * qps_);
  last_ = now;
}

base::Duration TokenBucket::WaitFor(base::Duration now, double keep) {
  if (!limited()) return {};
  const std::lock_guard lock(mutex_);
  Refill(now);
  // The bucket never holds more than the burst.
  const double missing = std::min(keep + 1, burst_) - tokens_;
  if (missing <= kRounding) return {};
  return std::chrono::ceil<base::Duration>(Seconds(missing / qps_));
}

void TokenBucket::Take(base::Duration now) {
  if (!limited()) return;
  const std::lock_guard lock(mutex_);
  Refill(now);
  tokens_ = std::max(0.0, tokens_ - 1);
}

}  // namespace berth::client
