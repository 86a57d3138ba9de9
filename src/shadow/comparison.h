// Comparison: another scheduler's decision about a pod, compared with berth's at the same point of the history. Data
// only; see opinion.h and race.h for how it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace berth::shadow {

enum class Verdict {
  kAgreed,      // the node is among berth's best; or neither finds one
  kRaced,       // berth agrees in a picture that differs by events around that moment
  kLower,       // the node is feasible for berth, but others score higher
  kPlaceable,   // the other scheduler found no node, and berth would place the pod
  kInfeasible,  // the node is not feasible for berth
};
inline constexpr Verdict kVerdicts[] = {Verdict::kAgreed, Verdict::kRaced, Verdict::kLower, Verdict::kPlaceable,
                                        Verdict::kInfeasible};
// "agreed", "raced", …
std::string_view NameOf(Verdict verdict);
std::optional<Verdict> VerdictOf(std::string_view name);

// A score plugin that scores the two nodes differently; points are weighted.
struct PluginGap {
  std::string plugin;
  int64_t chosen = 0;
  int64_t best = 0;
};

struct Comparison {
  base::Time time{};  // when the decision was seen
  std::string pod;    // namespace/name
  std::string uid;
  std::string scheduler;  // spec.schedulerName
  std::string node;       // where it was bound; "" if it was unschedulable
  std::string message;    // of the other scheduler, if the pod was unschedulable
  Verdict verdict = Verdict::kAgreed;
  // The verdict without considering races; the verdict itself if there was no race.
  Verdict without_race = Verdict::kAgreed;
  bool nominated = false;  // the node had been nominated before, as after a preemption

  size_t nodes = 0;               // in the cluster
  size_t feasible_nodes = 0;      // for berth
  std::vector<std::string> best;  // berth's best nodes, by name; at most a few
  size_t best_count = 0;          // how many there are
  std::optional<int64_t> score;   // of the node, if it was scored
  std::optional<int64_t> best_score;
  std::vector<PluginGap> plugins;  // that cause the difference between the node and the first of the best

  std::string plugin;  // that rejects the node, if it is infeasible
  std::string reason;  // its message
  std::string detail;  // the numbers behind them

  std::vector<std::string> events;  // by which the two histories differ
  bool is_sampling_likely = false;  // the other scheduler probably evaluated only some of the nodes
  bool is_same_message = false;     // if both found no node
  size_t trials = 0;                // pictures that were evaluated

  bool bound() const { return !node.empty(); }
  // One line for people.
  std::string Text() const;
};

// The number of comparisons by verdict.
struct Tally {
  std::map<Verdict, size_t> by_verdict;
  size_t compared = 0;
  size_t bound = 0;
  size_t given_up = 0;
  size_t lower_by_sampling = 0;  // those of the lower ones that are probably due to sampling
  size_t same_messages = 0;
  std::map<std::string, size_t> left_out;  // bound pods of schedulers that are not compared, by schedulerName

  void Add(const Comparison& comparison);
  size_t Of(Verdict verdict) const;
  // "128 compared: 120 agreed, 6 raced, …"
  std::string Text() const;
};

}  // namespace berth::shadow
