// What a YAML scalar means: the implicit typing of YAML 1.1 as go-yaml v2, and so Kubernetes, reads it.
#pragma once

#include <string>
#include <string_view>

namespace berth::codec {

struct ResolvedScalar {
  enum class Kind { kNull, kBool, kInteger, kFloat, kString, kInvalid };

  Kind kind = Kind::kNull;
  bool boolean = false;
  // The string, the number as JSON text, or for kInvalid what is wrong. Empty for .inf and .nan, which JSON lacks.
  std::string text;
};

// A scalar without a tag that was written plainly: `yes` is true, `0x10` is 16, `1_000` is 1000, `2024-01-01` a string.
ResolvedScalar ResolvePlain(std::string_view text);

// A scalar with an explicit tag ("tag:yaml.org,2002:int"), however it was quoted. Unknown tags leave a string.
ResolvedScalar ResolveTagged(std::string_view tag, std::string_view text);

}  // namespace berth::codec
