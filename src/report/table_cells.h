// How tables for people write what stands in their cells.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace berth::report {

inline std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

inline std::string Percent(double share) { return fmt::format("{}%", std::llround(share * 100)); }

}  // namespace berth::report
