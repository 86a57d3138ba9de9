// The versions of the configuration file that can be loaded, and the defaults of each. Kubernetes up
// to 1.18 read v1alpha1, 1.18 v1alpha2, 1.19 to 1.22 v1beta1, 1.22 to 1.27 v1beta2, 1.23 to 1.28 v1beta3; every
// version is converted to v1. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/types.h"

namespace berth::config {

// The newest first.
enum class FileVersion { kV1, kV1beta3, kV1beta2, kV1beta1, kV1alpha2, kV1alpha1 };

inline bool IsAlpha(FileVersion version) { return version >= FileVersion::kV1alpha2; }
// These versions had algorithm providers, and files that added to the defaults without replacing them.
inline bool IsBeforeV1beta2(FileVersion version) { return version >= FileVersion::kV1beta1; }

// "kubescheduler.config.k8s.io/v1beta3"
std::string_view NameOf(FileVersion version);
std::optional<FileVersion> ParseFileVersion(std::string_view api_version);

// The plugins of a profile: the defaults of that version merged with those in the file. For the older versions the
// result disables "*" at multiPoint, so that it means the same as a v1 file, which has other defaults.
Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const FeatureGates& gates);
// The same over the plugins of an algorithm provider, as in Kubernetes 1.21: what the file enables comes after what the
// provider enables, and a plugin in both is listed twice, which is an error when the profile is made.
Plugins EffectivePlugins(FileVersion version, const Plugins& custom, const Plugins& provider);

// "DefaultProvider" or "ClusterAutoscalerProvider", as of that version.
Result<Plugins> PluginsOfProvider(std::string_view provider, FileVersion version);

// Fields of a v1 file that this version did not have: at the top level, in a profile, and in its plugins.
std::vector<std::string_view> FieldsNotYetIn(FileVersion version);
std::vector<std::string_view> ProfileFieldsNotYetIn(FileVersion version);
std::vector<std::string_view> PluginPointsNotYetIn(FileVersion version);
// Fields of this version that have no effect any more.
std::vector<std::string_view> FieldsDroppedSince(FileVersion version);

// Whether later versions reject this plugin at an extension point: it counts volumes by their in-tree type.
bool IsInTreeVolumeLimit(std::string_view plugin);
// Whether such a plugin is listed where a v1 file must not name it.
bool UsesInTreeVolumeLimits(const KubeSchedulerConfiguration& configuration);

}  // namespace berth::config
