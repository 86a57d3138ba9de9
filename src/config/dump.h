// Prints a configuration as a file, with every default spelled out: what --write-config-to writes and /configz shows.
#pragma once

#include <string>

#include "config/types.h"

namespace berth::config {

// A kubescheduler.config.k8s.io/v1 object. Loading it again gives the same configuration.
std::string DumpYaml(const KubeSchedulerConfiguration& configuration);
std::string DumpJson(const KubeSchedulerConfiguration& configuration);

}  // namespace berth::config
