// Plugins from shared objects (sdk/berth_plugin.h): opens them and adds their plugins to a registry.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"

namespace berth::plugin_library {

struct LoadOptions {
  // How long a library may take to load, and each of its plugins to initialize.
  base::Duration patience = std::chrono::seconds(5);
};

// Registers the plugins of each library, which stays open until the process ends. Stops with an error at the first
// library that cannot be used and names it; the libraries before it stay registered. Call it before there are threads:
// each library, and later each plugin's init, is first tried in a child process.
Result<void> LoadInto(framework::Registry& registry, const std::vector<std::string>& paths,
                      const LoadOptions& options = {});

// Every *.so of a folder, by name.
Result<std::vector<std::string>> LibrariesIn(const std::string& folder);

}  // namespace berth::plugin_library
