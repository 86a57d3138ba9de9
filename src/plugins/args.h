// Reads one plugin's configured arguments from the union of all of them.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "config/plugin_args.h"

namespace berth::plugins {

// Nothing configured means the defaults; arguments of another plugin are an error.
template <class Args>
Result<Args> ReadArgs(const config::PluginArgs& args, std::string_view plugin) {
  if (const Args* mine = std::get_if<Args>(&args)) return *mine;
  if (std::holds_alternative<std::monostate>(args)) return Args{};
  return Error::InvalidArgument("want args to be of type " + std::string(plugin) + "Args, got those of another plugin");
}

// For plugins without arguments.
inline Result<void> ExpectNoArgs(const config::PluginArgs& args, std::string_view plugin) {
  if (std::holds_alternative<std::monostate>(args)) return {};
  return Error::InvalidArgument("plugin " + std::string(plugin) + " takes no args");
}

}  // namespace berth::plugins
