// Encoding of signature fragments. Signatures are compared, never read, so fields are binary; each one carries its
// length, so that different lists of fields cannot produce the same text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/labels.h"

namespace berth::plugins {

inline void AppendField(std::string& out, int64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendField(std::string& out, std::string_view text) {
  AppendField(out, static_cast<int64_t>(text.size()));
  out.append(text);
}

inline void AppendLabels(std::string& out, const api::Labels& labels) {
  AppendField(out, static_cast<int64_t>(labels.size()));
  for (const auto& [key, value] : labels) {
    AppendField(out, key.str());
    AppendField(out, value.str());
  }
}

}  // namespace berth::plugins
