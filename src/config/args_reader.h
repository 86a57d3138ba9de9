// Plugin arguments between file and program: decoding, defaults, checks, and back to JSON. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/decode.h"
#include "codec/value.h"
#include "config/feature_gates.h"
#include "config/plugin_args.h"

namespace berth::config {

struct ReadArgs {
  PluginArgs args;
  std::vector<std::string> problems;  // found by validation
};

// Whether the plugin's arguments have a type here; arguments of other plugins are passed on unread.
bool HasArgsType(std::string_view plugin);
// Whether only v1beta1 had that type. In every other version such arguments belong to a plugin unknown to upstream, so
// a mistake in them is an error only when the plugin is used.
bool HasLegacyArgs(std::string_view plugin);

// `plugin` must have a type. A null `value` gives the defaults. `path` is the prefix of the fields in `problems`;
// `diagnostics` gets what could not be decoded, with paths that start at the arguments.
ReadArgs ReadPluginArgs(std::string_view plugin, const codec::Value& value, std::string_view path,
                        const FeatureGates& gates, std::vector<codec::Diagnostic>& diagnostics);
// The same with field names in any case (any_case.h), as in the versions before v1beta1.
ReadArgs ReadAlphaArgs(std::string_view plugin, const codec::Value& value, std::string_view path,
                       const FeatureGates& gates, std::vector<codec::Diagnostic>& diagnostics,
                       std::vector<codec::Diagnostic>& skipped);

// As a kubescheduler.config.k8s.io/v1 object.
std::string ArgsToJson(const PluginArgs& args);

}  // namespace berth::config
