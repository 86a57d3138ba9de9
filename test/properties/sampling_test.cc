// Searches that evaluate only some of the nodes, compared with a straightforward loop over them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/node_sampling.h"
#include "engine/search.h"
#include "properties/random_cluster.h"

namespace berth::properties {
namespace {

using engine::Evaluation;
using framework::NodeInfo;
using framework::PodInfo;

struct Walk {
  std::vector<const NodeInfo*> found;
  size_t evaluated = 0;
};

// One node after the other, each filtered by itself.
Walk WalkByHand(RandomCluster& world, const PodInfo& pod, size_t start, size_t wanted) {
  framework::CycleState state = world.profile().NewCycleState();
  Walk walk;
  if (!world.profile().RunPreFilter(state, pod).status.ok()) return walk;
  const auto nodes = world.cluster().table().nodes_in_order();
  // The nominated node is tried first; if it is infeasible, it counts as visited.
  const NodeInfo* promised = world.cluster().Find(pod.pod().status.nominated_node_name);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeInfo* node = nodes[(start + i) % nodes.size()];
    const bool fits = world.profile().RunFilterWithNominatedPods(state, pod, *node).ok();
    if (fits && walk.found.size() == wanted) break;
    if (fits) walk.found.push_back(node);
    if (node == promised) promised = nullptr;
    ++walk.evaluated;
  }
  if (promised && !world.profile().RunFilterWithNominatedPods(state, pod, *promised).ok()) ++walk.evaluated;
  return walk;
}

// The sum of every plugin's scores over these nodes alone.
std::map<std::string, int64_t> ScoreByHand(RandomCluster& world, const PodInfo& pod,
                                           const std::vector<const NodeInfo*>& nodes) {
  framework::CycleState state = world.profile().NewCycleState();
  RC_ASSERT(world.profile().RunPreFilter(state, pod).status.ok());
  RC_ASSERT(world.profile().RunPreScore(state, pod, nodes).ok());
  std::map<std::string, int64_t> totals;
  for (const auto& score : world.profile().scores()) {
    if (engine::IsSkipped(state.skip_score, score.id)) continue;
    std::vector<framework::NodeScore> list;
    for (const NodeInfo* node : nodes) list.push_back({node, score.plugin->Score(state, pod, *node).score});
    if (score.plugin->normalization() != framework::Normalization::kNone) {
      RC_ASSERT(score.plugin->NormalizeScore(state, pod, list).ok());
    }
    for (const framework::NodeScore& entry : list) totals[entry.node->name()] += score.weight * entry.score;
  }
  return totals;
}

template <class Look>
void WatchSearches(Look&& look) {
  RandomCluster world;
  world.AddFirstNodes(*rc::gen::container<std::vector<uint32_t>>(8, AnyVariety()));
  engine::NodeSampler sampler(world.cluster());
  const framework::PodInfoPtr pod = PodOf("asked", *AnyVariety()).Info();
  for (const Change& change : *AnyHistory(20)) {
    world.Apply(change);
    if (!world.cluster().nodes().empty()) look(world, sampler, *pod);
  }
}

RC_GTEST_PROP(NodeSampler, FindsWhatAWalkFinds, ()) {
  const engine::SamplingRule rule{*rc::gen::inRange(1, 100), 2};
  WatchSearches([&](RandomCluster& world, engine::NodeSampler& sampler, const PodInfo& pod) {
    const size_t start = sampler.next_start();
    const size_t count = world.cluster().nodes().size();
    framework::CycleState state = world.profile().NewCycleState();
    const Evaluation evaluation = sampler.Evaluate(world.profile(), rule, state, pod, engine::Scope::kDecide);
    if (!evaluation.sampled || evaluation.narrowed_to) return;
    const Walk walk = WalkByHand(world, pod, start, rule.NodesToFind(count));
    RC_ASSERT(evaluation.sampled->found == walk.found);
    RC_ASSERT(sampler.next_start() == (start + walk.evaluated) % count);
    if (walk.found.size() < 2) return;
    const std::map<std::string, int64_t> totals = ScoreByHand(world, pod, evaluation.feasible);
    for (size_t i = 0; i < evaluation.feasible.size(); ++i) {
      RC_ASSERT(totals.at(evaluation.feasible[i]->name()) == evaluation.totals[i]);
    }
  });
}

RC_GTEST_PROP(NodeSampler, OfAllNodesIsTheExactSearch, ()) {
  WatchSearches([&](RandomCluster& world, engine::NodeSampler& sampler, const PodInfo& pod) {
    framework::CycleState state = world.profile().NewCycleState();
    const Evaluation sampled =
        sampler.Evaluate(world.profile(), {.percentage = 100}, state, pod, engine::Scope::kDecide);
    framework::CycleState other = world.profile().NewCycleState();
    const Evaluation exact = EvaluateFromScratch(world.profile(), other, pod, engine::Scope::kDecide);
    RC_ASSERT(sampled.feasible == exact.feasible);
    RC_ASSERT(sampled.totals == exact.totals);
    RC_ASSERT(sampled.best == exact.best);
    RC_ASSERT(engine::FirstDifference(sampled.diagnosis, exact.diagnosis, world.cluster().nodes()) == std::string());
  });
}

}  // namespace
}  // namespace berth::properties
