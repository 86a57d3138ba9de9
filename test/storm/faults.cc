#include "storm/faults.h"

namespace berth::storm {
namespace {

constexpr std::array<std::string_view, kFaultCount> kNames = {
    "request_lost",
    "answer_lost",
    "delay",
    "slow_bind",
    "torn_frame",
    "broken_stream",
    "silent_stream",
    "duplicate_event",
    "late_events",
    "stale_list",
    "version_too_large",
    "expired",
    "too_many_requests",
    "server_error",
    "server_error_after",
    "not_found_once",
    "admission",
    "slow_patch",
    "extender",
    "slow_turn",
    "slow_claim",
    "slow_lease",
    "lease_stalls",
    "late_effect",
    "refused_node",
    "extender_preempts",
    "slow_report",
    "pauses_renewing",
    "in_doubt",
    "preemption_changes",
    "recreated",
    "slow_volume",
    "proxy_answers",
    "bound_elsewhere",
    "returns_while_bound",
    "fails_with_claim",
    "crashes_while_binding",
};
constexpr uint64_t kChances = 10'000;

}  // namespace

std::string_view NameOf(Fault fault) { return kNames[static_cast<size_t>(fault)]; }

std::optional<Fault> FindFault(std::string_view name) {
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (kNames[i] == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

Faults::Faults(const Rates& rates, uint64_t seed) : rates_(rates) {
  randoms_.reserve(kFaultCount);
  for (size_t i = 0; i < kFaultCount; ++i) randoms_.emplace_back(seed * 1000 + i);
}

bool Faults::Strikes(Fault fault) {
  const size_t index = Index(fault);
  if (!on_ || rates_[index] == 0 || randoms_[index].Below(kChances) >= rates_[index]) return false;
  ++strikes_[index];
  if (on_strike_) on_strike_(fault);
  return true;
}

}  // namespace berth::storm
