// How cells of tables for people are written.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace berth::report {

// Text from outside must not reach a terminal as it is: every renderer for people passes texts through this.
inline std::string Cell(std::string_view text) { return base::Printable(text); }

inline std::string OrDash(std::string_view text) { return text.empty() ? "-" : Cell(text); }

// "1 pod", "2 pods"
inline std::string Counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

inline std::string Percent(double share) { return fmt::format("{}%", std::llround(share * 100)); }

}  // namespace berth::report
