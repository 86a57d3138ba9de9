// Fields of v1alpha1 and v1alpha2 that later versions have elsewhere, or no longer have.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/decode.h"
#include "config/file_format.h"
#include "config/load.h"
#include "config/policy_format.h"
#include "config/types.h"
#include "config/versions.h"

namespace berth::config {

struct OldPolicyFile {
  std::string path;
};

struct OldPolicyConfigMap {
  std::string name_space, name;
};

struct OldPolicySource {
  std::optional<OldPolicyFile> file;
  std::optional<OldPolicyConfigMap> config_map;
};

struct OldAlgorithmSource {
  std::optional<OldPolicySource> policy;
  std::optional<std::string> provider;
};

// With the older names of the lock, before resourceName and resourceNamespace.
struct OldLeaderElection {
  FileLeaderElection later;
  std::string lock_object_namespace, lock_object_name;
};

struct OldFields {
  // In both versions.
  std::optional<bool> disable_preemption;
  std::optional<int64_t> bind_timeout_seconds;
  // In v1alpha1, which has one profile, at the top level.
  std::optional<std::string> scheduler_name;
  OldAlgorithmSource algorithm_source;
  std::optional<int32_t> hard_pod_affinity_symmetric_weight;
  std::optional<FilePlugins> plugins;
  std::vector<FilePluginConfig> plugin_config;
  OldLeaderElection leader_election;
  // In v1alpha2, in the form of a Policy's.
  std::vector<PolicyExtender> extenders;
};

const codec::Message& Describe(const OldPolicyFile*);
const codec::Message& Describe(const OldPolicyConfigMap*);
const codec::Message& Describe(const OldPolicySource*);
const codec::Message& Describe(const OldAlgorithmSource*);
const codec::Message& Describe(const OldLeaderElection*);
const codec::Message& Describe(const OldFields*);

// Decodes them from a file of that version. `diagnostics` are those of decoding the same file as v1: those about these
// fields are replaced by what their own decoding found. `skipped` gets unknown fields that are no error. Does nothing
// for later versions.
OldFields ReadOldFields(const codec::Value& root, FileVersion version, std::vector<codec::Diagnostic>& diagnostics,
                        std::vector<codec::Diagnostic>& skipped);

// Moves them to where v1 has them: the lock's name, the one profile, extenders. `problems` gets contradictions.
void MoveIntoV1(const OldFields& old, FileVersion version, FileConfiguration& file, std::vector<std::string>& problems);

// The settings that have no field in a FileConfiguration.
OldSettings SettingsOf(const OldFields& old, std::vector<std::string>& problems);

// Applies them to the plugins and arguments of a profile; in those versions they hold for all profiles.
void ApplySettings(const OldSettings& settings, Profile& profile);

}  // namespace berth::config
