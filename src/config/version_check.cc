#include "config/version_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field_error.h"
#include "config/any_case.h"
#include "config/file_format.h"

namespace berth::config {
namespace {

class VersionCheck {
 public:
  VersionCheck(const codec::Value& root, FileVersion version, const LoadOptions& options)
      : root_(root), version_(version), options_(options) {}

  void Run(std::vector<codec::Diagnostic>& diagnostics, DecodeErrors& errors) const {
    if (options_.strict_upstream) RefuseFields(root_, kExtensionFields, "", errors);
    if (version_ == FileVersion::kV1) return;
    Warn(root_.mark(), fmt::format("{} is deprecated and read as {}; berth config convert writes it as v1",
                                   NameOf(version_), kApiVersion));
    RefuseFields(root_, FieldsNotYetIn(version_), "", errors);
    for (std::string_view field : FieldsDroppedSince(version_)) DropField(field, diagnostics);
    if (IsAlpha(version_)) DropUnreserve(diagnostics);
    if (version_ == FileVersion::kV1alpha1) ForgiveStrictErrors(diagnostics);
    CheckPlugins(root_, "", errors);
    const codec::Value* profiles = root_.Find("profiles");
    if (profiles == nullptr) return;
    for (size_t i = 0; i < profiles->items().size(); ++i) CheckProfile(profiles->items()[i], i, errors);
  }

 private:
  template <class Names>
  static void RefuseFields(const codec::Value& object, const Names& names, const std::string& path,
                           DecodeErrors& errors) {
    for (const codec::Member& member : object.members()) {
      if (std::ranges::find(names, member.key) == std::end(names)) continue;
      errors.AddUnknownField(member.key_mark, path + std::string(member.key));
    }
  }

  void DropField(std::string_view field, std::vector<codec::Diagnostic>& diagnostics) const {
    std::erase_if(diagnostics, [&](const codec::Diagnostic& problem) {
      return problem.path == field && problem.message.starts_with("unknown field");
    });
    const codec::Value* value = root_.Find(field);
    if (value == nullptr) return;
    Warn(value->mark(),
         fmt::format("{} has no effect: {}", field,
                     field == "failureDomains" ? "every term names its topology key" : "the port without TLS is gone"));
  }

  void CheckProfile(const codec::Value& profile, size_t index, DecodeErrors& errors) const {
    RefuseFields(profile, ProfileFieldsNotYetIn(version_), fmt::format("profiles[{}].", index), errors);
    CheckPlugins(profile, fmt::format("profiles[{}].", index), errors);
    const codec::Value* plugins = profile.Find("plugins");
    if (plugins == nullptr || version_ != FileVersion::kV1beta2) return;
    for (std::string_view unread : {"multiPoint", "preEnqueue"}) {
      const codec::Value* set = plugins->Find(unread);
      if (set == nullptr) continue;
      Warn(set->mark(), fmt::format("profiles[{}].plugins.{} has no effect in v1beta2", index, unread));
    }
  }

  void CheckPlugins(const codec::Value& profile, const std::string& path, DecodeErrors& errors) const {
    const codec::Value* plugins = profile.Find("plugins");
    if (plugins != nullptr) RefuseFields(*plugins, PluginPointsNotYetIn(version_), path + "plugins.", errors);
  }

  // Since then a plugin's Unreserve belongs to its Reserve, and runs wherever that does.
  void DropUnreserve(std::vector<codec::Diagnostic>& diagnostics) const {
    std::erase_if(diagnostics, [&](const codec::Diagnostic& problem) {
      if (!problem.unknown_field || !problem.path.ends_with("plugins.unreserve")) return false;
      Warn(problem.where, fmt::format("{} has no effect: a plugin's Unreserve runs with its Reserve", problem.path));
      return true;
    });
  }

  // As Kubernetes 1.17 and 1.18 did, for this version only.
  void ForgiveStrictErrors(std::vector<codec::Diagnostic>& diagnostics) const {
    std::erase_if(diagnostics, [&](const codec::Diagnostic& problem) {
      if (problem.unknown_field) {
        Warn(problem.where, fmt::format("{}: {}; v1alpha1 ignores it", problem.path, problem.message));
        return true;
      }
      if (!IsRepeatedField(problem)) return false;
      Warn(problem.where, fmt::format("{}: {}; v1alpha1 takes the last one", problem.path, problem.message));
      return true;
    });
  }

  void Warn(codec::Mark where, const std::string& text) const { AddWarning(options_, where, text); }

  const codec::Value& root_;
  FileVersion version_;
  const LoadOptions& options_;
};

}  // namespace

void CheckVersion(const codec::Value& root, FileVersion version, const LoadOptions& options,
                  std::vector<codec::Diagnostic>& diagnostics, DecodeErrors& errors) {
  VersionCheck(root, version, options).Run(diagnostics, errors);
}

void CheckScoringByFit(const KubeSchedulerConfiguration& configuration, FileVersion version,
                       std::vector<std::string>& problems) {
  if (!IsBeforeV1beta2(version)) return;
  constexpr std::string_view kScorersOfTheirOwn[] = {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated",
                                                     "RequestedToCapacityRatio"};
  for (size_t p = 0; p < configuration.profiles.size(); ++p) {
    const std::vector<Plugin>& scores = configuration.profiles[p].plugins.at(ExtensionPoint::kScore).enabled;
    const auto fit = std::ranges::find(scores, "NodeResourcesFit", &Plugin::name);
    if (fit == scores.end()) continue;
    const std::string path = fmt::format("profiles[{}].plugins.score.enabled[{}]", p, fit - scores.begin());
    if (IsAlpha(version)) {
      problems.push_back(api::InvalidField(path, fit->name, fmt::format("does not score in {}", NameOf(version))));
      continue;
    }
    std::vector<std::string> others;
    for (const Plugin& plugin : scores) {
      if (std::ranges::find(kScorersOfTheirOwn, plugin.name) != std::end(kScorersOfTheirOwn)) {
        others.push_back(api::Quote(plugin.name));
      }
    }
    if (others.empty()) continue;
    problems.push_back(api::InvalidField(
        path, fit->name,
        fmt::format("was conflict with [{}] in version \"{}\" (KubeSchedulerConfiguration is version \"{}\")",
                    fmt::join(others, " "), NameOf(version), NameOf(version))));
  }
}

}  // namespace berth::config
