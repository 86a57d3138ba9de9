// Recorded searches that evaluate only some of the nodes: which nodes were found, in which order, and where the next
// search starts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "facts.h"

namespace berth::parity {

// Whether the record is an episode of this kind (it lists `nodes`).
bool IsSamplingEpisode(const codec::Value& recorded);

// The differences of each step, with the step's name.
using NamedDifferences = std::vector<std::pair<std::string, std::vector<Difference>>>;
Result<NamedDifferences> RunSamplingEpisode(const codec::Value& recorded);

}  // namespace berth::parity
