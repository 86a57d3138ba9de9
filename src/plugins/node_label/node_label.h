// NodeLabel: nodes must have certain labels and must not have others, whatever the values and whatever the pod; the
// same as a preference. Replaced by NodeAffinity, with addedAffinity for a whole profile.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "base/result.h"
#include "base/symbol.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace berth::plugins {

class NodeLabel final : public framework::Plugin,
                        public framework::FilterPlugin,
                        public framework::ScorePlugin,
                        public framework::EnqueueExtensions,
                        public framework::SignPlugin {
 public:
  static constexpr std::string_view kName = "NodeLabel";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  std::string_view name() const override { return kName; }
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const override;
  framework::DependsOn filter_depends_on() const override { return framework::DependsOn::kNode; }
  // The share of preferences that the node satisfies.
  framework::ScoreResult Score(const framework::CycleState& state, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const override;
  framework::DependsOn score_depends_on() const override { return framework::DependsOn::kNode; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  // Reads nothing of the pod: all pods are alike here.
  bool Sign(const framework::PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  // A condition on one label of the node.
  struct Presence {
    Symbol key;
    bool wanted;
    bool Holds(const api::Labels& labels) const { return labels.Contains(key) == wanted; }
  };

  explicit NodeLabel(const config::NodeLabelArgs& args);
  static std::vector<Presence> Conditions(const std::vector<std::string>& present,
                                          const std::vector<std::string>& absent);
  bool Admits(const api::Labels& labels) const;
  framework::QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Node* before,
                                          const api::Node* after) const;

  const std::vector<Presence> required_;
  const std::vector<Presence> preferred_;
};

}  // namespace berth::plugins
