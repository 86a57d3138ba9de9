#include "api/taint.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace berth::api {
namespace {

// Canonical decimal only: no plus sign, no leading zeros, no "-0". A value like 0700 might have been meant as octal.
std::optional<int64_t> ReadCanonicalInteger(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || (digits[0] == '0' && text.size() > 1)) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool ComparisonHolds(const Toleration& toleration, const Taint& taint) {
  const std::optional<int64_t> bound = ReadCanonicalInteger(toleration.value.str());
  const std::optional<int64_t> value = ReadCanonicalInteger(taint.value.str());
  if (!bound || !value) return false;
  return toleration.op == TolerationGt() ? *value > *bound : *value < *bound;
}

}  // namespace

// Constants live as long as the process: they may be read while other statics are being destroyed.
#define BERTH_SYMBOL(name, text)                     \
  const Symbol& name() {                             \
    static const Symbol& symbol = *new Symbol(text); \
    return symbol;                                   \
  }
BERTH_SYMBOL(NoSchedule, "NoSchedule")
BERTH_SYMBOL(PreferNoSchedule, "PreferNoSchedule")
BERTH_SYMBOL(NoExecute, "NoExecute")
BERTH_SYMBOL(TolerationEqual, "Equal")
BERTH_SYMBOL(TolerationExists, "Exists")
BERTH_SYMBOL(TolerationGt, "Gt")
BERTH_SYMBOL(TolerationLt, "Lt")
#undef BERTH_SYMBOL

std::string Taint::ToString() const {
  std::string text(key.str());
  if (!value.empty()) text.append("=").append(value.str());
  if (!value.empty() || !effect.empty()) text += ':';
  return text.append(effect.str());
}

bool Tolerates(const Toleration& toleration, const Taint& taint, bool enable_comparison_operators) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == TolerationEqual()) return toleration.value == taint.value;
  if (toleration.op == TolerationExists()) return true;
  if (!enable_comparison_operators) return false;
  if (toleration.op != TolerationGt() && toleration.op != TolerationLt()) return false;
  return ComparisonHolds(toleration, taint);
}

bool AnyTolerates(std::span<const Toleration> tolerations, const Taint& taint, bool enable_comparison_operators) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    return Tolerates(toleration, taint, enable_comparison_operators);
  });
}

bool ForbidsScheduling(const Taint& taint) { return taint.effect == NoSchedule() || taint.effect == NoExecute(); }

}  // namespace berth::api
