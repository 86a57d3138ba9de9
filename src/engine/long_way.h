// Why a pod was evaluated from scratch instead of from what a lane keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::engine {

enum class LongWay : uint8_t {
  kNone,         // it was not
  kUnsigned,     // a plugin cannot say what it reads of the pod
  kUndeclared,   // a filter or score takes part that does not say what its answers depend on
  kNarrowed,     // PreFilter names the nodes to look at
  kRejected,     // PreFilter turns the pod down, or breaks
  kUnfollowed,   // a plugin cannot follow the devices or volumes its answers rest on
  kUnspoken,     // a plugin cannot answer for all nodes, or classes of nodes, at once
  kTrouble,      // a plugin broke, or words its rejections node by node
  kWideWeights,  // totals do not fit into what a lane keeps
  kAsked,        // an extender has a say, or everything about every node is wanted
};
inline constexpr size_t kLongWayCount = static_cast<size_t>(LongWay::kAsked) + 1;

// In a few words, as for a table.
std::string_view NameOf(LongWay way);

}  // namespace berth::engine
