// Why a pod was evaluated from scratch instead of from a lane's kept answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::engine {

enum class LongWay : uint8_t {
  kNone,         // it was not
  kUnsigned,     // a plugin cannot sign what it reads of the pod
  kUndeclared,   // a participating filter or score does not declare what its answers depend on
  kNarrowed,     // PreFilter names the nodes to consider
  kRejected,     // PreFilter rejects the pod, or fails
  kUnfollowed,   // a plugin cannot follow the devices or volumes its answers depend on
  kUnspoken,     // a plugin cannot answer for all nodes, or classes of nodes, at once
  kTrouble,      // a plugin failed, or words its rejections differently for every node
  kWideWeights,  // totals exceed the range that a lane keeps
  kAsked,        // an extender takes part, or a complete evaluation of every node was requested
};
inline constexpr size_t kLongWayCount = static_cast<size_t>(LongWay::kAsked) + 1;

// In a few words, for tables.
std::string_view NameOf(LongWay way);

}  // namespace berth::engine
