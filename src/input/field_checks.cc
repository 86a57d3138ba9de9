#include "input/field_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/label_syntax.h"

namespace berth::input {

std::string FieldProblem::ToString() const { return what.starts_with(path) ? what : fmt::format("{}: {}", path, what); }

void FieldChecks::Required(const std::string& path, bool present) {
  if (!present) Add(path, "missing: it is required");
}

void FieldChecks::OneOf(const std::string& path, std::string_view value,
                        std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  Add(path, fmt::format("expected {}, found \"{}\"", fmt::join(allowed, " or "), value));
}

void FieldChecks::NotNegative(const std::string& path, const api::ResourceList& amounts) {
  for (const auto& [name, quantity] : amounts) {
    if (quantity.Sign() >= 0) continue;
    Add(fmt::format("{}[{}]", path, name.str()), "must not be negative, found " + quantity.ToString());
  }
}

void FieldChecks::LabelMap(const std::string& path, const api::Labels& labels) {
  for (const auto& [key, value] : labels) {
    const std::string at = fmt::format("{}[{}]", path, key.str());
    for (const std::string& wrong : api::LabelKeyProblems(key.str())) Add(at, "bad key: " + wrong);
    for (const std::string& wrong : api::LabelValueProblems(value.str()))
      Add(at, fmt::format("bad value \"{}\": {}", value.str(), wrong));
  }
}

void FieldChecks::Selector(const std::string& path, const std::optional<api::LabelSelector>& selector) {
  if (!selector) return;
  const Result<api::Selector> compiled = api::Selector::Compile(*selector);
  if (!compiled) Add(path, compiled.error().message);
}

void FieldChecks::NodeSelector(const std::string& path, const std::optional<api::NodeSelector>& selector) {
  if (!selector) return;
  Required(path + ".nodeSelectorTerms", !selector->node_selector_terms.empty());
  const auto compiled = api::CompiledNodeSelector::Compile(*selector, path);
  if (!compiled) Add(path, compiled.error().message);
}

}  // namespace berth::input
