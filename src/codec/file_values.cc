#include "codec/file_values.h"

#include <optional>
#include <utility>

#include "base/base64.h"
#include "codec/json_writer.h"

namespace berth::codec {

std::string ScalarTraits<FileBytes>::FromJson(const Value& value, FileBytes& out) {
  std::optional<std::string> bytes;
  if (value.is_string()) bytes = base::DecodeBase64(value.text());
  if (!bytes) return "expected base64";
  out.bytes = std::move(*bytes);
  return {};
}

void ScalarTraits<FileBytes>::ToJson(const FileBytes& value, JsonWriter& writer) {
  writer.String(base::EncodeBase64(value.bytes));
}

std::string ScalarTraits<FileRaw>::FromJson(const Value& value, FileRaw& out) {
  out.value = value;
  return {};
}

void ScalarTraits<FileRaw>::ToJson(const FileRaw& value, JsonWriter& writer) { writer.Write(value.value); }

}  // namespace berth::codec
