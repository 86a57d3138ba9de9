// Two runs side by side: which pods end up elsewhere, and what that does to the balance. The runs may differ in their
// configuration, in their objects, or in both. Pods are the same when they have the same namespace and name; those that
// only one run has are matched with another one of the same workload, as names carry a hash of the pod's template.
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
  // Every pod: those that were pending, those that had a node all along, those that had to make room.
  std::map<std::string, PodReport> pods;  // by namespace/name
  Utilisation utilisation;
};

// Of a simulation that has run and given this report.
RunOutcome OutcomeOf(const Simulation& simulation, const SimulationReport& report);

enum class PodChange {
  kMoved,      // has another node
  kPlaced,     // had none, and has one now
  kPending,    // had one, or was not held back, and waits now
  kPreempted,  // has to make room now, or for another pod than before
  kHeld,       // gated, or not ours, now
  kReason,     // waits as before, for another reason
  kAdded,      // only the second run has it
  kRemoved,    // only the first one
};
std::string_view NameOf(PodChange change);

struct PodDifference {
  std::string pod;
  std::string replaces;  // what the same workload has in its place in the first run, under another name
  std::string owner;     // "Deployment shop/web"
  PodChange change = PodChange::kMoved;
  std::string node_before;  // empty: none
  std::string node_after;
  std::string detail;  // why it waits, or for whom it made room

  // It is there, and has no node.
  bool unplaced() const { return change != PodChange::kRemoved && node_after.empty(); }
};

// How evenly nodes are filled, in shares of what each has.
struct Balance {
  std::string resource;
  double total = 0;
  double lowest = 0;
  double median = 0;
  double highest = 0;
  double deviation = 0;  // standard deviation over the nodes that have any of it
};

struct ComparisonSide {
  std::string name;  // what it was made of, for people
  size_t nodes = 0;
  size_t placed = 0;
  size_t pending = 0;  // gated ones, and those of other schedulers, among them
  size_t preempted = 0;
  std::vector<Balance> balance;
  std::vector<ZoneUse> zones;
  // Pods in the fullest zone less pods in the emptiest; nodes without a zone are none.
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
  // Some pod has no node now that had one before, or that is new: nothing that was there already.
  bool leaves_unplaced() const;
  bool preempts() const { return after.preempted > before.preempted || Count(PodChange::kPreempted) > 0; }
  bool moves() const { return Count(PodChange::kMoved) > 0; }
};

Comparison Compare(const RunOutcome& before, std::string before_name, const RunOutcome& after, std::string after_name);

}  // namespace berth::sim
