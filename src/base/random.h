// A seeded random source (xoshiro256**): same seed, same answers, on every machine and standard library.
#pragma once

#include <cstdint>

namespace berth::base {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, bound); bound must be positive.
  uint64_t Below(uint64_t bound);

 private:
  uint64_t state_[4];
};

}  // namespace berth::base
