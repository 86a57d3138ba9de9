// Building blocks of reports for reviewers: texts of the input in Markdown, JUnit XML and GitHub's commands, where they
// must not become markup, elements or commands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::report {

// GitHub rejects a comment of more than 65,536 characters; this leaves room for the end of the report.
inline constexpr size_t kMaxComment = 60'000;
// GitHub shows ten annotations per kind and step.
inline constexpr size_t kAnnotations = 10;

// Cannot become a link, an image, a mention or an element.
std::string MarkdownText(std::string_view text);
std::string XmlText(std::string_view text);
// "::LEVEL title=TITLE::TEXT"
std::string GitHubCommand(std::string_view level, std::string_view title, std::string_view text);

std::string JUnitSuite(std::string_view name, size_t tests, size_t failures, std::string_view cases);
std::string PassedCase(std::string_view whose, std::string_view name, std::string_view text);
std::string FailedCase(std::string_view whose, std::string_view name, std::string_view type, std::string_view why);
// Worth a look, but no failure.
std::string SkippedCase(std::string_view whose, std::string_view name, std::string_view why);

std::string FoldedWarnings(const std::vector<std::string>& warnings);
std::string_view FirstLine(std::string_view text);

}  // namespace berth::report
