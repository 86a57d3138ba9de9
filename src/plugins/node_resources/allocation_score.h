// AllocationScore: the common base of plugins that only score nodes, by how much of their resources would be in use
// under one rule. A plugin adds its name and reads its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"
#include "plugins/signature_text.h"

namespace berth::plugins {

// A resource listed twice counts once, with the weight given last.
std::vector<config::ResourceSpec> LastOfEach(std::span<const config::ResourceSpec> resources);

template <class Rule>
class AllocationScore : public framework::Plugin, public framework::ScorePlugin, public framework::SignPlugin {
 public:
  framework::ScoreResult Score(const framework::CycleState&, const framework::PodInfo& pod,
                               const framework::NodeInfo& node) const final {
    return resources_.Score(rule_, resources_.Demand(pod), node);
  }
  framework::DependsOn score_depends_on() const final { return framework::DependsOn::kNodeAndPods; }
  bool ScoreRange(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeColumns& columns,
                  framework::NodeIndex begin, std::span<int64_t> scores) const final {
    return resources_.ScoreColumns(rule_, resources_.Demand(pod), columns, begin, scores);
  }
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const final {
    std::string text;
    for (const int64_t amount : resources_.Demand(pod)) AppendField(text, amount);
    signature.Add(name(), text);
    return true;
  }

 protected:
  AllocationScore(Rule rule, std::span<const config::ResourceSpec> resources, const framework::Handle& handle)
      : rule_(std::move(rule)),
        resources_(LastOfEach(resources), ScoredResources::Basis::kNonZeroRequested, handle.gates()) {}

 private:
  const Rule rule_;
  const ScoredResources resources_;
};

}  // namespace berth::plugins
