// Registry: plugin names and how to make them. One visible table for the in-tree set (plugins/registry.cc); programs
// and libraries that bring plugins of their own merge theirs in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::framework {

using PluginFactory = std::function<Result<std::unique_ptr<Plugin>>(const config::PluginArgs& args, Handle& handle)>;

class Registry {
 public:
  struct Entry {
    PluginFactory factory;
    std::string origin;  // where it came from, for messages: "berth itself", "library zone.so"
  };

  // A name taken twice is an error that names both origins.
  Result<void> Register(std::string name, PluginFactory factory, std::string origin);
  Result<void> Merge(const Registry& other);
  // Null when there is no such plugin.
  const PluginFactory* Find(const std::string& name) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace berth::framework
