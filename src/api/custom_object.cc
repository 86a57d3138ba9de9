#include "api/custom_object.h"

#include <fmt/core.h>

#include "base/ascii.h"
#include "codec/schema.h"

namespace berth::api {

const codec::Message& Describe(const CustomObject*) {
  static const codec::Message message =
      codec::MessageOf<CustomObject>("CustomObject", {codec::Field("metadata", 1, &CustomObject::metadata)});
  return message;
}

Result<GroupVersionResource> GroupVersionResource::Parse(std::string_view text) {
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (first == 0 || second == std::string_view::npos || second == first + 1) {
    return Error::InvalidArgument(fmt::format(
        "expected a resource as in \"foos.v1.example.com\" (\"pods.v1.\" of the core group), found \"{}\"", text));
  }
  return GroupVersionResource{.group = std::string(text.substr(second + 1)),
                              .version = std::string(text.substr(first + 1, second - first - 1)),
                              .resource = std::string(text.substr(0, first))};
}

std::string GroupVersionResource::Text() const { return fmt::format("{}.{}.{}", resource, version, group); }

std::string GroupVersionResource::ApiVersion() const {
  return group.empty() ? version : fmt::format("{}/{}", group, version);
}

std::string GroupVersionResource::CollectionPath() const {
  return fmt::format("{}/{}/{}", group.empty() ? "/api" : "/apis", ApiVersion(), resource);
}

bool IsSecret(const GroupVersionResource& resource) { return resource.group.empty() && resource.resource == "secrets"; }

std::string GuessResource(std::string_view kind) {
  std::string plural = base::LowerCase(kind);
  if (plural.ends_with('s')) return plural + "es";
  if (!plural.ends_with('y')) return plural + "s";
  plural.pop_back();
  return plural + "ies";
}

}  // namespace berth::api
