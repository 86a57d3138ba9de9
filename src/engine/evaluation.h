// Evaluation: a profile's verdict about one pod on every node of the cluster at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/diagnosis.h"
#include "framework/node_info.h"
#include "framework/status.h"

namespace berth::engine {

// One plugin's scores for every feasible node, in the order of Evaluation::feasible.
struct PluginScores {
  std::string_view plugin;
  std::vector<int64_t> raw;       // as Score returned it
  std::vector<int64_t> weighted;  // normalised to 0..100, times the plugin's weight
};

// A search that looked at only some of the nodes.
struct SampledNodes {
  std::vector<const framework::NodeInfo*> found;  // feasible before extenders, in the order they were found
  size_t evaluated = 0;                           // how many nodes were filtered
};

struct Evaluation {
  // Set when the cycle ended in an internal error rather than a verdict; the rest is then incomplete.
  framework::Status error;

  // Set when PreFilter rejected the pod as a whole: no node was evaluated.
  framework::Status pre_filter;
  // Set when PreFilter restricted the search to these nodes (some may not exist).
  std::optional<std::set<std::string>> narrowed_to;
  std::set<std::string, std::less<>> narrowed_by;  // the plugins that did that

  // Set when the search ended once it had found enough nodes.
  std::optional<SampledNodes> sampled;

  // Nodes that passed every filter, by name.
  std::vector<const framework::NodeInfo*> feasible;
  framework::Diagnosis diagnosis;
  // The pod's own nominated node is feasible: it is chosen without further search.
  const framework::NodeInfo* nominated = nullptr;

  // Filled when there are two or more feasible nodes and the profile has score plugins.
  std::vector<PluginScores> scores;
  std::vector<int64_t> totals;  // by position in `feasible`
  // Positions in `feasible` with the highest total; all of them when nothing was scored.
  std::vector<uint32_t> best;

  bool fits() const { return error.ok() && !feasible.empty(); }
};

// The best node other than the chosen one, the first by name among equals.
struct RunnerUp {
  const framework::NodeInfo* node = nullptr;  // null when nothing was scored
  int64_t total = 0;

  void Consider(const framework::NodeInfo& other, int64_t other_total) {
    if (node && (other_total < total || (other_total == total && node->name() < other.name()))) return;
    node = &other;
    total = other_total;
  }
};
RunnerUp SecondTo(const framework::NodeInfo& chosen, const Evaluation& evaluation);

// Which nodes an evaluation must cover.
enum class Scope {
  kDecide,     // enough to place the pod: stops early at a feasible nominated node
  kEverything  // every node and all scores, whatever the pod's nomination; for explanations
};

// Empty when the two agree about these nodes; otherwise the first difference, in words.
std::string FirstDifference(const framework::Diagnosis& a, const framework::Diagnosis& b,
                            std::span<const framework::NodeInfo* const> nodes);

}  // namespace berth::engine
