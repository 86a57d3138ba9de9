// SchedulingGates: a pod with scheduling gates stays out of the queue until the last gate is gone.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class SchedulingGates final : public framework::Plugin,
                              public framework::PreEnqueuePlugin,
                              public framework::EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "SchedulingGates";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status PreEnqueue(const framework::PodInfo& pod) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
};

}  // namespace berth::plugins
