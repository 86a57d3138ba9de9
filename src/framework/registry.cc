#include "framework/registry.h"

#include <utility>

namespace berth::framework {

Result<void> Registry::Register(std::string name, PluginFactory factory) {
  if (factories_.contains(name)) return Error::AlreadyExists("a plugin named " + name + " already exists");
  factories_.emplace(std::move(name), std::move(factory));
  return {};
}

Result<void> Registry::Merge(const Registry& other) {
  for (const auto& [name, factory] : other.factories_) {
    if (Result<void> registered = Register(name, factory); !registered) return registered;
  }
  return {};
}

const PluginFactory* Registry::Find(const std::string& name) const {
  const auto it = factories_.find(name);
  return it == factories_.end() ? nullptr : &it->second;
}

}  // namespace berth::framework
