// Which pod fits where, implemented again as simply as possible: the parts of scheduling that the storm's pods and
// nodes use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"

namespace berth::storm {

struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t pods = 0;

  Amounts& operator+=(const Amounts& other);
  bool FitsInto(const Amounts& room) const {
    return milli_cpu <= room.milli_cpu && memory <= room.memory && pods <= room.pods;
  }
  std::string ToString() const;
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

Amounts RequestsOf(const api::Pod& pod);
Amounts AllocatableOf(const api::Node& node);
// Regardless of resources: selector, cordon and taints.
bool MayRunOn(const api::Pod& pod, const api::Node& node);
// Whether it fits beside the pods that are present.
bool Fits(const api::Pod& pod, const api::Node& node, const std::vector<const api::Pod*>& present);

}  // namespace berth::storm
