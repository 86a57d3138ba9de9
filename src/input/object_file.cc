#include "input/object_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "codec/gzip.h"
#include "codec/yaml_writer.h"

namespace berth::input {

namespace {

std::string ToJsonList(const std::vector<api::Object>& objects) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  std::string_view before = "\n";
  for (const api::Object& object : objects) {
    text.append(before).append(api::EncodeJson(object));
    before = ",\n";
  }
  return text + "\n]}\n";
}

std::string ToYamlDocuments(const std::vector<api::Object>& objects) {
  std::string text;
  for (const api::Object& object : objects) {
    if (!text.empty()) text += "---\n";
    text += codec::JsonToYaml(api::EncodeJson(object));
  }
  return text;
}

}  // namespace

ObjectFileFormat FormatOf(const std::string& path) {
  std::string_view name = path;
  ObjectFileFormat format;
  format.gzip = name.ends_with(".gz");
  if (format.gzip) name.remove_suffix(3);
  format.json = name.ends_with(".json");
  return format;
}

std::string ObjectFileText(const std::vector<api::Object>& objects, ObjectFileFormat format) {
  std::string text = format.json ? ToJsonList(objects) : ToYamlDocuments(objects);
  return format.gzip ? codec::Gzip(text) : text;
}

Result<void> WriteObjectFile(const std::vector<api::Object>& objects, const std::string& path) {
  const std::string text = ObjectFileText(objects, FormatOf(path));
  if (path != "-") {
    const Result<void> written = base::WriteFile(path, text);
    if (written) return {};
    return Error::Unavailable(fmt::format("cannot write to {}: {}", path, written.error().message));
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return Error::Unavailable(fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
}

}  // namespace berth::input
