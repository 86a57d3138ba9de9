// ImageLocality: prefers nodes that already have the pod's images, by size. An image counts by the share of nodes that
// have it, so that a rare image does not pull every pod of a workload onto one node.
#pragma once

#include <memory>
#include <optional>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class ImageLocality final : public framework::Plugin, public framework::ScorePlugin, public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  explicit ImageLocality(const framework::Handle& handle) : handle_(handle) {}

  std::string_view name() const override { return kName; }
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  bool ScoreRange(const framework::CycleState& state, const framework::PodInfo& pod,
                  const framework::NodeColumns& columns, framework::NodeIndex begin,
                  std::span<int64_t> scores) const override;
  std::optional<int64_t> ScoreOfEveryNode(const framework::CycleState& state,
                                          const framework::PodInfo& pod) const override;
  // The score of a node changes when another node is added or removed, or pulls the same image.
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kAllNodes; }
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const override;

 private:
  const framework::Handle& handle_;
};

}  // namespace berth::plugins
