// Running foreign code for the first time where it can do no harm: in a child process that is thrown away.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"

namespace berth::plugin_library {

// How `body` fails in a child process: "crashed (SIGSEGV)", "ended the process (exit status 3)", "did not come back
// within 5s". Unset when it returns or throws: both can be seen to here. The child is gone in every case.
//
// Forks, so it belongs to the start of a program, before there are threads.
std::optional<std::string> HowItFails(const std::function<void()>& body, base::Duration patience);

}  // namespace berth::plugin_library
