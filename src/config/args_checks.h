// Validation of a plugin's arguments after defaulting; the result is empty when they are valid.
// Internal to this folder.
// `path` is the field of the arguments ("profiles[0].pluginConfig[2].args", or "" for a plugin that checks its own).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/feature_gates.h"
#include "config/file_args.h"

namespace berth::config {

using Problems = std::vector<std::string>;

Problems CheckArgs(const FileDefaultPreemptionArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileInterPodAffinityArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileNodeAffinityArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileNodeResourcesFitArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileBalancedAllocationArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FilePodTopologySpreadArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileVolumeBindingArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileDynamicResourcesArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileServiceAffinityArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileNodeLabelArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileRequestedToCapacityRatioArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileLeastAllocatedArgs& args, std::string_view path, const FeatureGates& gates);
Problems CheckArgs(const FileMostAllocatedArgs& args, std::string_view path, const FeatureGates& gates);

}  // namespace berth::config
