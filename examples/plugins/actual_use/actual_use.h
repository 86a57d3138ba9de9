// ActualUse: prefers nodes that are really idle, whatever their pods asked for.
//
// How much a node uses comes from the first of these that has an answer:
//  1. a metrics endpoint, if one is configured and its last answer is young enough;
//  2. an annotation of the node;
//  3. what the node's pods request.
// A node of which nothing is known gets the middle score. No trouble with any of them ever fails a pod.
//
// The score is the mean of the free shares of cpu and memory, 0 to 100.
#pragma once

#include <berth/plugin.h>

#include <memory>
#include <string>
#include <string_view>

#include "usage_feed.h"

namespace example {

struct ActualUseArgs {
  std::string annotation = "example.com/usage";
  std::string endpoint;  // URL of a NodeMetricsList; none: annotations only
  std::string refresh = "15s";
  std::string max_age = "1m";
  std::string timeout = "2s";
};
const berth::codec::Message& Describe(const ActualUseArgs*);

class ActualUse final : public berth::framework::Plugin,
                        public berth::framework::PreScorePlugin,
                        public berth::framework::ScorePlugin,
                        public berth::framework::SignPlugin {
 public:
  static constexpr int64_t kUnknown = 50;

  // Waits for the first answer of the endpoint, at most the timeout, so that the first pod finds one.
  static berth::NewPlugin Create(const berth::PluginArgs& given, berth::framework::Handle& handle);

  std::string_view name() const override { return "ActualUse"; }
  // Takes hold of the endpoint's latest answer, so that all nodes are compared by the same one.
  berth::framework::Status PreScore(berth::framework::CycleState& state, const berth::framework::PodInfo& pod,
                                    std::span<const berth::framework::NodeInfo* const> feasible) const override;
  berth::framework::ScoreResult Score(const berth::framework::CycleState& state, const berth::framework::PodInfo& pod,
                                      const berth::framework::NodeInfo& node) const override;
  // score_depends_on() stays kAnything: the endpoint's numbers change without any event.

  // Nothing is read of the pod, so pods need not differ for this plugin's sake.
  bool Sign(const berth::framework::PodInfo&, berth::framework::SignatureBuilder&) const override { return true; }

 private:
  struct Measured : berth::framework::CopyableState<Measured> {
    std::shared_ptr<const UsageByNode> usage;
  };

  ActualUse(std::string annotation, std::unique_ptr<UsageFeed> feed, berth::framework::Handle& handle);

  const std::string annotation_;
  const std::unique_ptr<UsageFeed> feed_;  // null without an endpoint
  const berth::framework::StateKey<Measured> key_;
};

}  // namespace example
