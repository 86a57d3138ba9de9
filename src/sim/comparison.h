// Compares two runs: which pods end up elsewhere, and what that does to the balance. The runs may differ in their
// configuration, in their objects, or in both. Pods are matched by namespace and name; a pod that only one run has is
// matched with another of the same workload, since names contain a hash of the pod's template.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/simulation.h"
#include "sim/utilisation.h"

namespace berth::sim {

// How a run ended.
struct RunOutcome {
  // Every pod: those that were pending, those that already had a node, those that were preempted.
  std::map<std::string, PodReport> pods;  // by namespace/name
  Utilisation utilisation;
};

// The outcome of a simulation that has run and returned this report.
RunOutcome OutcomeOf(const Simulation& simulation, const SimulationReport& report);

enum class PodChange {
  kMoved,      // has another node
  kPlaced,     // had none, and has one now
  kPending,    // had a node, or was not held back, and is pending now
  kPreempted,  // is preempted now, or for another pod than before
  kHeld,       // is gated, or another scheduler's, now
  kReason,     // pending as before, for another reason
  kAdded,      // only the second run has it
  kRemoved,    // only the first run has it
};
std::string_view NameOf(PodChange change);

struct PodDifference {
  std::string pod;
  std::string replaces;  // the pod of the same workload that it replaces, under another name in the first run
  std::string owner;     // "Deployment shop/web"
  PodChange change = PodChange::kMoved;
  std::string node_before;  // empty: none
  std::string node_after;
  std::string detail;  // why it is pending, or which pod it was evicted for

  // It exists, and has no node.
  bool unplaced() const { return change != PodChange::kRemoved && node_after.empty(); }
};

// How evenly nodes are filled, as shares of their capacity.
struct Balance {
  std::string resource;
  double total = 0;
  double lowest = 0;
  double median = 0;
  double highest = 0;
  double deviation = 0;  // standard deviation over the nodes that have the resource
};

struct ComparisonSide {
  std::string name;  // what it was made from, for people
  size_t nodes = 0;
  size_t placed = 0;
  size_t pending = 0;  // including gated pods and those of other schedulers
  size_t preempted = 0;
  std::vector<Balance> balance;
  std::vector<ZoneUse> zones;
  // Pods in the fullest zone minus pods in the emptiest; nodes without a zone are not counted.
  size_t zone_skew = 0;
  std::vector<std::string> warnings;  // of reading its input
  std::vector<std::string> notes;
};

struct Comparison {
  ComparisonSide before;
  ComparisonSide after;
  std::vector<PodDifference> differences;  // by namespace and name
  size_t compared = 0;                     // pods that either side has

  bool changed() const { return !differences.empty(); }
  size_t Count(PodChange change) const;
  // Some pod has no node now that had one before, or that is new: pods that had none before do not count.
  bool leaves_unplaced() const;
  bool preempts() const { return after.preempted > before.preempted || Count(PodChange::kPreempted) > 0; }
  bool moves() const { return Count(PodChange::kMoved) > 0; }
};

Comparison Compare(const RunOutcome& before, std::string before_name, const RunOutcome& after, std::string after_name);

}  // namespace berth::sim
