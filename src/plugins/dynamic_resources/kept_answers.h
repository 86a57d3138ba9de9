// KeptAnswers: what nodes can give to pods of one signature, kept until their devices change.
//
// All claims of such pods are alike and have no devices yet, so an answer is a function of the node and the devices
// that it sees. Nodes that see the same devices of use to the claims share one search. Scheduling thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "api/node.h"
#include "dra/allocator.h"

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
    uint64_t version = 0;                   // of all devices when it was given; 0: never
    uint64_t set = 0;                       // NodePools::set when it was given
    std::shared_ptr<const api::Node> node;  // likewise
    size_t group = 0;                       // which of `groups` it was in
  };
  struct OfGroup {
    DeviceAnswer answer;
    uint64_t version = 0;  // of all devices when it was given
  };

  uint64_t classes_version = 0;
  uint64_t pools_version = 0;  // of all slices when every node was last looked at
  uint64_t version = 0;        // of all devices, likewise
  std::vector<OfNode> nodes;
  std::vector<OfGroup> groups;              // of nodes with equal answers
  std::map<dra::AnswerKey, size_t> places;  // which of `groups`
};

}  // namespace berth::plugins
