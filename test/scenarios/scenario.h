// A scenario file: objects, and what must become of the pods among them. README.md has the format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/types.h"
#include "input/input.h"
#include "sim/simulation.h"

namespace berth::scenarios {

struct Expectation {
  sim::PodOutcome outcome = sim::PodOutcome::kScheduled;
  std::vector<std::string> nodes;  // one of these, when scheduled
  std::optional<int64_t> score;    // of the node, when scheduled; unset for any
  std::string text;                // the message, or who preempted it; "" for any
};

struct Scenario {
  config::KubeSchedulerConfiguration configuration;
  std::map<std::string, Expectation> pods;       // by namespace/name
  std::map<std::string, std::string> preempted;  // victim to preemptor
  input::ClusterInput input;
};

Result<Scenario> Load(const std::string& file);

// What differs from the expectation, a line each.
std::vector<std::string> Differences(const Scenario& scenario, const sim::SimulationReport& report);

}  // namespace berth::scenarios
