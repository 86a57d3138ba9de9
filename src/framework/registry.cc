#include "framework/registry.h"

#include <fmt/format.h>

#include <utility>

namespace berth::framework {

Result<void> Registry::Register(std::string name, PluginFactory factory, std::string origin) {
  const auto it = entries_.find(name);
  if (it != entries_.end()) {
    return Error::AlreadyExists(
        fmt::format("a plugin named {} already exists: from {} and again from {}", name, it->second.origin, origin));
  }
  entries_.emplace(std::move(name), Entry{std::move(factory), std::move(origin)});
  return {};
}

Result<void> Registry::Merge(const Registry& other) {
  for (const auto& [name, entry] : other.entries_) {
    if (Result<void> registered = Register(name, entry.factory, entry.origin); !registered) return registered;
  }
  return {};
}

const PluginFactory* Registry::Find(const std::string& name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second.factory;
}

}  // namespace berth::framework
