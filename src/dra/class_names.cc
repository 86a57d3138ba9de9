#include "dra/class_names.h"

#include "api/label_syntax.h"

namespace berth::dra {
namespace {

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

Symbol ImplicitName(const api::DeviceClass& device_class) {
  return Symbol(std::string(kImplicitPrefix) + device_class.metadata.name);
}

// Whether the class `known`, which has the name already, keeps it.
bool Keeps(const api::DeviceClass& known, const api::DeviceClass& other) {
  const api::Time known_since = known.metadata.creation_timestamp.value_or(api::kEarliestTime);
  const api::Time other_since = other.metadata.creation_timestamp.value_or(api::kEarliestTime);
  if (known_since != other_since) return other_since < known_since;
  return other.metadata.name >= known.metadata.name;
}

}  // namespace

bool IsExtendedResource(std::string_view name) {
  return api::IsExtendedResourceName(name) || name.starts_with(kImplicitPrefix);
}

void ClassNames::Put(const api::DeviceClass* before, std::shared_ptr<const api::DeviceClass> after) {
  const std::optional<std::string>& name = after->spec.extended_resource_name;
  if (name) {
    const auto known = by_resource_.find(Symbol(*name));
    if (known != by_resource_.end() && Keeps(*known->second, *after)) return;
  }
  ++version_;
  if (before) {
    by_resource_.erase(ImplicitName(*before));
    if (before->spec.extended_resource_name) by_resource_.erase(Symbol(*before->spec.extended_resource_name));
  }
  if (name) by_resource_[Symbol(*name)] = after;
  by_resource_[ImplicitName(*after)] = std::move(after);
}

void ClassNames::Remove(const api::DeviceClass& gone) {
  ++version_;
  by_resource_.erase(ImplicitName(gone));
  if (gone.spec.extended_resource_name) by_resource_.erase(Symbol(*gone.spec.extended_resource_name));
}

}  // namespace berth::dra
