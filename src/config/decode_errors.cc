#include "config/decode_errors.h"

#include <fmt/format.h>

#include "api/field_error.h"

namespace berth::config {
namespace {

constexpr std::string_view kRepeated = "duplicate field";

std::string_view StrictPart(std::string_view message) {
  for (std::string_view strict : {std::string_view("unknown field"), kRepeated}) {
    if (message.starts_with(strict)) return strict;
  }
  return {};
}

}  // namespace

bool IsRepeatedField(const codec::Diagnostic& problem) { return problem.message.starts_with("duplicate "); }

void DecodeErrors::AddFatal(codec::Mark where, const std::string& text) { fatal_.push_back(Line(where, text)); }

void DecodeErrors::Add(const std::vector<codec::Diagnostic>& diagnostics, std::string_view context,
                       std::string_view strict_context) {
  for (const codec::Diagnostic& problem : diagnostics) {
    const std::string_view message = problem.message;
    const std::string_view strict = StrictPart(message);
    if (strict == kRepeated && IsYaml()) continue;
    if (strict.empty()) {
      AddFatal(problem.where, fmt::format("{}{}", context, problem.ToString()));
      continue;
    }
    // ", did you mean …?" helps people, but upstream does not print it.
    const std::string_view hint = options_.file_name.empty() ? std::string_view() : message.substr(strict.size());
    strict_.emplace_back(problem.where,
                         fmt::format("{}{} {}{}", strict_context, strict, api::Quote(problem.path), hint));
  }
}

void DecodeErrors::AddUnknownField(codec::Mark where, std::string_view path) {
  strict_.emplace_back(where, fmt::format("unknown field {}", api::Quote(path)));
}

void DecodeErrors::AddRepeatedKeys(const codec::Value& value) {
  if (!IsYaml()) return;
  for (const codec::Member& member : value.members()) {
    if (member.repeated) {
      repeated_.emplace_back(member.key_mark, fmt::format("key {} already set in map", api::Quote(member.key)));
    }
    AddRepeatedKeys(member.value);
  }
  for (const codec::Value& item : value.items()) AddRepeatedKeys(item);
}

Error DecodeErrors::ToError() const {
  std::vector<std::string> lines = fatal_;
  if (!options_.file_name.empty()) {
    for (const auto* problems : {&repeated_, &strict_}) {
      for (const auto& [where, text] : *problems) lines.push_back(Line(where, "strict decoding error: " + text));
    }
  } else if (lines.empty()) {
    std::vector<std::string> texts;
    if (!repeated_.empty()) {
      texts.emplace_back("yaml: unmarshal errors:");
      for (const auto& [where, text] : repeated_) texts.back() += fmt::format("\n  line {}: {}", where.line, text);
    }
    for (const auto& [where, text] : strict_) texts.push_back(text);
    lines.push_back(fmt::format("strict decoding error: {}", fmt::join(texts, ", ")));
  }
  return Error::InvalidArgument(fmt::format("{}", fmt::join(lines, "\n")));
}

bool DecodeErrors::IsYaml() const {
  const size_t first = options_.text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || options_.text[first] != '{';
}

std::string DecodeErrors::Line(codec::Mark where, const std::string& text) const {
  return options_.file_name.empty() ? text : fmt::format("{}: {}", codec::Where(options_.file_name, where), text);
}

}  // namespace berth::config
