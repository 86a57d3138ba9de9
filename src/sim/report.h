// What a simulation says: a table for people, JSON for programs.
#pragma once

#include <string>

#include "sim/simulation.h"

namespace berth::sim {

std::string ToTable(const SimulationReport& report);
// apiVersion berth.dev/v1, kind SimulationReport; the same input and seed give the same bytes.
std::string ToJson(const SimulationReport& report);

}  // namespace berth::sim
