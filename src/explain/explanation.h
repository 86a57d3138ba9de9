// Explanation: everything there is to say about one pod's attempt to be scheduled, node by node, with the numbers
// behind each verdict. Data only; see explain.h for where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/explanation.h"

namespace berth::explain {

// One plugin's No to one node.
struct NodeRejection {
  std::string plugin;  // "" when PreFilter left the node out: see left_out_by
  std::string reason;  // in upstream's words
  // Plugins whose PreFilter may have left the node out, and which do not have a rejection of their own besides.
  std::vector<std::string> left_out_by;
  std::vector<framework::Finding> findings;  // what is asked and what is there; may be empty

  // The findings as one text.
  std::string Detail() const;
  // What must be equal for nodes to be told together, whatever their numbers.
  std::string Sort() const;
  // How far the node is from what is asked; comparable among rejections of equal sort.
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
  // Empty for a feasible node. The first is the one that counts in the pod's message; a scheduler stops there, an
  // explanation asks the other filters too.
  std::vector<NodeRejection> rejections;
  int64_t total = 0;                 // of a scored node
  std::vector<PluginPoints> points;  // empty when nothing was scored

  bool feasible() const { return rejections.empty(); }
};

struct WeightedPlugin {
  std::string name;
  int64_t weight = 0;
};

// Changes that were tried, and with which the pod would fit.
struct ProvenRemedy {
  std::string node;                  // "" when it is the same for every node
  std::vector<std::string> changes;  // all of them are needed
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
  std::vector<WeightedPlugin> score_plugins;
  std::optional<framework::PreemptionExplanation> preemption;  // when the pod fitted nowhere, now or before
  std::vector<ProvenRemedy> remedies;                          // the smallest first; at most a handful
  size_t remedies_tried = 0;
  bool cut_short = false;          // details of nodes, preemption or remedies were left out for want of time
  std::vector<std::string> hints;  // facts worth a look; see framework::RejectionExplainer::Hints
};

}  // namespace berth::explain
