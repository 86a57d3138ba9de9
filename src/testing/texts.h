// Parses the strings used in tests into values. A string that does not parse fails a CHECK.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/labels.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "api/time.h"
#include "base/symbol.h"

namespace berth::testing {

using LabelPairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

api::Quantity Amount(std::string_view text);  // "500m", "2Gi"
api::Time At(std::string_view text);          // "2026-01-02T03:04:05Z"
api::Labels LabelsOf(LabelPairs pairs);
// matchLabels
api::LabelSelector SelectorOf(LabelPairs pairs);
// One expression: In, NotIn, Exists, DoesNotExist.
api::LabelSelector SelectorOf(std::string_view key, std::string_view op, std::vector<std::string> values = {});
std::vector<Symbol> SymbolsOf(const std::vector<std::string>& texts);

}  // namespace berth::testing
