// ClassNames: the extended resources that device classes stand behind, and which class serves which.
//
// A class serves the name in its spec, and deviceclass.resource.kubernetes.io/<class>. Of several classes with one name
// in their specs the newest serves it, and the first by name of those.
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
  // Null in `before` when it is new. Oddities of upstream's order of events are kept: a class that loses on arrival has
  // no implicit name either, an update that keeps the name keeps the old object, and with a class its names go,
  // whoever serves them.
  void Put(const api::DeviceClass* before, std::shared_ptr<const api::DeviceClass> after);
  void Remove(const api::DeviceClass& gone);

  // Null when no class serves the resource.
  const api::DeviceClass* Find(const Symbol& resource) const {
    if (by_resource_.empty()) return nullptr;
    const auto found = by_resource_.find(resource);
    return found == by_resource_.end() ? nullptr : found->second.get();
  }
  bool empty() const { return by_resource_.empty(); }
  // Grows with every change.
  uint64_t version() const { return version_; }

 private:
  std::unordered_map<Symbol, std::shared_ptr<const api::DeviceClass>> by_resource_;
  uint64_t version_ = 0;
};

// A name that a device class may serve.
bool IsExtendedResource(std::string_view name);

}  // namespace berth::dra
