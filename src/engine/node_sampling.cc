#include "engine/node_sampling.h"

#include <algorithm>

#include "engine/search.h"

namespace berth::engine {

namespace {

// Upstream's constant.
constexpr int64_t kFewestPercent = 5;

int64_t AdaptivePercentage(size_t nodes) {
  return std::max<int64_t>(50 - static_cast<int64_t>(nodes) / 125, kFewestPercent);
}

}  // namespace

std::optional<SamplingRule> SamplingRule::Of(const config::KubeSchedulerConfiguration& configuration,
                                             const config::Profile& profile) {
  const int32_t percentage =
      profile.percentage_of_nodes_to_score.value_or(configuration.percentage_of_nodes_to_score.value_or(0));
  const bool partial = percentage > 0 && percentage < 100;
  if (!partial && configuration.node_sampling != config::kUpstreamSampling) return std::nullopt;
  return SamplingRule{percentage};
}

size_t SamplingRule::NodesToFind(size_t nodes) const {
  if (nodes < fewest_nodes) return nodes;
  const int64_t percent = percentage == 0 ? AdaptivePercentage(nodes) : percentage;
  return std::max(nodes * static_cast<size_t>(percent) / 100, fewest_nodes);
}

Evaluation NodeSampler::Evaluate(const Profile& profile, const SamplingRule& rule, framework::CycleState& state,
                                 const framework::PodInfo& pod, Scope scope) {
  const Sample sample{rule, cluster_.table().nodes_in_order(), next_start_};
  Evaluation evaluation = EvaluateFromScratch(profile, state, pod, scope, &sample);
  // Also after an error, so that the nodes before it are not tried again and again.
  if (evaluation.sampled) next_start_ = (next_start_ + evaluation.sampled->evaluated) % sample.nodes.size();
  return evaluation;
}

}  // namespace berth::engine
