// Ticket: which attempt to schedule a pod something belongs to. A UID says which pod, but the same UID may leave and
// come back while an older attempt is still under way; so lookups go by UID, and the ticket decides.
#pragma once

#include <cstdint>

namespace berth::base {

// Given out by the queue's Pop, never twice.
enum class Ticket : uint64_t { kNone = 0 };

}  // namespace berth::base
