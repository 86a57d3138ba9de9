// Base64 with the standard alphabet and padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

// Line breaks are ignored, as Go ignores them; unset when the text is malformed.
std::optional<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace berth::base
