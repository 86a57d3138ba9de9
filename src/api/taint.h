// Taints keep pods off nodes; tolerations let them stay.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/time.h"
#include "base/symbol.h"

namespace berth::api {

struct Taint {
  Symbol key;
  Symbol value;
  Symbol effect;
  std::optional<Time> time_added;

  // key=value:effect, without the parts that are empty.
  std::string ToString() const;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  Symbol key;  // empty: any key
  Symbol op;   // JSON "operator"; empty: Equal
  Symbol value;
  Symbol effect;  // empty: any effect
  std::optional<int64_t> toleration_seconds;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// Taint effects.
const Symbol& NoSchedule();
const Symbol& PreferNoSchedule();
const Symbol& NoExecute();

// Toleration operators.
const Symbol& TolerationEqual();
const Symbol& TolerationExists();
const Symbol& TolerationGt();
const Symbol& TolerationLt();

// Gt and Lt compare the taint's value with the toleration's ("taint value > toleration value") when both are integers
// in plain decimal; otherwise, or with `enable_comparison_operators` off, they tolerate nothing.
bool Tolerates(const Toleration& toleration, const Taint& taint, bool enable_comparison_operators);
bool AnyTolerates(std::span<const Toleration> tolerations, const Taint& taint, bool enable_comparison_operators);

// The first taint that `counts` and that no toleration covers; null when there is none.
template <class Predicate>
const Taint* FindUntolerated(std::span<const Taint> taints, std::span<const Toleration> tolerations, Predicate&& counts,
                             bool enable_comparison_operators) {
  for (const Taint& taint : taints) {
    if (counts(taint) && !AnyTolerates(tolerations, taint, enable_comparison_operators)) return &taint;
  }
  return nullptr;
}

// The effects that keep a new pod off a node: NoSchedule and NoExecute.
bool ForbidsScheduling(const Taint& taint);

}  // namespace berth::api
