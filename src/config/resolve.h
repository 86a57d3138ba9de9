// From a profile's configuration to the list of plugins at every extension point, with the errors that only show then.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/types.h"

namespace berth::config {

// A set of extension points, for saying what a plugin implements.
class PointSet {
 public:
  constexpr PointSet() = default;
  constexpr PointSet(std::initializer_list<ExtensionPoint> points) {
    for (ExtensionPoint point : points) bits_ |= Bit(point);
  }
  constexpr bool Has(ExtensionPoint point) const { return (bits_ & Bit(point)) != 0; }
  constexpr PointSet& Add(ExtensionPoint point) { return bits_ |= Bit(point), *this; }

 private:
  static constexpr uint32_t Bit(ExtensionPoint point) { return uint32_t{1} << static_cast<int>(point); }
  uint32_t bits_ = 0;
};

// A plugin this program can make.
struct KnownPlugin {
  std::string_view name;
  PointSet points;
  // The points for groups of pods, which are not part of ExtensionPoint.
  bool placement_generate = false;
  bool placement_score = false;
};

struct ResolvedPlugins {
  // In the order they run. The weight is set at kScore (never 0) and 0 elsewhere.
  std::vector<Plugin> points[kExtensionPointCount];
  std::vector<Plugin> placement_generate;
  std::vector<Plugin> placement_score;  // weight set

  const std::vector<Plugin>& at(ExtensionPoint point) const { return points[static_cast<int>(point)]; }
};

// Expands multiPoint. Each point runs: plugins named there that multiPoint names too, then the rest of multiPoint, then
// the rest of those named there. Errors read as upstream's, without naming the profile.
Result<ResolvedPlugins> ResolvePlugins(const Profile& profile, std::span<const KnownPlugin> known);

// There is one queue, so every profile must have the first one's queue sort plugin, with the same arguments.
Result<void> CheckSameQueueSort(const Profile& first, std::string_view first_plugin, const Profile& profile,
                                std::string_view plugin);

// All profiles of a configuration, which must agree on the order of the queue. Errors begin with
// "initializing profiles: ".
Result<std::vector<ResolvedPlugins>> ResolveProfiles(const KubeSchedulerConfiguration& configuration,
                                                     std::span<const KnownPlugin> known);

// Hides the resources that extenders manage on their own (ignoredByScheduler) from NodeResourcesFit. Call before
// plugins are made.
Result<void> HideManagedResources(KubeSchedulerConfiguration& configuration);
// The same, after checking that clients can be made for the extenders, for which certificates are read.
Result<void> ApplyExtenders(KubeSchedulerConfiguration& configuration);

// What --write-config-to shows: only the arguments of plugins that are enabled somewhere, sorted by plugin.
KubeSchedulerConfiguration WithUsedArgsOnly(KubeSchedulerConfiguration configuration);

}  // namespace berth::config
