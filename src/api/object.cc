#include "api/object.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "api/bare_object.h"
#include "api/custom_object.h"
#include "api/envelope.h"
#include "api/list_fields.h"
#include "api/policy.h"
#include "api/resource_v1beta1.h"
#include "codec/field_mark.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"

namespace berth::api {
namespace {

using codec::Diagnostic;
using codec::Value;

constexpr std::string_view kListSuffix = "List";

// "Pod" for "PodList"; empty for anything that is not the name of a list of one kind.
std::string_view ItemKind(std::string_view list_kind) {
  if (!list_kind.ends_with(kListSuffix)) return {};
  return list_kind.substr(0, list_kind.size() - kListSuffix.size());
}

std::string Join(std::string_view path, std::string_view field) {
  return path.empty() ? std::string(field) : fmt::format("{}.{}", path, field);
}

bool IsServers(const Value& metadata) {
  return !metadata.StringAt("uid").empty() || !metadata.StringAt("resourceVersion").empty() ||
         !metadata.StringAt("creationTimestamp").empty();
}

// The type of an item; items of a typed list ("PodList") may leave it out.
struct TypeMeta {
  std::string_view api_version;
  std::string_view kind;
};

}  // namespace

// Walks one document. A class, because only it may use Object's type-erased constructor.
class ObjectDecoder {
 public:
  ObjectDecoder(const ObjectOptions& options, DecodedObjects& out, std::vector<Diagnostic>& problems)
      : options_(options), out_(out), problems_(problems) {}

  void Walk(const Value& value, const TypeMeta& inherited, const std::string& path) {
    if (!value.is_object()) {
      Report(path, value.mark(), fmt::format("expected an object, found {}", value.Description()));
      return;
    }
    TypeMeta type;
    const bool versioned = ReadType(value, "apiVersion", inherited.api_version, path, type.api_version);
    const bool named = ReadType(value, "kind", inherited.kind, path, type.kind);
    if (!versioned || !named) return;
    if (IsList(value, type)) {
      WalkList(value, type, path);
    } else if (custom_ != nullptr) {
      std::optional<Object> decoded = DecodeCustom(value, type, custom_->keep_json, path);
      if (decoded) out_.objects.push_back({*std::move(decoded), value.mark()});
    } else if (const KindInfo* info = FindKind(type.api_version, type.kind)) {
      DecodeOne(value, *info, type.api_version, path);
    } else {
      const Value* metadata = value.Find("metadata");
      out_.unknown.push_back({std::string(type.api_version), std::string(type.kind),
                              std::string(metadata != nullptr ? metadata->StringAt("name") : std::string_view()),
                              value.mark(), metadata != nullptr && IsServers(*metadata)});
      if (!options_.keep_unknown_objects || out_.unknown.back().name.empty()) return;
      out_.unknown.back().object = DecodeCustom(value, type, true, path);
    }
  }

  // As Walk, but every object found is a CustomObject.
  void WalkCustom(const Value& value, const CustomObjectOptions& custom, const std::string& path) {
    custom_ = &custom;
    Walk(value, {}, path);
  }

  // What a decoded object still needs before it is frozen. Returns what is wrong with its metadata, or an empty text.
  static std::string Complete(const KindInfo& info, std::string_view api_version, const Symbol& default_namespace,
                              void* object) {
    if (info.kind == Kind::kPodDisruptionBudget && api_version == "policy/v1beta1") {
      // In this version an empty selector selected nothing; since v1 it selects everything, and an absent one nothing.
      auto& selector = static_cast<PodDisruptionBudget*>(object)->spec.selector;
      if (selector && selector->empty()) selector.reset();
    }
    ObjectMeta& metadata = info.metadata(object);
    if (info.namespaced && metadata.namespace_.empty()) metadata.namespace_ = default_namespace;
    if (info.namespaced || metadata.namespace_.empty()) return {};
    metadata.namespace_ = Symbol();
    return fmt::format("a {} belongs to no namespace", info.name);
  }

  static Object Freeze(const KindInfo& info, std::shared_ptr<void> object) {
    return Object(info.kind, std::shared_ptr<const void>(std::move(object)));
  }

 private:
  std::optional<Object> DecodeCustom(const Value& value, const TypeMeta& type, bool keep_json,
                                     const std::string& path) {
    const size_t problems_before = problems_.size();
    ObjectMeta read;
    if (const Value* metadata = value.Find("metadata")) {
      codec::Decode(*metadata, read, {}, problems_, Join(path, "metadata"));
    }
    CheckName(value, read, problems_before, path);
    if (problems_.size() != problems_before) return std::nullopt;
    CustomObject object{.api_version = std::string(type.api_version), .kind = std::string(type.kind)};
    object.metadata.name = std::move(read.name);
    object.metadata.namespace_ = std::move(read.namespace_);
    object.metadata.uid = std::move(read.uid);
    object.metadata.resource_version = std::move(read.resource_version);
    object.metadata.generation = read.generation;
    object.metadata.creation_timestamp = read.creation_timestamp;
    object.metadata.deletion_timestamp = read.deletion_timestamp;
    object.metadata.labels = std::move(read.labels);
    if (keep_json) codec::JsonWriter(object.json).Write(value);
    return MakeObject(std::move(object));
  }

