// Manual pages in roff, from the verbs' own descriptions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "verbs.h"

namespace berth::cmd {

// berth(1), which names the others.
std::string ManPageOfAll(std::span<const VerbDescription> verbs, std::string_view version);
// berth-simulate(1)
std::string ManPage(const VerbDescription& verb, std::string_view version);
// "berth-bench-perf", for "bench perf"; without a section.
std::string ManPageName(std::string_view verb);

}  // namespace berth::cmd
