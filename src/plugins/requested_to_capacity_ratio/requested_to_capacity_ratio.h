// RequestedToCapacityRatio: prefers nodes by a curve over their utilization. Now a strategy of NodeResourcesFit.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_resources/allocation_score.h"
#include "plugins/node_resources/scoring_rules.h"

namespace berth::plugins {

class RequestedToCapacityRatio final : public AllocationScore<UtilizationCurve> {
 public:
  static constexpr std::string_view kName = "RequestedToCapacityRatio";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }

 private:
  using AllocationScore::AllocationScore;
};

}  // namespace berth::plugins
