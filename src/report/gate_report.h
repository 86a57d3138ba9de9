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
// One for each pod that differs, which fails when the pod is left without a place, and one for all others.
std::string ToJUnit(const sim::Comparison& comparison);

// An error for each pod without a place, a warning for each warning, a notice with the sum; of a comparison also a
// notice for each other pod that differs.
std::string ToGitHub(const sim::SimulationReport& report);
std::string ToGitHub(const sim::Comparison& comparison);

// An answer that is one sentence, such as a capacity or a number of nodes, and whether it will do.
struct Verdict {
  std::string verb;  // "berth capacity"
  bool passed = true;
  std::string text;  // as for people; the first line is the answer
  std::vector<std::string> warnings{};
};
std::string ToMarkdown(const Verdict& verdict);
std::string ToJUnit(const Verdict& verdict);
std::string ToGitHub(const Verdict& verdict);
std::string ErrorsToGitHub(const std::vector<std::string>& errors);

// apiVersion berth.dev/v1, kind Problems.
std::string ErrorsToJson(const std::vector<std::string>& errors, bool as_yaml = false);

}  // namespace berth::report
