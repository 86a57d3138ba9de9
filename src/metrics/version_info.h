// version_info: which versions of Kubernetes a component is compatible with, as k8s.io/component-base v1.36 reports it.
#pragma once

#include <string>

#include "metrics/registry.h"

namespace berth::metrics {

struct VersionInfo {
  std::string binary;      // "1.36.4"
  std::string emulation;   // "1.36"
  std::string min_compat;  // "1.35"
};
void AddVersionInfo(Registry& registry, const VersionInfo& info);

}  // namespace berth::metrics
