// For tests: a cluster from one text.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "input/input.h"

namespace berth::input {

inline Result<ClusterInput> TryRead(std::string text) {
  return ReadClusterTexts({{"input.yaml", std::move(text)}}, {}, 1);
}

}  // namespace berth::input
