// Semantic versions as in kubernetes.Semver.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cel/arena.h"

namespace berth::cel {

struct Semver {
  struct Identifier {
    std::string_view text;
    uint64_t number;
    bool numeric;
  };

  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::span<const Identifier> prerelease;
  std::string_view text;  // as written, including build metadata

  // By precedence: -1, 0, 1. Build metadata is ignored.
  int Compare(const Semver& other) const;
};

// Everything a Semver refers to is in the arena.
Result<const Semver*> ParseSemver(std::string_view text, Arena& arena);
// Also accepts "v1", "01.2" and the like.
Result<const Semver*> ParseLooseSemver(std::string_view text, Arena& arena);

}  // namespace berth::cel