  void Report(std::string path, codec::Mark where, std::string message) {
    problems_.push_back({std::move(path), where, std::move(message)});
  }

  bool ReadType(const Value& object, std::string_view key, std::string_view inherited, const std::string& path,
                std::string_view& out) {
    const Value* value = object.Find(key);
    if (value == nullptr || value->is_null() || (value->is_string() && value->text().empty())) {
      out = inherited;
      if (!out.empty()) return true;
      Report(Join(path, key), object.mark(), "missing: every object needs one");
      return false;
    }
    if (!value->is_string()) {
      Report(Join(path, key), value->mark(), fmt::format("expected a string, found {}", value->Description()));
      return false;
    }
    out = value->text();
    return true;
  }

  static bool IsList(const Value& value, const TypeMeta& type) {
    if (!type.kind.ends_with(kListSuffix)) return false;
    if (type.kind == kListSuffix && type.api_version == "v1") return true;
    if (FindKind(type.api_version, ItemKind(type.kind)) != nullptr) return true;
    // A list of an unknown kind: look inside, so that each item is reported.
    const Value* items = value.Find("items");
    return items != nullptr && items->is_array();
  }

  void WalkList(const Value& list, const TypeMeta& type, const std::string& path) {
    const Value* items = nullptr;
    for (const codec::Member& member : list.members()) {
      if (member.key == "items") {
        items = &member.value;
      } else if (options_.strict && member.key != "apiVersion" && member.key != "kind" && member.key != "metadata") {
        Report(Join(path, member.key), member.key_mark, "unknown field");
      }
      if (options_.strict && member.repeated) Report(Join(path, member.key), member.key_mark, "duplicate field");
    }
    if (const Value* metadata = list.Find("metadata"); metadata != nullptr && path.empty()) {
      out_.resource_version = metadata->StringAt("resourceVersion");
      out_.continue_token = metadata->StringAt("continue");
    }
    if (items == nullptr || items->is_null()) return;
    if (!items->is_array()) {
      Report(Join(path, "items"), items->mark(), fmt::format("expected a list, found {}", items->Description()));
      return;
    }
    TypeMeta inherited;
    if (type.kind != kListSuffix) inherited = {type.api_version, ItemKind(type.kind)};
    size_t index = 0;
    for (const Value& item : items->items()) Walk(item, inherited, fmt::format("{}[{}]", Join(path, "items"), index++));
  }

  void DecodeOne(const Value& value, const KindInfo& info, std::string_view api_version, const std::string& path) {
    const size_t problems_before = problems_.size();
    std::shared_ptr<void> object = info.make();
    if (HasV1beta1Form(info.kind, api_version)) {
      DecodeV1beta1(info.kind, value, object.get(), {.strict = options_.strict}, problems_, path);
    } else {
      codec::Decode(value, info.message(), object.get(), {.strict = options_.strict}, problems_, path);
    }
    CheckName(value, info.metadata(object.get()), problems_before, path);
    std::string complaint = Complete(info, api_version, options_.default_namespace, object.get());
    if (!complaint.empty() && options_.strict) {
      Report(Join(path, "metadata.namespace"), codec::FieldMark(value, "metadata.namespace"), std::move(complaint));
    }
    std::vector<Diagnostic> unknown;
    if (options_.keep_unknown_fields) unknown = TakeUnknownFields(problems_before, Join(path, "status."));
    if (problems_.size() == problems_before) {
      out_.objects.push_back({Freeze(info, std::move(object)), value.mark(), std::move(unknown)});
    } else {
      std::move(unknown.begin(), unknown.end(), std::back_inserter(problems_));
    }
  }

  std::vector<Diagnostic> TakeUnknownFields(size_t problems_before, const std::string& status) {
    const auto first = problems_.begin() + static_cast<ptrdiff_t>(problems_before);
    const auto unknown =
        std::stable_partition(first, problems_.end(), [](const Diagnostic& problem) { return !problem.unknown_field; });
    std::vector<Diagnostic> taken(std::make_move_iterator(unknown), std::make_move_iterator(problems_.end()));
    problems_.erase(unknown, problems_.end());
    std::erase_if(taken, [&](const Diagnostic& problem) { return problem.path.starts_with(status); });
    return taken;
  }

  void CheckName(const Value& value, const ObjectMeta& metadata, size_t problems_before, const std::string& path) {
    if (!metadata.name.empty()) return;
    if (options_.allow_generate_name && !metadata.generate_name.empty()) return;
    // Already reported: the name is there, but not a string.
    const std::string name_path = Join(path, "metadata.name");
    const std::string metadata_path = Join(path, "metadata");
    for (size_t i = problems_before; i < problems_.size(); ++i) {
      if (problems_[i].path == name_path || problems_[i].path == metadata_path) return;
    }
    Report(name_path, codec::FieldMark(value, "metadata.name"), "missing: every object needs a name");
  }

