// What preemption would find on each node, from its own dry runs, and why it chooses one.

#include <fmt/format.h>

#include <algorithm>

#include "plugins/default_preemption/default_preemption.h"
#include "preemption/candidates.h"
#include "preemption/cost.h"
#include "preemption/dry_run.h"
#include "preemption/eligibility.h"

namespace berth::plugins {

using framework::NodeInfo;
using framework::PreemptionExplanation;
using framework::PreemptionTrial;
using preemption::Cost;

namespace {

struct CostedTrial {
  PreemptionTrial trial;
  Cost cost;
};

// The first criterion, in order, by which `worse` loses.
std::string LostBy(const Cost& worse, const Cost& best, const std::string& winner) {
  if (worse.pdb_violations != best.pdb_violations) {
    return fmt::format("violates {} where {} violates {}", worse.pdb_violations, winner, best.pdb_violations);
  }
  if (worse.highest_priority != best.highest_priority) {
    return fmt::format("its most important victim has priority {}, that on {} {}", worse.highest_priority, winner,
                       best.highest_priority);
  }
  // The sum is raised by a constant per victim, so a difference in the number of victims explains it first.
  if (worse.priority_sum != best.priority_sum && worse.victims != best.victims) {
    return fmt::format("{} victims, {} has {}", worse.victims, winner, best.victims);
  }
  if (worse.priority_sum != best.priority_sum)
    return fmt::format("its victims' priorities add up to more than on {}", winner);
  if (worse.victims != best.victims) return fmt::format("{} victims, {} has {}", worse.victims, winner, best.victims);
  if (worse.earliest_start != best.earliest_start) {
    return fmt::format("its longest-running victim of the highest priority started earlier than that on {}", winner);
  }
  return fmt::format("as good as {}, which comes first by name", winner);
}

std::string WonBy(const std::vector<CostedTrial>& candidates, size_t chosen) {
  if (candidates.size() == 1) return "the only node where it helps";
  // The criterion that beat the last rival.
  const Cost& best = candidates[chosen].cost;
  int deepest = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Cost& cost = candidates[i].cost;
    if (i == chosen) continue;
    const int depth = cost.pdb_violations != best.pdb_violations       ? 0
                      : cost.highest_priority != best.highest_priority ? 1
                      : cost.priority_sum != best.priority_sum         ? 2
                      : cost.victims != best.victims                   ? 3
                      : cost.earliest_start != best.earliest_start     ? 4
                                                                       : 5;
    deepest = std::max(deepest, depth);
  }
  constexpr std::string_view kWhy[] = {
      "the fewest violated disruption budgets",
      "the lowest priority of the most important victim",
      "the lowest sum of priorities",
      "the fewest victims",
      "its longest-running victim of the highest priority started last",
      "equal in everything to others, the first by name",
  };
  return std::string(kWhy[deepest]);
}

void ChooseOne(std::vector<CostedTrial>& candidates) {
  const std::vector<size_t> best =
      preemption::Cheapest(candidates.size(), [&](size_t i) { return candidates[i].cost; });
  if (best.empty()) return;
  const size_t chosen = best.front();
  for (size_t i = 0; i < candidates.size(); ++i) {
    PreemptionTrial& trial = candidates[i].trial;
    trial.chosen = i == chosen;
    trial.verdict = trial.chosen ? WonBy(candidates, chosen)
                                 : LostBy(candidates[i].cost, candidates[chosen].cost, candidates[chosen].trial.node);
  }
}

}  // namespace

PreemptionExplanation DefaultPreemption::ExplainPreemption(const framework::CycleState& state,
                                                           const framework::PodInfo& pod,
                                                           const framework::NodeToStatus& statuses) const {
  const framework::ClusterView& cluster = handle_.cluster();
  PreemptionExplanation found;
  const NodeInfo* nominated = cluster.Find(pod.pod().status.nominated_node_name);
  found.not_eligible =
      preemption::WhyNotEligible(cluster, pod, nominated ? statuses.Get(nominated->index()) : statuses.absent());
  if (!found.not_eligible.empty()) return found;

  std::vector<framework::NodeIndex> worth = preemption::NodesWorthTrying(cluster, statuses);
  found.not_helpful = cluster.nodes().size() - worth.size();
  std::sort(worth.begin(), worth.end(), [&](framework::NodeIndex a, framework::NodeIndex b) {
    return cluster.row(a).name() < cluster.row(b).name();
  });
  const preemption::DryRun dry_run(handle_, state, pod);
  std::vector<CostedTrial> candidates;
  std::vector<PreemptionTrial> in_vain;
  for (const framework::NodeIndex index : worth) {
    const NodeInfo& node = cluster.row(index);
    const preemption::Trial trial = dry_run.Try(node);
    PreemptionTrial told{.node = node.name(), .would_fit = trial.status.ok()};
    if (!told.would_fit) {
      told.verdict = trial.status.Message();
      in_vain.push_back(std::move(told));
      continue;
    }
    for (const framework::PodInfoPtr& victim : trial.victims.pods) {
      told.victims.push_back({victim->Key(), victim->priority()});
    }
    told.pdb_violations = trial.victims.pdb_violations;
    candidates.push_back({std::move(told), preemption::CostOf(trial.victims, dry_run.now())});
  }
  ChooseOne(candidates);
  for (CostedTrial& candidate : candidates) found.trials.push_back(std::move(candidate.trial));
  std::move(in_vain.begin(), in_vain.end(), std::back_inserter(found.trials));
  return found;
}

}  // namespace berth::plugins
