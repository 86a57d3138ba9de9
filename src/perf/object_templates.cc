#include "perf/object_templates.h"

#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/gzip.h"
#include "codec/yaml.h"

namespace berth::perf {

namespace {

Result<codec::Document> ParseOne(const std::string& text, const std::string& path) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, path);
  if (!documents) return documents.error();
  if (documents->size() != 1) {
    return Error::InvalidArgument(fmt::format("{}: expected one object, found {}", path, documents->size()));
  }
  return std::move(documents->front());
}

Result<void> CheckType(const codec::Value& root, const api::KindInfo& info, const std::string& path) {
  const codec::Value* kind = root.Find("kind");
  if (!kind || kind->text() == info.name) return {};
  return Error::InvalidArgument(
      fmt::format("{}: kind: expected {}, found {}", codec::Where(path, kind->mark()), info.name, kind->Description()));
}

}  // namespace

Result<ObjectTemplates::File*> ObjectTemplates::Open(const std::string& path) {
  if (const auto it = files_.find(path); it != files_.end()) return &it->second;
  Result<std::string> content = codec::ReadFile(path);
  if (!content) return content.error();
  Result<TextTemplate> text = TextTemplate::Parse(*content, path);
  if (!text) return text.error();
  return &files_.emplace(path, File{std::move(*text), {}}).first->second;
}

Result<std::shared_ptr<const void>> ObjectTemplates::MakeAs(const api::KindInfo& info, const std::string& path,
                                                            int64_t index, int64_t count) {
  Result<File*> file = Open(path);
  if (!file) return file.error();
  if (const auto it = (*file)->made.find(info.kind); it != (*file)->made.end()) return it->second;
  Result<std::string> text = (*file)->text.Expand(index, count);
  if (!text) return text.error();
  Result<codec::Document> document = ParseOne(*text, path);
  if (!document) return document.error();
  if (Result<void> typed = CheckType(document->root(), info, path); !typed) return typed.error();

  std::shared_ptr<void> object = info.make();
  std::vector<codec::Diagnostic> problems;
  codec::Decode(document->root(), info.message(), object.get(), {.strict = true, .yaml = true}, problems);
  if (Result<void> decoded = codec::ToResult(path, problems); !decoded) return decoded.error();
  std::shared_ptr<const void> frozen = std::move(object);
  if ((*file)->text.is_constant()) (*file)->made[info.kind] = frozen;
  return frozen;
}

Result<api::Object> ObjectTemplates::MakeAny(const std::string& path, int64_t index, int64_t count) {
  Result<File*> file = Open(path);
  if (!file) return file.error();
  Result<std::string> text = (*file)->text.Expand(index, count);
  if (!text) return text.error();
  Result<codec::Document> document = ParseOne(*text, path);
  if (!document) return document.error();
  Result<api::DecodedObjects> decoded = api::DecodeObjects(*document, {.strict = true, .allow_generate_name = true});
  if (!decoded) return decoded.error();
  if (!decoded->unknown.empty()) {
    const api::UnknownObject& unknown = decoded->unknown.front();
    return Error::Unsupported(fmt::format("{}: {} {} is not a kind that berth reads", codec::Where(path, unknown.where),
                                          unknown.api_version, unknown.kind));
  }
  if (decoded->objects.size() != 1) {
    return Error::InvalidArgument(fmt::format("{}: expected one object, found {}", path, decoded->objects.size()));
  }
  return decoded->objects.front().object;
}

}  // namespace berth::perf
