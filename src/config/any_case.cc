#include "config/any_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::config {

void MergeAnyCase(const std::vector<codec::Diagnostic>& exact, const std::vector<codec::Diagnostic>& any_case,
                  std::vector<codec::Diagnostic>& diagnostics, std::vector<codec::Diagnostic>& skipped) {
  for (const codec::Diagnostic& problem : exact) {
    if (!problem.unknown_field) diagnostics.push_back(problem);
  }
  for (const codec::Diagnostic& problem : any_case) {
    if (problem.unknown_field) {
      skipped.push_back(problem);
      continue;
    }
    const auto same = [&](const codec::Diagnostic& other) {
      return other.where == problem.where && other.message == problem.message;
    };
    if (std::ranges::none_of(exact, same)) diagnostics.push_back(problem);
  }
}

void AddWarning(const LoadOptions& options, codec::Mark where, std::string_view text) {
  if (options.warnings == nullptr) return;
  options.warnings->push_back(options.file_name.empty()
                                  ? std::string(text)
                                  : fmt::format("{}: {}", codec::Where(options.file_name, where), text));
}

void WarnOfSkipped(const LoadOptions& options, const std::vector<codec::Diagnostic>& skipped) {
  for (const codec::Diagnostic& problem : skipped) {
    AddWarning(options, problem.where, fmt::format("{}; it is ignored", problem.ToString()));
  }
}

}  // namespace berth::config