  const ObjectOptions& options_;
  DecodedObjects& out_;
  std::vector<Diagnostic>& problems_;
  const CustomObjectOptions* custom_ = nullptr;  // if set, every object becomes a CustomObject
};

namespace {

// ListMeta's and every list's field numbers.
constexpr uint32_t kListMeta = 1;
constexpr uint32_t kListItems = 2;
constexpr uint32_t kListResourceVersion = 2;
constexpr uint32_t kListContinue = 3;

Result<void> DecodeProtobufObject(const KindInfo& info, std::string_view api_version, std::string_view bytes,
                                  DecodedObjects& out) {
  std::shared_ptr<void> object = info.make();
  Result<void> decoded = codec::DecodeProtobuf(bytes, info.message(), object.get());
  if (!decoded) return decoded;
  if (info.metadata(object.get()).name.empty()) {
    return Error::InvalidArgument(fmt::format("{}.metadata.name: missing: every object needs a name", info.name));
  }
  static const Symbol* const kDefault = new Symbol("default");
  ObjectDecoder::Complete(info, api_version, *kDefault, object.get());
  out.objects.push_back({ObjectDecoder::Freeze(info, std::move(object)), {}});
  return {};
}

Result<void> DecodeListMeta(std::string_view bytes, DecodedObjects& out) {
  codec::WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kListResourceVersion) out.resource_version = reader.bytes();
    if (reader.number() == kListContinue) out.continue_token = reader.bytes();
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("metadata of a list: {}", reader.problem()));
  return {};
}

Result<void> DecodeProtobufList(const KindInfo& info, const Envelope& envelope, DecodedObjects& out) {
  codec::WireReader reader(envelope.raw);
  while (reader.Next()) {
    Result<void> field = DecodeListField(info, envelope.api_version, reader.number(), reader.bytes(), out);
    if (!field) return field;
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("{}: {}", envelope.kind, reader.problem()));
  return {};
}

}  // namespace

const KindInfo* FindListItem(std::string_view api_version, std::string_view list_kind) {
  return FindKind(api_version, ItemKind(list_kind));
}

Result<void> DecodeListField(const KindInfo& item, std::string_view api_version, uint32_t number,
                             std::string_view bytes, DecodedObjects& out) {
  if (number == kListMeta) return DecodeListMeta(bytes, out);
  if (number == kListItems) return DecodeProtobufObject(item, api_version, bytes, out);
  return {};
}

void DecodeObjects(const Value& value, const ObjectOptions& options, DecodedObjects& out,
                   std::vector<Diagnostic>& problems, std::string_view path) {
  ObjectDecoder(options, out, problems).Walk(value, {}, std::string(path));
}

void DecodeCustomObjects(const Value& value, const CustomObjectOptions& options, DecodedObjects& out,
                         std::vector<Diagnostic>& problems, std::string_view path) {
  const ObjectOptions plain;
  ObjectDecoder(plain, out, problems).WalkCustom(value, options, std::string(path));
}

Result<DecodedObjects> DecodeObjects(const codec::Document& document, const ObjectOptions& options) {
  DecodedObjects out;
  std::vector<Diagnostic> problems;
  DecodeObjects(document.root(), options, out, problems);
  if (Result<void> result = codec::ToResult(document.file_name(), problems); !result) return result.error();
  return out;
}

Result<DecodedObjects> DecodeProtobufObjects(std::string_view bytes) {
  Result<Envelope> envelope = OpenEnvelope(bytes);
  if (!envelope) return envelope.error();
  DecodedObjects out;
  const std::string_view kind = envelope->kind;
  Result<void> result;
  if (const KindInfo* info = FindKind(envelope->api_version, kind)) {
    result = DecodeProtobufObject(*info, envelope->api_version, envelope->raw, out);
  } else if (const KindInfo* item = FindListItem(envelope->api_version, kind)) {
    result = DecodeProtobufList(*item, *envelope, out);
  } else {
    out.unknown.push_back({std::string(envelope->api_version), std::string(kind), {}, {}});
  }
  if (!result) return result.error();
  return out;
}

Object MakeBareObject(Kind kind, ObjectMeta metadata) {
  const KindInfo& info = InfoOf(kind);
  std::shared_ptr<void> object = info.make();
  info.metadata(object.get()) = std::move(metadata);
  return ObjectDecoder::Freeze(info, std::move(object));
}

std::string EncodeJson(const Object& object) {
  const KindInfo& info = object.info();
  std::string body;
  codec::JsonWriter(body).Object(info.message(), object.data());
  // apiVersion and kind are not part of the tables: they identify the object and are not its content.
  std::string out = fmt::format(R"({{"apiVersion":"{}","kind":"{}")", info.api_version(), info.name);
  if (body != "{}") out += ',';
  out.append(body, 1);
  return out;
}

std::string EncodeProtobuf(const Object& object) {
  const KindInfo& info = object.info();
  std::string raw;
  codec::AppendProtobuf(info.message(), object.data(), raw);
  return SealEnvelope({.api_version = info.api_version(), .kind = info.name, .raw = raw});
}

}  // namespace berth::api
