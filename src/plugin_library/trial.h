// Runs foreign code for the first time where it can do no harm: in a child process that is discarded.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"

namespace berth::plugin_library {

// How `body` fails in a child process: "crashed (SIGSEGV)", "ended the process (exit status 3)", "did not come back
// within 5s". Unset if it returns or throws: the caller can handle both itself. The child is gone in every case.
//
// Forks, so call it at the start of a program, before there are threads.
std::optional<std::string> HowItFails(const std::function<void()>& body, base::Duration patience);

}  // namespace berth::plugin_library
