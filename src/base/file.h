// Reading and writing whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::base {

// The error says only why ("No such file or directory"): callers add the name in the wording their users expect.
Result<std::string> ReadFile(const std::string& path, size_t size_limit = SIZE_MAX);

// Creates the file or replaces its content. The error says only why, as above.
Result<void> WriteFile(const std::string& path, std::string_view content);

// What is left of a stream that is already open, such as stdin.
Result<std::string> ReadStream(std::FILE* stream, size_t size_limit = SIZE_MAX);

}  // namespace berth::base
