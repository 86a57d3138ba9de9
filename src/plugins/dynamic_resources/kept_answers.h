// KeptAnswers: what nodes can give to pods of one signature, kept until their devices change.
//
// All claims of such pods are alike and have no devices yet, so an answer is a function of the node and the devices
// that it sees. Nodes that see the same pools share one search. Scheduling thread only.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace berth::plugins {

struct DeviceAnswer {
  // As FilterRange gives it.
  enum Verdict : uint8_t { kFits = 0, kCannotAllocate = 1, kInvalidPools = 2 };
  uint8_t verdict = kFits;
  int64_t score = 0;
  friend bool operator==(const DeviceAnswer&, const DeviceAnswer&) = default;
};

struct KeptAnswers {
  struct OfNode {
    DeviceAnswer answer;
    uint64_t version = 0;  // of all devices when it was given; 0: never
    uint64_t set = 0;      // NodePools::set when it was given
    size_t pools = 0;      // of that set: which of `pools`
  };
  struct OfPools {
    DeviceAnswer answer;
    uint64_t version = 0;  // of the pools when it was given
    uint64_t checked = 0;  // of all devices when it was last found to be current
  };

  uint64_t classes_version = 0;
  uint64_t version = 0;  // of all devices when every node was last looked at
  std::vector<OfNode> nodes;
  std::vector<OfPools> pools;
  std::unordered_map<uint64_t, size_t> places;  // by NodePools::set: which of `pools`
};

}  // namespace berth::plugins
