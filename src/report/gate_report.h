// Reports for whoever reviews a change: a comment on a pull request (Markdown), test results (JUnit XML), annotations
// of GitHub's runners; and problems of the input as a document for programs. Texts of the input cannot become markup,
// elements or commands in any of them.
#pragma once

#include <string>
#include <vector>

#include "sim/comparison.h"
#include "sim/simulation.h"

namespace berth::report {

// What became of the pods: a sentence, those without a place in a table, the rest folded.
std::string ToMarkdown(const sim::SimulationReport& report);
// What changed, in a table; the balance folded.
std::string ToMarkdown(const sim::Comparison& comparison);

// A test case for each pod, which fails when the pod has no place.
std::string ToJUnit(const sim::SimulationReport& report);

// An error for each pod without a place, a warning for each warning, a notice with the sum.
std::string ToGitHub(const sim::SimulationReport& report);
std::string ToGitHub(const sim::Comparison& comparison);
std::string ErrorsToGitHub(const std::vector<std::string>& errors);

// apiVersion berth.dev/v1, kind Problems.
std::string ErrorsToJson(const std::vector<std::string>& errors, bool as_yaml = false);

}  // namespace berth::report
