#include "api/meta.h"

namespace berth::api {

const OwnerReference* ControllerOf(const ObjectMeta& metadata) {
  for (const OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

std::string KeyOf(const ObjectMeta& metadata) {
  if (metadata.namespace_.empty()) return metadata.name;
  std::string key(metadata.namespace_.str());
  key += '/';
  key += metadata.name;
  return key;
}

}  // namespace berth::api
