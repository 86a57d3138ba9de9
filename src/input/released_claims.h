// What happens to the resource claims of pods that are removed.
#pragma once

#include <memory>
#include <vector>

#include "api/pod.h"
#include "input/cluster_draft.h"

namespace berth::input {

// As the control plane does it: claims made for one of the pods are deleted with it; in other claims the pods'
// reservations end, and with the last one the claim's devices are freed.
void ReleaseClaims(const std::vector<std::shared_ptr<const api::Pod>>& leaving, ClusterDraft& draft);

}  // namespace berth::input
