// Converts the form in the file to the form in the program, filling in defaults, and back. Plugin arguments are
// converted by args_reader.h.
// Internal to this folder.
#pragma once

#include "config/file_format.h"
#include "config/types.h"

namespace berth::config {

// Everything but the profiles.
KubeSchedulerConfiguration FromFile(const FileConfiguration& file);

// Only what was written: no defaults.
Plugins FromFile(const FilePlugins& file);

// Everything but the plugins' arguments, which stay null.
FileConfiguration ToFile(const KubeSchedulerConfiguration& configuration);

}  // namespace berth::config
