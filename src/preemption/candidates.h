// The search over nodes: which to try, how many, and on which of the candidates to preempt.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "framework/cluster_view.h"
#include "framework/node_to_status.h"
#include "framework/plugin.h"
#include "preemption/dry_run.h"

namespace berth::preemption {

// The nodes where eviction might help: those with an Unschedulable verdict, whether their own or the one shared by all
// nodes without a verdict of their own. By index.
std::vector<framework::NodeIndex> NodesWorthTrying(const framework::ClusterView& cluster,
                                                   const framework::NodeToStatus& statuses);

// Whether those are all nodes. May be false although they are.
bool AllAreWorthTrying(const framework::ClusterView& cluster, const framework::NodeToStatus& statuses);

struct Findings {
  std::vector<framework::PreemptionCandidate> candidates;  // those that violate no budget first
  framework::NodeToStatus failures;                        // the nodes where evictions do not help
  std::vector<std::string> errors;                         // of failed dry runs, each text once
};

// Tries nodes round-robin from nodes[offset] until `wanted` candidates are found, at least one of them violating no
// budget.
Findings FindCandidates(const DryRun& dry_run, const framework::ClusterView& cluster,
                        std::span<const framework::NodeIndex> nodes, size_t offset, size_t wanted);

// Adds a text unless it is already there.
void AddOnce(std::vector<std::string>& texts, std::string text);

// The candidates (by position) that no other beats; more than one when they are equal in everything. Criteria, each
// deciding only among those that the ones before left equal:
//   1. fewest violated budgets
//   2. lowest priority of the most important victim
//   3. lowest sum of the victims' priorities, each raised by 2^31 so that more victims never make it smaller
//   4. fewest victims
//   5. latest start of the longest-running among the most important victims
std::vector<size_t> BestCandidates(std::span<const framework::PreemptionCandidate> candidates, base::Time now);

}  // namespace berth::preemption
