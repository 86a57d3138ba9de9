// WaitingPod: a queued pod with its state. Line: pods in some order; a pod is in one line at most and keeps its tree
// node when it changes lines, so that moving allocates nothing and leaving compares nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "framework/plugin.h"
#include "queue/in_flight_events.h"
#include "queue/pod_backoff.h"
#include "queue/queued_pod.h"

namespace berth::queue {

struct RejectionGroup;
struct WaitingPod;

enum class PodState : uint8_t { kActive, kBackoff, kErrorBackoff, kUnschedulable, kInFlight, kBinding };

class LineOrder {
 public:
  // kActive: the QueueSort plugin's order. kBackoff: by the end of the backoff, pods of the same second as if active.
  // kErrorBackoff: by the end of the backoff. kUnschedulable: longest waiting first. Equals by arrival.
  LineOrder(PodState state, const framework::QueueSortPlugin& sort, const PodBackoff& backoff)
      : state_(state), sort_(&sort), backoff_(&backoff) {}
  bool operator()(WaitingPod* a, WaitingPod* b) const;

 private:
  bool ActiveLess(const WaitingPod& a, const WaitingPod& b) const;

  PodState state_;
  const framework::QueueSortPlugin* sort_;
  const PodBackoff* backoff_;
};

using Line = std::set<WaitingPod*, LineOrder>;

struct WaitingPod : QueuedPod {
  PodState state = PodState::kUnschedulable;
  uint32_t profile = 0;                    // index of the profile that schedules it
  uint64_t sequence = 0;                   // order of arrival; breaks ties
  base::Time flushed = base::Time::min();  // when it was last requeued for waiting too long

  Line::iterator position{};    // while in a line
  Line::node_type node{};       // while in no line; empty before the first
  RejectionGroup* rejection{};  // while unschedulable: its group, and where in it
  size_t rejection_index = 0;
  InFlightEvents::Cursor events_since = 0;  // while in flight

  // Also counts from the last flush, so that a gate that stays shut is not asked again at every flush.
  base::Time asleep_since() const { return std::max(timestamp, flushed); }
};

void EnterLine(Line& line, WaitingPod& pod);
void LeaveLine(Line& line, WaitingPod& pod);

}  // namespace berth::queue
