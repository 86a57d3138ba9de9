#include "framework/label_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace berth::framework {

std::string ConditionText(const api::Requirement& requirement) {
  using Operator = api::Requirement::Operator;
  std::vector<std::string_view> values;
  for (const Symbol& value : requirement.values()) values.push_back(value.str());
  const std::string_view key = requirement.key().str();
  switch (requirement.op()) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      if (values.size() == 1) return fmt::format("{}={}", key, values.front());
      return fmt::format("{} in ({})", key, fmt::join(values, ", "));
    case Operator::kNotIn:
    case Operator::kNotEquals:
      if (values.size() == 1) return fmt::format("{}!={}", key, values.front());
      return fmt::format("{} not in ({})", key, fmt::join(values, ", "));
    case Operator::kExists:
      return fmt::format("a label {}", key);
    case Operator::kDoesNotExist:
      return fmt::format("no label {}", key);
    case Operator::kGreaterThan:
      return fmt::format("{} > {}", key, fmt::join(values, ""));
    case Operator::kLessThan:
      return fmt::format("{} < {}", key, fmt::join(values, ""));
  }
  return requirement.ToString();
}

std::string LabelText(const NodeInfo& node, const Symbol& key) {
  const Symbol* value = node.labels().Find(key);
  return value ? fmt::format("the node has {}={}", key.str(), value->str())
               : fmt::format("the node has no label {}", key.str());
}

std::string LabelValue(const NodeInfo& node, const Symbol& key) {
  const Symbol* value = node.labels().Find(key);
  return value ? std::string(value->str()) : std::string();
}

}  // namespace berth::framework
