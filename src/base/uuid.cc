#include "base/uuid.h"

#include <fmt/core.h>

namespace berth::base {

std::string MakeUuid(Random& random) {
  const uint64_t high = (random.Next() & ~uint64_t{0xf000}) | 0x4000;                 // the version
  const uint64_t low = (random.Next() & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // the variant
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffff);
}

}  // namespace berth::base
