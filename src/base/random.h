// A seeded random source (xoshiro256**): same seed, same answers, on every machine and standard library.
#pragma once

#include <array>
#include <cstdint>

namespace berth::base {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, bound); bound must be positive.
  uint64_t Below(uint64_t bound);

  // The position in the stream, to resume from later.
  using State = std::array<uint64_t, 4>;
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  State state_{};
};

}  // namespace berth::base
