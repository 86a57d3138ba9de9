// DefaultBinder: writes the binding to the API.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class DefaultBinder final : public framework::Plugin, public framework::BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status Bind(framework::BindingHandle& handle, framework::CycleState& state, const framework::PodInfo& pod,
                         const std::string& node_name) override;
};

}  // namespace berth::plugins
