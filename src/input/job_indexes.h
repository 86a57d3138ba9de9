// How many pods a Job still needs, and which of its indexes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/workload.h"

namespace berth::input {

struct JobNeeds {
  size_t wanted = 0;   // pods that should be running now
  size_t missing = 0;  // of those
  bool indexed = false;
  std::vector<int32_t> indexes;  // for an Indexed Job: those of the missing pods
};

// `pods` are all pods of the Job, including those that ended. Needs none for a Job that is complete, failed or
// suspended.
JobNeeds NeedsOf(const api::Job& job, std::span<const api::Pod* const> pods);

// The labels and the index that a Job's pods carry.
void AddJobLabels(const api::Job& job, api::Pod& pod);
void AddJobIndex(int32_t index, api::Pod& pod);

}  // namespace berth::input
