#include "framework/amount_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "api/quantity.h"

namespace berth::framework {
namespace {

bool IsBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

}  // namespace

std::string AmountText(std::string_view resource, int64_t amount) {
  // Without trailing zeros.
  const auto decimal = [](double value, int digits) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
  };
  if (resource == "cpu") return decimal(static_cast<double>(amount) / 1000, 3);
  if (!IsBytes(resource)) return std::to_string(amount);
  constexpr std::array<std::string_view, 7> kSuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  double value = static_cast<double>(amount);
  size_t suffix = 0;
  // Compares the value as it will be printed: 1Gi reads better than 1023.999Mi.
  while (std::abs(value) >= 1023.995 && suffix + 1 < kSuffixes.size()) {
    value /= 1024;
    ++suffix;
  }
  return decimal(value, 2) + std::string(kSuffixes[suffix]);
}

std::string QuantityText(std::string_view resource, int64_t amount) {
  if (resource == "cpu") return api::Quantity::FromMilli(amount).ToString();
  using Format = api::Quantity::Format;
  return api::Quantity::FromInt(amount, IsBytes(resource) ? Format::kBinarySI : Format::kDecimalSI).ToString();
}

}  // namespace berth::framework
