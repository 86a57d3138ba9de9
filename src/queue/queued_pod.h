// A pod in the queue, with the results of its earlier attempts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/ticket.h"
#include "framework/pod_info.h"

namespace berth::queue {

using PluginNames = std::set<std::string, std::less<>>;

struct QueuedPod {
  framework::PodInfoPtr pod;
  // When it entered its current state: decides order among equals, and when a backoff ends.
  base::Time timestamp{};
  std::optional<base::Time> first_attempt{};
  int attempts = 0;
  base::Ticket ticket = base::Ticket::kNone;  // of the attempt in progress; kNone if there is none

  // The plugins that rejected it last time. Both empty after an internal error.
  PluginNames unschedulable_plugins{};
  PluginNames pending_plugins{};
  int unschedulable_count = 0;
  int consecutive_errors = 0;
  std::optional<base::Time> backoff_ends{};  // computed on first use
  bool slept_too_long = false;               // last requeued because it was unschedulable for too long, not by an event
  std::string gating_plugin{};               // the PreEnqueue plugin that holds it back; empty when none does

  bool gated() const { return !gating_plugin.empty(); }
};

}  // namespace berth::queue
