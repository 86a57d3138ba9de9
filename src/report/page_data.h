// What the page of `berth simulate -o html` shows besides the report: the nodes with labels and taints, the size of
// each pod, and the command that made the page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/object.h"
#include "config/feature_gates.h"
#include "framework/cluster_view.h"
#include "sim/simulation.h"

namespace berth::report {

// Every field is optional; the page shows less without it.
struct PageContext {
  const framework::ClusterView* cluster = nullptr;  // after the run
  std::span<const api::Object> objects;             // the input: requests of pods without a node
  config::FeatureGates gates;
  std::vector<std::string> command;  // as it was typed, the program first
  std::vector<std::string> inputs;   // files, or other sources of the objects
  std::string version;
};

// JSON on one line; nodes and pods in the report's order. web/simulate-report/model.js reads it.
std::string ToPageContext(const sim::SimulationReport& report, const PageContext& context);

}  // namespace berth::report
