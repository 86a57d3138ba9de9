// What becomes of the resource claims of pods that leave.
#pragma once

#include <memory>
#include <vector>

#include "api/pod.h"
#include "input/cluster_draft.h"

namespace berth::input {

// As the control plane does it: claims that were made for one of the pods go with it; of other claims the pods'
// reservations end, and with the last one the claim's devices are free.
void ReleaseClaims(const std::vector<std::shared_ptr<const api::Pod>>& leaving, ClusterDraft& draft);

}  // namespace berth::input
