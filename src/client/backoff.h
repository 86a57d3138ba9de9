// Backoff: how long to wait after the next failure, growing and jittered. Not thread-safe.
#pragma once

#include <chrono>

#include "base/clock.h"
#include "base/random.h"

namespace berth::client {

struct BackoffOptions {
  // What client-go's reflectors use.
  base::Duration initial = std::chrono::milliseconds(800);
  base::Duration max = std::chrono::seconds(30);
  double factor = 2.0;
  double jitter = 1.0;  // a wait is extended by up to this fraction of itself
  // Waits start over at `initial` if the previous one began longer ago than this; 0: never.
  base::Duration reset_after = std::chrono::minutes(2);
};

class Backoff {
 public:
  Backoff(const BackoffOptions& options, uint64_t seed, base::Duration now)
      : options_(options), random_(seed), next_(options.initial), started_(now) {}

  base::Duration Next(base::Duration now);

 private:
  BackoffOptions options_;
  base::Random random_;
  base::Duration next_;
  base::Duration started_;
};

// `duration`, extended by a random fraction of itself, at most `factor`.
base::Duration Jitter(base::Duration duration, double factor, base::Random& random);

}  // namespace berth::client
