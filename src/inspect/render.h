// Views as JSON (docs/schemas/live) and as text for people. Everything that comes from the cluster is escaped: JSON by
// its writer, text so that no control character reaches a terminal.
#pragma once

#include <chrono>
#include <string>

#include "inspect/views.h"

namespace berth::inspect {

// How many nodes of an explanation to write: the best first, then those that lack the least.
inline constexpr size_t kDefaultNodes = 100;

std::string ToJson(const QueueView& view);
std::string ToJson(const DecisionsView& view);
std::string ToJson(const NodesView& view);
std::string ToJson(const PodView& view, size_t max_nodes = kDefaultNodes);

// One server-sent event, whose id is the sequence; the browser reconnects after `pause`.
std::string ToEvent(const EventsView& view, std::chrono::milliseconds pause);

std::string ToText(const QueueView& view);
std::string ToText(const DecisionsView& view);
std::string ToText(const NodesView& view);
std::string ToText(const PodView& view);

// The explanation with its first nodes only, in the order of kDefaultNodes.
explain::Explanation Trimmed(const explain::Explanation& told, size_t max_nodes);

}  // namespace berth::inspect
