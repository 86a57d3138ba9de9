// Encoding of signature fragments. Signatures are compared, never read, so fields are binary; each one carries its
// length, so that different lists of fields cannot produce the same text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/node_selector.h"

namespace berth::plugins {

// Empty, with room for most fragments: several are made for every pod.
inline std::string NewSignatureText() {
  std::string text;
  text.reserve(240);
  return text;
}

inline void AppendField(std::string& out, int64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendField(std::string& out, std::string_view text) {
  AppendField(out, static_cast<int64_t>(text.size()));
  out.append(text);
}

inline void AppendCount(std::string& out, size_t count) { AppendField(out, static_cast<int64_t>(count)); }

inline void AppendLabels(std::string& out, const api::Labels& labels) {
  AppendCount(out, labels.size());
  for (const auto& [key, value] : labels) {
    AppendField(out, key.str());
    AppendField(out, value.str());
  }
}

inline void AppendRequirements(std::string& out, const std::vector<api::NodeSelectorRequirement>& requirements) {
  AppendCount(out, requirements.size());
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    AppendField(out, requirement.key.str());
    AppendField(out, requirement.op);
    AppendCount(out, requirement.values.size());
    for (const Symbol& value : requirement.values) AppendField(out, value.str());
  }
}

}  // namespace berth::plugins
