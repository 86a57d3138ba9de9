// The report of a comparison of two runs: tables for people, JSON for programs.
#pragma once

#include <string>

#include "sim/comparison.h"

namespace berth::report {

std::string ToTable(const sim::Comparison& comparison);
// apiVersion berth.dev/v1, kind ComparisonReport.
std::string ToJson(const sim::Comparison& comparison);

}  // namespace berth::report
