// The versions of the configuration file that load, and what each meant where nothing was written. Kubernetes 1.22 to
// 1.27 read v1beta2, 1.23 to 1.28 read v1beta3; whatever is loaded is converted to v1. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/feature_gates.h"
#include "config/types.h"

namespace berth::config {

enum class FileVersion { kV1, kV1beta3, kV1beta2 };

// "kubescheduler.config.k8s.io/v1beta3"
std::string_view NameOf(FileVersion version);
std::optional<FileVersion> ParseFileVersion(std::string_view api_version);

// What a profile runs: the defaults of that version with a person's own choice laid over them. For the older versions
// the result disables "*" at multiPoint, so that it reads the same as a v1 file, whose defaults are others.
Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const FeatureGates& gates);

// The default set of v1beta2, which Kubernetes 1.22 also gave to a scheduler without a configuration file.
Plugins DefaultPluginsOfV1beta2();

// Fields of a v1 file that this version did not have: top level, and of a profile.
std::vector<std::string_view> FieldsNotYetIn(FileVersion version);
std::vector<std::string_view> ProfileFieldsNotYetIn(FileVersion version);
// Fields that this version had and that mean nothing any more.
std::vector<std::string_view> FieldsDroppedSince(FileVersion version);

// Whether later versions refuse to see this plugin at an extension point: counting volumes by their in-tree type.
bool IsInTreeVolumeLimit(std::string_view plugin);
// Whether such a plugin is listed where a v1 file must not name it.
bool UsesInTreeVolumeLimits(const KubeSchedulerConfiguration& configuration);

}  // namespace berth::config
