#include "api/meta.h"

#include <charconv>

namespace berth::api {

const OwnerReference* ControllerOf(const ObjectMeta& metadata) {
  for (const OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

std::string KeyOf(const ObjectMeta& metadata) { return KeyOf(metadata.namespace_.str(), metadata.name); }

std::string KeyOf(std::string_view name_space, std::string_view name) {
  if (name_space.empty()) return std::string(name);
  std::string key;
  key.reserve(name_space.size() + 1 + name.size());
  key += name_space;
  key += '/';
  key += name;
  return key;
}

uint64_t VersionOf(const ObjectMeta& metadata) {
  const std::string& text = metadata.resource_version;
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : 0;
}

}  // namespace berth::api
