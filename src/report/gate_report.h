// Reports for reviewers of a change: a comment on a pull request (Markdown), test results (JUnit XML), annotations for
// GitHub's runners; and problems of the input as a document for programs. Texts of the input cannot become markup,
// elements or commands in any of them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/comparison.h"
#include "sim/simulation.h"

namespace berth::report {

// What causes exit status 2, in the words of --fail-on: unplaced, preempted, warnings; for a comparison also moved and
// changed. What fails there fails in every report; a pod without a node always does.
using FailOn = std::set<std::string>;
bool Fails(const sim::SimulationReport& report, const FailOn& fail_on);
bool Fails(const sim::Comparison& comparison, const FailOn& fail_on);

// The result: a sentence, the pods without a node in a table, the rest folded.
std::string ToMarkdown(const sim::SimulationReport& report, const FailOn& fail_on);
// The changes in a table; the balance folded.
std::string ToMarkdown(const sim::Comparison& comparison, const FailOn& fail_on);

// A test case for each pod; a preempted one is skipped unless that is a failure.
std::string ToJUnit(const sim::SimulationReport& report, const FailOn& fail_on);
// One for each pod that differs, and one for all others.
std::string ToJUnit(const sim::Comparison& comparison, const FailOn& fail_on);

// An error for each failure, a warning for each warning and preempted pod, a notice with the totals; for a comparison
// also a notice for each other pod that differs.
std::string ToGitHub(const sim::SimulationReport& report, const FailOn& fail_on);
std::string ToGitHub(const sim::Comparison& comparison, const FailOn& fail_on);

// A one-sentence answer, such as a capacity or a number of nodes, and whether it passes.
struct GateVerdict {
  std::string verb;  // "berth capacity"
  bool passed = true;
  std::string text;  // as for people; the first line is the answer
  std::vector<std::string> warnings{};
};
std::string ToMarkdown(const GateVerdict& verdict);
std::string ToJUnit(const GateVerdict& verdict);
std::string ToGitHub(const GateVerdict& verdict);

// Problems of the input: nothing was simulated, so nothing passes.
std::string ErrorsToGitHub(const std::vector<std::string>& errors);
std::string ErrorsToMarkdown(std::string_view verb, const std::vector<std::string>& errors);
std::string ErrorsToJUnit(std::string_view verb, const std::vector<std::string>& errors);

// apiVersion berth.dev/v1, kind Problems.
std::string ErrorsToJson(const std::vector<std::string>& errors, bool as_yaml = false);

}  // namespace berth::report
