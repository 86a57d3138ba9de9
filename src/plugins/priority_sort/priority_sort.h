// PrioritySort: orders the queue: higher priority first, then first come, first served.
#pragma once

#include <memory>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class PrioritySort final : public framework::Plugin, public framework::QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  bool Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const override;
};

}  // namespace berth::plugins
