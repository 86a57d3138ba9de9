#include "input/field_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/label_syntax.h"
#include "base/printable.h"
#include "input/resource_names.h"

namespace berth::input {

std::string FieldProblem::ToString() const { return what.starts_with(path) ? what : fmt::format("{}: {}", path, what); }

void FieldChecks::Required(const std::string& path, bool present) {
  if (!present) Add(path, "missing: it is required");
}

void FieldChecks::OneOf(const std::string& path, std::string_view value,
                        std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  Add(path, fmt::format("expected {}, found \"{}\"", fmt::join(allowed, " or "), base::Clipped(value)));
}

void FieldChecks::NotNegative(const std::string& path, const api::ResourceList& amounts) {
  for (const auto& [name, quantity] : amounts) {
    if (quantity.Sign() >= 0) continue;
    Add(fmt::format("{}[{}]", path, name.str()), "must not be negative, found " + quantity.ToString());
  }
}

void FieldChecks::ContainerResources(const std::string& path, const api::ResourceList& amounts) {
  for (const auto& [name, quantity] : amounts) {
    const std::string wrong = ContainerResourceProblem(name.str());
    if (!wrong.empty()) Add(fmt::format("{}[{}]", path, base::Clipped(name.str())), wrong);
  }
  Amounts(path, amounts);
}

void FieldChecks::NodeResources(const std::string& path, const api::ResourceList& amounts) {
  for (const auto& [name, quantity] : amounts) {
    const std::string wrong = NodeResourceProblem(name.str());
    if (!wrong.empty()) Add(fmt::format("{}[{}]", path, base::Clipped(name.str())), wrong);
  }
  Amounts(path, amounts);
}

void FieldChecks::Storage(const std::string& path, const api::ResourceList& amounts) {
  for (const auto& [name, quantity] : amounts) {
    if (name.str() == "storage") continue;
    Add(fmt::format("{}[{}]", path, base::Clipped(name.str())),
        fmt::format("expected storage, found \"{}\"", base::Clipped(name.str())));
  }
  Amounts(path, amounts);
}

void FieldChecks::Amounts(const std::string& path, const api::ResourceList& amounts) {
  NotNegative(path, amounts);
  for (const auto& [name, quantity] : amounts) {
    const std::string wrong = AmountProblem(name.str(), quantity);
    if (!wrong.empty()) Add(fmt::format("{}[{}]", path, base::Clipped(name.str())), wrong);
  }
}

void FieldChecks::DnsName(const std::string& path, std::string_view name) {
  if (name.empty()) return;
  for (const std::string& wrong : api::DnsSubdomainProblems(name)) {
    Add(path, fmt::format("bad name \"{}\": {}", base::Clipped(name), wrong));
  }
}

void FieldChecks::DnsLabel(const std::string& path, std::string_view name) {
  if (name.empty()) return;
  for (const std::string& wrong : api::DnsLabelProblems(name)) {
    Add(path, fmt::format("bad name \"{}\": {}", base::Clipped(name), wrong));
  }
}

void FieldChecks::LabelKey(const std::string& path, std::string_view key) {
  if (key.empty()) return;
  for (const std::string& wrong : api::LabelKeyProblems(key)) {
    Add(path, fmt::format("bad name \"{}\": {}", base::Clipped(key), wrong));
  }
}

void FieldChecks::LabelValue(const std::string& path, std::string_view value) {
  for (const std::string& wrong : api::LabelValueProblems(value)) {
    Add(path, fmt::format("bad value \"{}\": {}", base::Clipped(value), wrong));
  }
}

void FieldChecks::LabelMap(const std::string& path, const api::Labels& labels) {
  for (const auto& [key, value] : labels) {
    const std::vector<std::string> bad_key = api::LabelKeyProblems(key.str());
    const std::vector<std::string> bad_value = api::LabelValueProblems(value.str());
    if (bad_key.empty() && bad_value.empty()) continue;
    const std::string at = fmt::format("{}[{}]", path, base::Clipped(key.str()));
    for (const std::string& wrong : bad_key) Add(at, "bad key: " + wrong);
    for (const std::string& wrong : bad_value)
      Add(at, fmt::format("bad value \"{}\": {}", base::Clipped(value.str()), wrong));
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
