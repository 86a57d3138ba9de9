// Comparison: what another scheduler decided about a pod, and what berth makes of it at the same point of the history.
// Data only; see opinion.h and race.h for how it comes about.
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
  kRaced,       // it is so in a picture that differs by events around that moment
  kLower,       // the node is feasible for berth, but others score higher
  kPlaceable,   // the other scheduler gave the pod up, and berth would place it
  kInfeasible,  // the node is not feasible for berth
};
inline constexpr Verdict kVerdicts[] = {Verdict::kAgreed, Verdict::kRaced, Verdict::kLower, Verdict::kPlaceable,
                                        Verdict::kInfeasible};
// "agreed", "raced", …
std::string_view NameOf(Verdict verdict);
std::optional<Verdict> VerdictOf(std::string_view name);

// A score plugin that does not see the two nodes alike; points are weighted.
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
  std::string node;       // where it was bound; "" when it was given up
  std::string message;    // of the other scheduler, when it was given up
  Verdict verdict = Verdict::kAgreed;
  // What it would have been but for the race; the verdict itself when it did not race.
  Verdict without_race = Verdict::kAgreed;
  bool nominated = false;  // the node is one that was nominated before, as after a preemption

  size_t nodes = 0;               // in the cluster
  size_t feasible_nodes = 0;      // for berth
  std::vector<std::string> best;  // berth's best nodes, by name; at most a few
  size_t best_count = 0;          // how many there are
  std::optional<int64_t> score;   // of the node, where it was scored
  std::optional<int64_t> best_score;
  std::vector<PluginGap> plugins;  // that make the difference between the node and the first of the best

  std::string plugin;  // that rejects the node, when it is not feasible
  std::string reason;  // its words
  std::string detail;  // the numbers behind them

  std::vector<std::string> events;  // that the two histories differ by
  bool is_sampling_likely = false;  // the scheduler probably looked at a part of the nodes only
  bool is_same_message = false;     // of two that found no node
  size_t trials = 0;                // pictures that were looked at

  bool bound() const { return !node.empty(); }
  // For people, on one line.
  std::string Text() const;
};

// How many there were of each.
struct Tally {
  std::map<Verdict, size_t> by_verdict;
  size_t compared = 0;
  size_t bound = 0;
  size_t given_up = 0;
  size_t lower_by_sampling = 0;  // of the lower ones, those for which sampling is the likely cause
  size_t same_messages = 0;
  std::map<std::string, size_t> left_out;  // bound pods of schedulers that are not looked at, by schedulerName

  void Add(const Comparison& comparison);
  size_t Of(Verdict verdict) const;
  // "128 compared: 120 agreed, 6 raced, …"
  std::string Text() const;
};

}  // namespace berth::shadow
