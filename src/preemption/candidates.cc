#include "preemption/candidates.h"

#include <algorithm>
#include <iterator>

#include "preemption/cost.h"

namespace berth::preemption {

void AddOnce(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

namespace {

bool MayHelp(const framework::Status& status) { return status.code() == framework::Code::kUnschedulable; }

}  // namespace

bool AllAreWorthTrying(const framework::ClusterView& cluster, const framework::NodeToStatus& statuses) {
  size_t worth = 0;
  for (const framework::NodeToStatus::Group& group : statuses.groups()) {
    if (group.nodes != 0 && MayHelp(group.status)) worth += group.nodes;
  }
  return worth == cluster.nodes().size();
}

std::vector<framework::NodeIndex> NodesWorthTrying(const framework::ClusterView& cluster,
                                                   const framework::NodeToStatus& statuses) {
  std::vector<uint8_t> worth = {MayHelp(statuses.absent())};  // by group
  for (const framework::NodeToStatus::Group& group : statuses.groups()) {
    worth.push_back(group.nodes != 0 && MayHelp(group.status));
  }
  std::vector<framework::NodeIndex> nodes;
  // Often the reasons alone show that no node is worth trying.
  if (std::ranges::none_of(worth, [](uint8_t yes) { return yes != 0; })) return nodes;
  const std::vector<uint8_t>& live = cluster.columns().live;
  nodes.resize(live.size());
  size_t count = 0;
  for (framework::NodeIndex node = 0; node < live.size(); ++node) {
    nodes[count] = node;
    count += live[node] & worth[statuses.group(node)];
  }
  nodes.resize(count);
  return nodes;
}

Findings FindCandidates(const DryRun& dry_run, const framework::ClusterView& cluster,
                        std::span<const framework::NodeIndex> nodes, size_t offset, size_t wanted) {
  Findings findings;
  std::vector<framework::PreemptionCandidate>& harmless = findings.candidates;
  std::vector<framework::PreemptionCandidate> violating;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const framework::NodeInfo& node = cluster.row(nodes[(offset + i) % nodes.size()]);
    Trial trial = dry_run.Try(node);
    if (!trial.status.ok()) {
      if (trial.status.IsError()) AddOnce(findings.errors, trial.status.Message());
      findings.failures.Set(node.index(), std::move(trial.status));
      continue;
    }
    std::vector<framework::PreemptionCandidate>& list = trial.victims.pdb_violations == 0 ? harmless : violating;
    // While every candidate violates a budget the search goes on, but collecting more of them is useless.
    if (list.size() < wanted) list.push_back({node.name(), std::move(trial.victims)});
    if (!harmless.empty() && harmless.size() + violating.size() >= wanted) break;
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(findings.candidates));
  return findings;
}

std::vector<size_t> BestCandidates(std::span<const framework::PreemptionCandidate> candidates, base::Time now) {
  return Cheapest(candidates.size(), [&](size_t i) { return CostOf(candidates[i].victims, now); });
}

}  // namespace berth::preemption
