// Reading whole files, compressed or not; and compressing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

// Refuses to produce more than this unless told otherwise: a small compressed file may unpack to anything.
inline constexpr size_t kDefaultSizeLimit = size_t{4} << 30;

// The content of a file, or of standard input for "-". Gzip is recognised by its first bytes, not by the name, and
// unpacked (all members of it). Errors name the file.
Result<std::string> ReadFile(const std::string& path, size_t size_limit = kDefaultSizeLimit);

bool IsGzip(std::string_view bytes);
Result<std::string> Gunzip(std::string_view bytes, size_t size_limit = kDefaultSizeLimit);
// The same bytes for the same input: neither a time nor a name is put in.
std::string Gzip(std::string_view bytes);

}  // namespace berth::codec
