// ClassNames: the extended resources provided by device classes, and which class provides each.
//
// A class provides the name in its spec, and deviceclass.resource.kubernetes.io/<class>. If several classes have the
// same name in their specs, the newest provides it; among equally old ones, the first by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/resource_claim.h"
#include "base/symbol.h"

namespace berth::dra {

class ClassNames {
 public:
  // `before` is null if the class is new. The effects of upstream's order of events are reproduced: a new class that
  // loses has no implicit name either, an update that keeps the name keeps the old object, and a deleted class takes
  // its names with it, whichever class provides them.
  void Put(const api::DeviceClass* before, std::shared_ptr<const api::DeviceClass> after);
  void Remove(const api::DeviceClass& gone);

  // Null if no class provides the resource.
  const api::DeviceClass* Find(const Symbol& resource) const {
    if (by_resource_.empty()) return nullptr;
    const auto found = by_resource_.find(resource);
    return found == by_resource_.end() ? nullptr : found->second.get();
  }
  bool empty() const { return by_resource_.empty(); }
  // Increases with every change.
  uint64_t version() const { return version_; }

 private:
  std::unordered_map<Symbol, std::shared_ptr<const api::DeviceClass>> by_resource_;
  uint64_t version_ = 0;
};

// A name that a device class may provide.
bool IsExtendedResource(std::string_view name);

}  // namespace berth::dra
