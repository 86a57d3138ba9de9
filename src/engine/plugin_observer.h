// PluginObserver: receives the calls of one profile's plugins, with results and durations; for metrics.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "framework/status.h"

namespace berth::engine {

// The calls to plugins that kube-scheduler's metrics distinguish: finer than the extension points of a configuration.
enum class Step : uint8_t {
  kPreEnqueue,
  kSign,
  kPreFilter,
  kAddPod,
  kRemovePod,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalizeScore,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr int kStepCount = static_cast<int>(Step::kPostBind) + 1;
// As metrics spell it: "PreFilterExtensionAddPod".
std::string_view NameOf(Step step);
// Belongs to the binding cycle, which runs on a thread of its own.
constexpr bool IsOfBindingCycle(Step step) { return step >= Step::kPreBindPreFlight; }

class PluginObserver {
 public:
  virtual ~PluginObserver() = default;
  // Whether the next plugin call is to be timed individually; asked before each, so that sampling is cheap.
  virtual bool times_plugins(Step step) const = 0;
  // One plugin was called `count` times, which took `took` each.
  virtual void OnPlugin(Step step, std::string_view plugin, framework::Code code, base::Duration took,
                        uint64_t count) = 0;
  // All plugins of a step have run. Steps of binding cycles are reported from other threads.
  virtual void OnStep(Step step, framework::Code code, base::Duration took) = 0;
  // A plugin failed, whether or not it was timed.
  virtual void OnError(Step step, std::string_view plugin) = 0;
};

}  // namespace berth::engine
