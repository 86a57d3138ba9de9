// KeptTrials: the results of dry runs by node, kept from one search to the next.
//
// Which pods must go from a node for a pod to fit there is a function of the node with its pods (NodeInfo::generation),
// of the pod's signature and priority, and of the disruption budgets that protect the node's pods, as long as the
// filters judge nodes alone. So only nodes that have changed since are tried again. Nodes nominated to other pods are
// always tried again, and so are those whose result depends on the time (see Trial::holds_after).
//
// Only what a choice needs is kept, one cache line per node; victims are found by trying the chosen node once more.
// Where every node is worth trying, the cheapest candidate of a search is found from sums over many nodes.
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
  framework::NodeToStatus failures;    // the nodes where evictions do not help
  std::vector<std::string> errors;     // of failed dry runs, each text once
};

// Empty when both found the same; otherwise the first difference, in words.
std::string FirstDifference(const Shortlist& list, const Findings& findings, const framework::ClusterView& cluster,
                            base::Time now);

// The trials for pods of one signature and priority.
class TrialShelf {
 public:
  // Prepares for a search for `pod`.
  void Prepare(const framework::Handle& handle, const framework::PodInfo& pod,
               std::shared_ptr<const DisruptionBudgets> budgets);

  // The same nodes that FindCandidates would find, in the same order.
  Shortlist Find(const DryRun& dry_run, const framework::ClusterView& cluster,
                 std::span<const framework::NodeIndex> nodes, size_t offset, size_t wanted);
  // One of the cheapest candidates that Find over all nodes, starting at node `start`, would return, chosen at random
  // in the same way. Unset when Find must be used: no candidate leaves all budgets intact, or the order of costs may
  // change with time.
  std::optional<framework::NodeIndex> FindCheapest(const DryRun& dry_run, const framework::ClusterView& cluster,
                                                   framework::NodeIndex start, size_t wanted, base::Random& random);

 private:
  class Sweep;

  struct Outcome {
    uint64_t generation = 0;  // of the node when it was tried; 0 means never
    base::Time holds_after;
    BudgetSet budgets = 0;
    uint32_t failure = 0;     // position in failures_ plus one; 0: the pod would fit
    bool starts_now = false;  // cost.earliest_start is the time of the search
    Cost cost;
  };

  const Outcome& OutcomeOn(const DryRun& dry_run, const framework::ClusterView& cluster, framework::NodeIndex node);
  Outcome Summarize(Trial trial, base::Time now);
  uint32_t FailureId(framework::Status status);
  void Forget();
  // Brings the sums up to date; false when the cluster does not report what has changed.
  bool CatchUp(const framework::ClusterView& cluster);
  void SumUp(const framework::ClusterView& cluster, framework::NodeIndex node);
  static TrialState StateOf(const Outcome& outcome);
  // The cost for comparisons: a victim that has not started counts as starting after all that have.
  static Cost ComparableCost(const Outcome& outcome);

  std::vector<Outcome> outcomes_;  // by node index
  std::vector<framework::Status> failures_;
  std::shared_ptr<const DisruptionBudgets> budgets_;
  std::vector<framework::NodeIndex> held_;              // nominated to other pods; sorted
  Outcome passing_;                                     // the latest outcome that must not be kept
  const std::vector<uint64_t>* generations_ = nullptr;  // the nodes' generations, during a search

  TrialSums sums_;
  bool summed_ = false;  // sums_ is valid as of change number sums_at_ of the cluster
  uint64_t sums_at_ = 0;
  std::vector<framework::NodeIndex> changed_;  // scratch
  // Over all outcomes kept so far: whether some start now, the latest start of the others, and from when on all of them
  // hold.
  bool some_start_now_ = false;
  base::Time latest_start_ = base::Time::min();
  base::Time all_hold_after_ = base::Time::min();
};

class KeptTrials {
 public:
  explicit KeptTrials(const framework::Handle& handle) : handle_(handle) {}

  // The current disruption budgets.
  std::shared_ptr<const DisruptionBudgets> Budgets();
  // The shelf for pods like this one, prepared for a search; null when the outcome may depend on more than the node.
  // Valid until the next call.
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
