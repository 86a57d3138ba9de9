// Registry: plugin names and how to make them. One visible table for the in-tree set (plugins/registry.cc); programs
// that bring plugins of their own merge theirs in.
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
  // A name taken twice is an error that says so.
  Result<void> Register(std::string name, PluginFactory factory);
  Result<void> Merge(const Registry& other);
  const PluginFactory* Find(const std::string& name) const;
  const std::map<std::string, PluginFactory>& factories() const { return factories_; }

 private:
  std::map<std::string, PluginFactory> factories_;
};

}  // namespace berth::framework
