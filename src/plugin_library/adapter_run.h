// How Adapter calls into a library, at every extension point. For adapter*.cc only.
#pragma once

#include <fmt/format.h>

#include "plugin_library/adapter.h"

namespace berth::plugin_library {

// Codes as bits.
inline constexpr uint32_t kRejections = 1u << BERTH_UNSCHEDULABLE | 1u << BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
inline constexpr uint32_t kWait = 1u << BERTH_WAIT;
inline constexpr uint32_t kSkip = 1u << BERTH_SKIP;
inline constexpr uint32_t kPending = 1u << BERTH_PENDING;

static_assert(BERTH_ERROR == static_cast<int>(framework::Code::kError));
static_assert(BERTH_UNSCHEDULABLE == static_cast<int>(framework::Code::kUnschedulable));
static_assert(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE == static_cast<int>(framework::Code::kUnschedulableAndUnresolvable));
static_assert(BERTH_WAIT == static_cast<int>(framework::Code::kWait));
static_assert(BERTH_SKIP == static_cast<int>(framework::Code::kSkip));
static_assert(BERTH_PENDING == static_cast<int>(framework::Code::kPending));

template <class Call>
framework::Status Adapter::Run(std::string_view point, uint32_t allowed, CallFrame& frame, Call&& call) const {
  berth_code code = BERTH_SUCCESS;
  try {
    code = call();
  } catch (const std::exception& thrown) {
    return Trouble(point, fmt::format("threw an exception: {}", thrown.what()));
  } catch (...) {
    return Trouble(point, "threw an exception that is no std::exception");
  }
  if (code == BERTH_SUCCESS) return framework::Status::Success();
  if (code == BERTH_ERROR) return Trouble(point, "failed: " + (frame.said.empty() ? "no reason given" : frame.said));
  if (code < 0 || code > BERTH_PENDING) return Trouble(point, fmt::format("returned {}, which is no code", code));
  const auto as_code = static_cast<framework::Code>(code);
  if ((allowed >> code & 1) == 0) {
    return Trouble(point, fmt::format("returned {}, which it may not", framework::NameOf(as_code)));
  }
  if (code == BERTH_SKIP || code == BERTH_WAIT) return framework::Status(as_code, {});
  return framework::Status(as_code, {frame.said.empty() ? "rejected by plugin " + std::string(name()) : frame.said});
}

}  // namespace berth::plugin_library
