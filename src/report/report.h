// The report of a simulation: tables for people, JSON and YAML for programs, a page for a browser. The same input and
// seed give the same bytes, in every format.
#pragma once

#include <string>
#include <string_view>

#include "report/page_data.h"
#include "sim/simulation.h"

namespace berth::report {

struct TableStyle {
  bool wide = false;   // include the runner-up
  bool color = false;  // escape sequences of terminals
};

enum class Tint { kNone, kBold, kDim, kRed, kGreen, kYellow, kMagenta };
// Unchanged when the style has no colour.
std::string Tinted(std::string text, Tint tint, const TableStyle& style);

std::string_view NameOf(sim::PodOutcome outcome);

// Pods, the summary, how full the cluster is; then the explanations.
std::string ToTable(const sim::SimulationReport& report, const TableStyle& style = {});
// Bars by resource, and the pods of each zone. "" when there are no nodes.
std::string ToTable(const sim::Utilisation& utilisation, const TableStyle& style = {});
// Nodes with the same verdict are grouped.
std::string ToText(const explain::Explanation& explanation, const TableStyle& style = {});

// apiVersion berth.dev/v1, kind SimulationReport; docs/simulate.md lists the fields.
std::string ToJson(const sim::SimulationReport& report);
std::string ToYaml(const sim::SimulationReport& report);

// One self-contained page. Its source is web/simulate-report.
std::string ToHtml(const sim::SimulationReport& report, const PageContext& page_context = {});
// ToJson for the page: on one line, scores as arrays, with the pods of each node.
std::string ToPageData(const sim::SimulationReport& report);
// Whether the page can hold the explanations of that many pods on that many nodes.
bool FitsOnPage(size_t pods, size_t nodes);
// Whether explaining those that stay pending is still fast enough; the page then holds one for each message.
bool MayExplainPending(size_t pods, size_t nodes);

}  // namespace berth::report
