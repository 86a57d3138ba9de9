// RequestRate: whether requests keep to a rate: in any period of t seconds, no more than burst + qps * t. Counts like a
// bucket that begins full, but on its own: it is asked about each request that was sent, not before.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace berth::storm {

class RequestRate {
 public:
  RequestRate(double qps, double burst) : qps_(qps), burst_(burst), left_(burst) {}

  // False if the request that is sent now is one too many.
  bool Take(base::Duration now) {
    left_ = std::min(burst_, left_ + std::chrono::duration<double>(now - last_).count() * qps_) - 1;
    last_ = now;
    return left_ >= -kRounding;
  }

 private:
  static constexpr double kRounding = 0.01;

  const double qps_;
  const double burst_;
  double left_;
  base::Duration last_{};
};

}  // namespace berth::storm
