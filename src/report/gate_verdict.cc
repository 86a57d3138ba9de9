// One-sentence answers, and problems of the input, for reviewers and programs.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "codec/json_writer.h"
#include "codec/yaml_writer.h"
#include "report/gate_report.h"
#include "report/gate_text.h"

namespace berth::report {

std::string ToMarkdown(const GateVerdict& verdict) {
  std::string text = fmt::format("### {} {}\n\n<pre>", verdict.passed ? "✅" : "❌", verdict.verb);
  for (std::string_view rest = verdict.text; !rest.empty();) {
    const std::string_view line = FirstLine(rest);
    text += XmlText(line) + "\n";
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return text + "</pre>\n" + FoldedWarnings(verdict.warnings);
}

std::string ToJUnit(const GateVerdict& verdict) {
  const std::string_view answer = FirstLine(verdict.text);
  return JUnitSuite(verdict.verb, 1, verdict.passed ? 0 : 1,
                    verdict.passed ? PassedCase(verdict.verb, "answer", answer)
                                   : FailedCase(verdict.verb, "answer", "Failed", answer));
}

std::string ToGitHub(const GateVerdict& verdict) {
  std::string text;
  for (const std::string& warning : verdict.warnings) text += GitHubCommand("warning", verdict.verb, warning);
  return text + GitHubCommand(verdict.passed ? "notice" : "error", verdict.verb, FirstLine(verdict.text));
}

std::string ErrorsToGitHub(const std::vector<std::string>& errors) {
  std::string text;
  for (size_t i = 0; i < std::min(errors.size(), kAnnotations); ++i) text += GitHubCommand("error", "berth", errors[i]);
  return text;
}

std::string ErrorsToMarkdown(std::string_view verb, const std::vector<std::string>& errors) {
  constexpr size_t kShown = 100, kMaxError = 500;
  std::string text = fmt::format("### ❌ {} could not tell\n\nThe input is wrong, so nothing was tried:\n\n", verb);
  for (size_t i = 0; i < std::min(errors.size(), kShown) && text.size() < kMaxComment; ++i) {
    text += fmt::format("- {}\n", MarkdownText(base::Clipped(errors[i], kMaxError)));
  }
  if (errors.size() > kShown) text += fmt::format("- … and {} more\n", errors.size() - kShown);
  return text;
}

std::string ErrorsToJUnit(std::string_view verb, const std::vector<std::string>& errors) {
  std::string cases;
  for (const std::string& error : errors) cases += FailedCase(verb, "input", "BadInput", error);
  return JUnitSuite(verb, errors.size(), errors.size(), cases);
}

std::string ErrorsToJson(const std::vector<std::string>& errors, bool as_yaml) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  json.Key("apiVersion");
  json.String("berth.dev/v1");
  json.Key("kind");
  json.String("Problems");
  json.Key("errors");
  json.StartArray();
  for (const std::string& error : errors) json.String(error);
  json.EndArray();
  json.EndObject();
  out += "\n";
  return as_yaml ? codec::JsonToYaml(std::move(out)) : out;
}

}  // namespace berth::report
