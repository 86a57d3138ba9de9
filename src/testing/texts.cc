#include "testing/texts.h"

#include "base/check.h"

namespace berth::testing {

api::Quantity Amount(std::string_view text) {
  const Result<api::Quantity> quantity = api::Quantity::Parse(text);
  CHECK_WHY(quantity.ok(), ("not a quantity: " + std::string(text)).c_str());
  return *quantity;
}

api::Time At(std::string_view text) {
  const Result<api::Time> time = api::ParseTime(text);
  CHECK_WHY(time.ok(), ("not a time: " + std::string(text)).c_str());
  return *time;
}

api::Labels LabelsOf(LabelPairs pairs) {
  api::Labels labels;
  for (const auto& [key, value] : pairs) labels.Set(Symbol(key), Symbol(value));
  return labels;
}

api::LabelSelector SelectorOf(LabelPairs pairs) { return {LabelsOf(pairs), {}}; }

api::LabelSelector SelectorOf(std::string_view key, std::string_view op, std::vector<std::string> values) {
  return {{}, {{Symbol(key), std::string(op), SymbolsOf(values)}}};
}

std::vector<Symbol> SymbolsOf(const std::vector<std::string>& texts) {
  std::vector<Symbol> symbols;
  symbols.reserve(texts.size());
  for (const std::string& text : texts) symbols.emplace_back(text);
  return symbols;
}

}  // namespace berth::testing
