// Explanation: everything there is to say about one pod's attempt to be scheduled, node by node, with the numbers
// behind each verdict. Data only; see explain.h for where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::explain {

// One plugin's No to one node.
struct Rejection {
  std::string plugin;
  std::string reason;  // in upstream's words
  std::string detail;  // the numbers, labels or pods behind it; may be empty
};

// By position in Explanation::score_plugins.
struct PluginPoints {
  int64_t raw = 0;
  int64_t normalised = 0;  // 0..100
  int64_t weighted = 0;
};

struct NodeVerdict {
  std::string node;
  // Empty for a feasible node. The first is the one that counts in the pod's message; a scheduler stops there, an
  // explanation asks the other filters too.
  std::vector<Rejection> rejections;
  int64_t total = 0;                 // of a scored node
  std::vector<PluginPoints> points;  // empty when nothing was scored

  bool feasible() const { return rejections.empty(); }
};

struct ScorePlugin {
  std::string name;
  int64_t weight = 0;
};

// A change that was tried, and with which the pod would fit.
struct Remedy {
  std::string node;
  std::vector<std::string> changes;  // all of them are needed
};

struct Victim {
  std::string pod;
  int32_t priority = 0;
};

struct PreemptionTrial {
  std::string node;
  bool would_fit = false;
  std::vector<Victim> victims;  // the most important first
  int64_t pdb_violations = 0;
  bool chosen = false;
  std::string verdict;  // why it was chosen or not, or what stands in the way even without the pods that could go
};

struct PreemptionStory {
  std::string not_eligible;             // why the pod may not preempt; the rest is then empty
  std::vector<PreemptionTrial> trials;  // candidates first, by name each
  size_t not_helpful = 0;               // nodes where nothing that could be evicted would help
};

struct Explanation {
  std::string pod;   // namespace/name
  std::string node;  // where it is; "" when it has none
  std::string runner_up;
  std::string message;     // why it has no node
  std::string pre_filter;  // set when the pod was turned down as a whole, before any node was looked at
  std::string pre_filter_plugin;
  bool nominated = false;          // the node is the one that preemption had promised
  std::vector<NodeVerdict> nodes;  // by name
  std::vector<ScorePlugin> score_plugins;
  std::optional<PreemptionStory> preemption;  // when the pod fitted nowhere, now or in an attempt before
  std::vector<Remedy> remedies;               // the smallest first; at most a handful
  size_t remedies_tried = 0;
};

}  // namespace berth::explain
