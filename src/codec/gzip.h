// Reading whole files, compressed or not; and compressing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

// The default limit on decompressed content: a small compressed file may expand to any size.
inline constexpr size_t kDefaultSizeLimit = size_t{4} << 30;

// The content of a file, or of standard input for "-". Gzip is recognised by its first bytes, not by the name, and
// unpacked (all members of it). Errors name the file.
Result<std::string> ReadFile(const std::string& path, size_t size_limit = kDefaultSizeLimit);

bool IsGzip(std::string_view bytes);
Result<std::string> Gunzip(std::string_view bytes, size_t size_limit = kDefaultSizeLimit);
// Deterministic: the header has neither a time nor a name.
std::string Gzip(std::string_view bytes);

}  // namespace berth::codec
