// KeptTrials: what dry runs found about nodes, kept from one search to the next.
//
// What must go from a node for a pod to fit there is a function of the node with its pods (NodeInfo::generation), of
// the pod's signature and priority, and of the disruption budgets that protect the node's pods, as long as the filters
// judge nodes alone. So only nodes that have changed since are tried again. Nodes promised to other pods are always
// tried again, and so are those whose result depends on the time (see Trial::holds_after).
//
// Only what a choice needs is kept, one cache line a node; victims are found by trying the chosen node once more. Where
// every node is worth trying, the cheapest of those that a search looks at is found from sums over many nodes.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "framework/handle.h"
#include "framework/node_to_status.h"
#include "preemption/candidates.h"
#include "preemption/cost.h"
#include "preemption/dry_run.h"
#include "preemption/trial_sums.h"

namespace berth::preemption {

struct CostedNode {
  framework::NodeIndex node = 0;
  Cost cost;
};

// As Findings of FindCandidates, but with costs in place of victims.
struct Shortlist {
  std::vector<CostedNode> candidates;  // those that violate no budget first
  framework::NodeToStatus failures;    // the nodes tried in vain
  std::vector<std::string> errors;     // of the dry runs that broke, each text once
};

// Empty when both found the same; otherwise the first difference, in words.
std::string FirstDifference(const Shortlist& list, const Findings& findings, const framework::ClusterView& cluster,
                            base::Time now);

// The trials for pods of one signature and priority.
class TrialShelf {
 public:
  // Gets ready for a search for `pod`.
  void Prepare(const framework::Handle& handle, const framework::PodInfo& pod,
               std::shared_ptr<const DisruptionBudgets> budgets);

  // The same nodes that FindCandidates would find, in the same order.
  Shortlist Find(const DryRun& dry_run, const framework::ClusterView& cluster,
                 std::span<const framework::NodeIndex> nodes, size_t offset, size_t wanted);
  // One of the cheapest candidates of Find over all nodes, beginning with node `start`, taken at random as from its
  // list. Unset when that is to be asked: there is no candidate that violates no budget, or the order of costs may
  // change with time.
  std::optional<framework::NodeIndex> FindCheapest(const DryRun& dry_run, const framework::ClusterView& cluster,
                                                   framework::NodeIndex start, size_t wanted, base::Random& random);

 private:
  class Sweep;

  struct Outcome {
    uint64_t generation = 0;  // of the node when it was tried; 0: never
    base::Time holds_after;
    BudgetSet budgets = 0;
    uint32_t failure = 0;     // position in failures_ plus one; 0: the pod would fit
    bool starts_now = false;  // cost.earliest_start is the moment of the search
    Cost cost;
  };

  const Outcome& OutcomeOn(const DryRun& dry_run, const framework::ClusterView& cluster, framework::NodeIndex node);
  Outcome Summarize(Trial trial, base::Time now);
  uint32_t FailureId(framework::Status status);
  void Forget();
  // Brings the sums up to this moment; false when the cluster does not tell what has changed.
  bool CatchUp(const framework::ClusterView& cluster);
  void SumUp(const framework::ClusterView& cluster, framework::NodeIndex node);
  static TrialState StateOf(const Outcome& outcome);
  // As it compares with others: who has not started will have started after all who have.
  static Cost ComparableCost(const Outcome& outcome);

  std::vector<Outcome> outcomes_;  // by node index
  std::vector<framework::Status> failures_;
  std::shared_ptr<const DisruptionBudgets> budgets_;
  std::vector<framework::NodeIndex> held_;              // promised to other pods; sorted
  Outcome passing_;                                     // the last one that is not to be kept
  const std::vector<uint64_t>* generations_ = nullptr;  // of the nodes, during a search

  TrialSums sums_;
  bool summed_ = false;  // sums_ held when the cluster had seen sums_at_ changes
  uint64_t sums_at_ = 0;
  std::vector<framework::NodeIndex> changed_;  // scratch
  // Of all outcomes kept so far: whether some start now, the latest start of others, and from when on all of them hold.
  bool some_start_now_ = false;
  base::Time latest_start_ = base::Time::min();
  base::Time all_hold_after_ = base::Time::min();
};

class KeptTrials {
 public:
  explicit KeptTrials(const framework::Handle& handle) : handle_(handle) {}

  // The disruption budgets as they are now.
  std::shared_ptr<const DisruptionBudgets> Budgets();
  // Where trials for pods like this one are kept, ready for a search; null when their outcome may rest on more than
  // the node. Valid until the next call.
  TrialShelf* ShelfFor(const framework::CycleState& state, const framework::PodInfo& pod);

 private:
  struct Entry {
    std::string signature;
    int32_t priority;
    uint64_t skip_filter;
    TrialShelf shelf;
  };

  const framework::Handle& handle_;
  std::shared_ptr<const DisruptionBudgets> budgets_;
  uint64_t budgets_version_ = 0;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace berth::preemption
