// A list of texts under a key: warnings and notes of the reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/json_writer.h"

namespace berth::report {

inline void WriteTexts(codec::JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.StartArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

}  // namespace berth::report
