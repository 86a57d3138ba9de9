// What the fuzzer runs, and what every build replays on the kept inputs.
#pragma once

#include <string_view>

namespace berth::cel {

// Parses, checks, evaluates; prints what it parsed, parses that again and CHECKs that it is the same.
void FuzzCel(std::string_view text);

}  // namespace berth::cel
