// The fields of JSON objects in reports, one call each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_writer.h"

namespace berth::report {

// Base of the classes that write a report. `json` must outlive it.
class JsonFields {
 public:
  explicit JsonFields(codec::JsonWriter& json) : json_(json) {}

  // Omitted if empty.
  void Text(std::string_view key, std::string_view value) {
    if (!value.empty()) TextEvenIfEmpty(key, value);
  }
  void TextEvenIfEmpty(std::string_view key, std::string_view value) {
    json_.Key(key);
    json_.String(value);
  }
  void Count(std::string_view key, size_t value) {
    json_.Key(key);
    json_.Uint64(value);
  }
  void Number(std::string_view key, int64_t value) {
    json_.Key(key);
    json_.Int64(value);
  }
  void Flag(std::string_view key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }
  // `each` writes one item.
  template <class Items, class Each>
  void List(std::string_view key, const Items& items, Each each) {
    json_.Key(key);
    json_.StartArray();
    for (const auto& item : items) each(item);
    json_.EndArray();
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    List(key, texts, [&](const std::string& text) { json_.String(text); });
  }

 protected:
  codec::JsonWriter& json_;
};

}  // namespace berth::report
