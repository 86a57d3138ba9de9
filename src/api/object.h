// Object: any one of the kinds in the registry, frozen and shared; and decoding of whole documents into Objects.
//
//   Result<DecodedObjects> decoded = DecodeObjects(document, {.strict = true});
//   for (const LocatedObject& found : decoded->objects) {
//     if (const Pod* pod = found.object.As<Pod>()) …
//   }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/kind.h"
#include "api/meta.h"
#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"

namespace berth::api {

// Never null; as cheap to copy as a shared pointer. Safe to share between threads.
class Object {
 public:
  template <class T>
  explicit Object(std::shared_ptr<const T> object) : kind_(kKindOf<T>), object_(std::move(object)) {
    CHECK(object_ != nullptr);
  }

  Kind kind() const { return kind_; }
  const KindInfo& info() const { return InfoOf(kind_); }
  const ObjectMeta& metadata() const { return info().const_metadata(object_.get()); }
  const void* data() const { return object_.get(); }

  // Null when the object is of another kind.
  template <class T>
  const T* As() const {
    return kind_ == kKindOf<T> ? static_cast<const T*>(object_.get()) : nullptr;
  }
  template <class T>
  std::shared_ptr<const T> Share() const {
    return kind_ == kKindOf<T> ? std::static_pointer_cast<const T>(object_) : nullptr;
  }

 private:
  friend class ObjectDecoder;
  Object(Kind kind, std::shared_ptr<const void> object) : kind_(kind), object_(std::move(object)) {}

  Kind kind_;
  std::shared_ptr<const void> object_;
};

template <class T>
Object MakeObject(T value) {
  return Object(std::make_shared<const T>(std::move(value)));
}

struct LocatedObject {
  Object object;
  codec::Mark where;  // unset when it came as protobuf
  // Only with ObjectOptions::keep_unknown_fields.
  std::vector<codec::Diagnostic> unknown_fields = {};
};

// An object whose kind or version is not in the registry: skipped, for the caller to handle.
struct UnknownObject {
  std::string api_version;
  std::string kind;
  std::string name;  // empty when unknown
  codec::Mark where;
  bool from_server = false;  // its metadata has fields that only servers write
  // With ObjectOptions::keep_unknown_objects, if it has a name: the object as a CustomObject, with its JSON.
  std::optional<Object> object = {};
};

struct DecodedObjects {
  std::vector<LocatedObject> objects;
  std::vector<UnknownObject> unknown;
  // For a list, from the outermost one: where a watch starts and where the next page begins.
  std::string resource_version;
  std::string continue_token;
};

struct ObjectOptions {
  // Unknown and repeated fields are errors, and so is a namespace on a cluster-scoped object.
  bool strict = false;
  // Accept objects without a name that have a generateName; the caller generates the name.
  bool allow_generate_name = false;
  // With `strict`: an object whose only problems are unknown fields is decoded anyway, and they are listed with it
  // rather than among the problems. Those below its status, which servers write, are not listed at all.
  bool keep_unknown_fields = false;
  // For objects that name none.
  Symbol default_namespace = Symbol("default");
  // Objects of kinds that are not in the registry are kept as well as reported.
  bool keep_unknown_objects = false;
};

// How objects are decoded when only the metadata matters (custom_object.h), whatever their kind.
struct CustomObjectOptions {
  bool keep_json = false;
};

// Decodes the object in `value`, or each object of a list (v1 List, PodList, …; lists may nest). An object of a
// namespaced kind without a namespace gets ObjectOptions::default_namespace. All problems are reported, each with path
// and position; an object with a problem is left out of `out`.
void DecodeObjects(const codec::Value& value, const ObjectOptions& options, DecodedObjects& out,
                   std::vector<codec::Diagnostic>& problems, std::string_view path = {});

// The same for one whole document: the error lists all problems, one per line.
Result<DecodedObjects> DecodeObjects(const codec::Document& document, const ObjectOptions& options);

// One object, or each of a list, as CustomObjects.
void DecodeCustomObjects(const codec::Value& value, const CustomObjectOptions& options, DecodedObjects& out,
                         std::vector<codec::Diagnostic>& problems, std::string_view path = {});

// From protobuf in Kubernetes' envelope: one object or a list of one kind.
Result<DecodedObjects> DecodeProtobufObjects(std::string_view bytes);

// With apiVersion and kind, in the version that we write.
std::string EncodeJson(const Object& object);
std::string EncodeProtobuf(const Object& object);

}  // namespace berth::api
