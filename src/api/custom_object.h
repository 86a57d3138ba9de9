// Objects of kinds that are not in the registry: custom resources, or anything a plugin wants to follow. Only the
// metadata is read; the rest is kept as JSON on request.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "api/meta.h"
#include "base/result.h"

namespace berth::api {

// Where objects of one kind live in the API.
struct GroupVersionResource {
  std::string group;  // "" for the core group
  std::string version;
  std::string resource;  // in the plural: "licencepools"

  // Parses upstream's form for plugins, "licencepools.v1.example.com"; "pods.v1." for the core group.
  static Result<GroupVersionResource> Parse(std::string_view text);
  std::string Text() const;            // the same form
  std::string ApiVersion() const;      // "example.com/v1", "v1"
  std::string CollectionPath() const;  // "/apis/example.com/v1/licencepools"

  friend auto operator<=>(const GroupVersionResource&, const GroupVersionResource&) = default;
};

// Whether its objects are confidential and must not be written anywhere.
bool IsSecret(const GroupVersionResource& resource);

// The resource name, guessed from the kind: "LicencePool" is "licencepools", "Policy" "policies".
std::string GuessResource(std::string_view kind);

struct CustomObject {
  std::string api_version;
  std::string kind;
  // Name, namespace, UID, resourceVersion, labels and times; nothing else is kept.
  ObjectMeta metadata;
  std::string json;  // the whole object; "" unless it was asked for
};

const codec::Message& Describe(const CustomObject*);

}  // namespace berth::api
