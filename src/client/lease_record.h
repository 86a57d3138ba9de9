// The contents of a lease, in a form that can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/coordination.h"

namespace berth::client {

struct LeaseRecord {
  std::string holder;
  int32_t duration_seconds = 0;
  int32_t transitions = 0;
  std::optional<api::MicroTime> acquired{};
  std::optional<api::MicroTime> renewed{};
  // For leases that the server coordinates.
  std::string strategy{};
  std::string preferred{};

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

inline LeaseRecord RecordOf(const api::LeaseSpec& spec) {
  return {.holder = spec.holder_identity.value_or(""),
          .duration_seconds = spec.lease_duration_seconds.value_or(0),
          .transitions = spec.lease_transitions.value_or(0),
          .acquired = spec.acquire_time,
          .renewed = spec.renew_time,
          .strategy = spec.strategy.value_or(""),
          .preferred = spec.preferred_holder.value_or("")};
}

inline api::LeaseSpec SpecOf(const LeaseRecord& record) {
  api::LeaseSpec spec;
  spec.holder_identity = record.holder;
  spec.lease_duration_seconds = record.duration_seconds;
  spec.lease_transitions = record.transitions;
  spec.acquire_time = record.acquired;
  spec.renew_time = record.renewed;
  if (!record.strategy.empty()) spec.strategy = record.strategy;
  if (!record.preferred.empty()) spec.preferred_holder = record.preferred;
  return spec;
}

}  // namespace berth::client
