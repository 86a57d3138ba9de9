// Explanation: everything known about one pod's attempt to be scheduled, node by node, with the amounts behind each
// verdict. Data only; see explain.h for where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/explanation.h"

namespace berth::explain {

// One plugin's rejection of one node.
struct NodeRejection {
  std::string plugin;  // "" when PreFilter left the node out: see left_out_by
  std::string reason;  // in upstream's words
  // Plugins whose PreFilter may have left the node out and that have no rejection of their own in Filter.
  std::vector<std::string> left_out_by;
  std::vector<framework::Finding> findings;  // what is asked and what the node has; may be empty

  // The findings as one text.
  std::string Detail() const;
  // Equal for nodes that are reported together, whatever their amounts.
  std::string Sort() const;
  // How far the node is from what is asked; comparable among rejections with equal Sort().
  double Shortage() const;
};

// By position in Explanation::score_plugins.
struct PluginPoints {
  int64_t raw = 0;
  int64_t normalised = 0;  // 0..100
  int64_t weighted = 0;
};

struct NodeVerdict {
  std::string node;
  // Empty for a feasible node. The first is the one in the pod's message; a scheduler stops there, while an explanation
  // runs the other filters too.
  std::vector<NodeRejection> rejections;
  int64_t total = 0;                 // for a scored node
  std::vector<PluginPoints> points;  // empty when nothing was scored

  bool feasible() const { return rejections.empty(); }
};

struct WeightedPlugin {
  std::string name;
  int64_t weight = 0;
};

// Changes that were tried and with which the pod would fit.
struct ProvenRemedy {
  std::string node;                  // "" when it is the same for every node
  std::vector<std::string> changes;  // all of them are needed
};

struct Explanation {
  std::string pod;   // namespace/name
  std::string node;  // its node; "" when it has none
  std::string runner_up;
  std::string message;     // why it has no node
  std::string pre_filter;  // set when PreFilter rejected the pod as a whole, before any node was evaluated
  std::string pre_filter_plugin;
  bool nominated = false;          // the node is the one that preemption had nominated
  std::vector<NodeVerdict> nodes;  // by name
  std::vector<WeightedPlugin> score_plugins;
  std::optional<framework::PreemptionExplanation> preemption;  // when the pod fitted nowhere, now or before
  std::vector<ProvenRemedy> remedies;                          // the smallest first; at most a handful
  size_t remedies_tried = 0;
  bool cut_short = false;          // details of nodes, preemption or remedies were omitted for lack of time
  std::vector<std::string> hints;  // facts worth looking at; see framework::RejectionExplainer::Hints
};

}  // namespace berth::explain
