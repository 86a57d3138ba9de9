#include "client/backoff.h"

#include <algorithm>

namespace berth::client {

base::Duration Jitter(base::Duration duration, double factor, base::Random& random) {
  const auto most = static_cast<int64_t>(static_cast<double>(duration.count()) * factor);
  if (most <= 0) return duration;
  return duration + base::Duration(static_cast<int64_t>(random.Below(static_cast<uint64_t>(most))));
}

base::Duration Backoff::Next(base::Duration now) {
  if (options_.reset_after > base::Duration::zero() && now - started_ > options_.reset_after) {
    next_ = options_.initial;
    started_ = now;
  }
  const base::Duration wait = next_;
  const auto grown = static_cast<int64_t>(static_cast<double>(next_.count()) * options_.factor);
  next_ = std::min(base::Duration(grown), options_.max);
  return Jitter(wait, options_.jitter, random_);
}

}  // namespace berth::client
