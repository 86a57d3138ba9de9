// Values of fields in files that people write, whatever the file is for.
#pragma once

#include <string>

#include "codec/type.h"
#include "codec/value.h"

namespace berth::codec {

// Base64 in the file, possibly with line breaks.
struct FileBytes {
  std::string bytes;
  friend bool operator==(const FileBytes&, const FileBytes&) = default;
};

// A part of the document that is not decoded; valid as long as the document.
struct FileRaw {
  Value value;
};

template <>
struct ScalarTraits<FileBytes> {
  static std::string FromJson(const Value& value, FileBytes& out);
  static void ToJson(const FileBytes& value, JsonWriter& writer);
};

template <>
struct ScalarTraits<FileRaw> {
  static std::string FromJson(const Value& value, FileRaw& out);
  static void ToJson(const FileRaw& value, JsonWriter& writer);
  static bool IsEmpty(const FileRaw& value) { return value.value.is_null(); }
};

}  // namespace berth::codec
