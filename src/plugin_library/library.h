// Plugins from shared objects (sdk/berth_plugin.h): opening them, and putting what they bring into a registry.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"

namespace berth::plugin_library {

struct LoadOptions {
  // How long a library may take to load, and each of its plugins to be made.
  base::Duration patience = std::chrono::seconds(5);
};

// Registers the plugins of each library, which stays open until the process ends. The first one that cannot be used is
// the error, which names it and leaves those before it registered. Call before there are threads: each library, and
// later each plugin that is made, is tried in a child process first.
Result<void> LoadInto(framework::Registry& registry, const std::vector<std::string>& paths,
                      const LoadOptions& options = {});

// Every *.so of a folder, by name.
Result<std::vector<std::string>> LibrariesIn(const std::string& folder);

}  // namespace berth::plugin_library
