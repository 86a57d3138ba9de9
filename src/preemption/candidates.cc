#include "preemption/candidates.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/check.h"
#include "preemption/victim_order.h"

namespace berth::preemption {
namespace {

// What a node costs to preempt on. Compared member by member; the smallest wins.
struct Cost {
  int64_t pdb_violations = 0;
  int64_t highest_priority = 0;
  int64_t priority_sum = 0;
  size_t victims = 0;
  base::Time earliest_start;

  friend bool operator==(const Cost&, const Cost&) = default;
  friend bool operator<(const Cost& a, const Cost& b) {
    // The later start is the cheaper one, hence b before a.
    return std::tie(a.pdb_violations, a.highest_priority, a.priority_sum, a.victims, b.earliest_start) <
           std::tie(b.pdb_violations, b.highest_priority, b.priority_sum, b.victims, a.earliest_start);
  }
};

Cost CostOf(const framework::Victims& victims, base::Time now) {
  CHECK(!victims.pods.empty());
  constexpr int64_t kRaise = int64_t{1} << 31;
  Cost cost;
  cost.pdb_violations = victims.pdb_violations;
  cost.highest_priority = victims.pods.front()->priority();
  for (const framework::PodInfoPtr& pod : victims.pods) cost.priority_sum += pod->priority() + kRaise;
  cost.victims = victims.pods.size();
  cost.earliest_start = EarliestStartOfMostImportant(victims, now);
  return cost;
}

}  // namespace

std::vector<const framework::NodeInfo*> NodesWorthTrying(const framework::ClusterView& cluster,
                                                         const framework::NodeToStatus& statuses) {
  std::vector<const framework::NodeInfo*> nodes;
  const auto may_help = [](const framework::Status& status) {
    return status.code() == framework::Code::kUnschedulable;
  };
  // Often a glance at the reasons shows that no node is worth one.
  const bool none = !may_help(statuses.absent()) &&
                    std::ranges::none_of(statuses.groups(), [&](const framework::NodeToStatus::Group& group) {
                      return group.nodes != 0 && may_help(group.status);
                    });
  if (none) return nodes;
  for (const framework::NodeInfo* node : cluster.nodes()) {
    if (may_help(statuses.Get(node->index()))) nodes.push_back(node);
  }
  return nodes;
}

Findings FindCandidates(const DryRun& dry_run, std::span<const framework::NodeInfo* const> nodes, size_t offset,
                        size_t wanted) {
  Findings findings;
  std::vector<framework::PreemptionCandidate>& harmless = findings.candidates;
  std::vector<framework::PreemptionCandidate> violating;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const framework::NodeInfo& node = *nodes[(offset + i) % nodes.size()];
    Trial trial = dry_run.Try(node);
    if (!trial.status.ok()) {
      if (trial.status.IsError()) {
        std::string text = trial.status.Message();
        if (std::find(findings.errors.begin(), findings.errors.end(), text) == findings.errors.end()) {
          findings.errors.push_back(std::move(text));
        }
      }
      findings.failures.Set(node.index(), std::move(trial.status));
      continue;
    }
    std::vector<framework::PreemptionCandidate>& list = trial.victims.pdb_violations == 0 ? harmless : violating;
    // As long as every candidate violates a budget the search goes on, but there is no use in collecting more of them.
    if (list.size() < wanted) list.push_back({node.name(), std::move(trial.victims)});
    if (!harmless.empty() && harmless.size() + violating.size() >= wanted) break;
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(findings.candidates));
  return findings;
}

std::vector<size_t> BestCandidates(std::span<const framework::PreemptionCandidate> candidates, base::Time now) {
  std::vector<size_t> best;
  Cost lowest;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Cost cost = CostOf(candidates[i].victims, now);
    if (best.empty() || cost < lowest) {
      best.assign(1, i);
      lowest = cost;
    } else if (cost == lowest) {
      best.push_back(i);
    }
  }
  return best;
}

}  // namespace berth::preemption
