// An object that is given again by a later input, laid over the earlier one as `kubectl apply` would have it: what a
// person wrote counts, and what the control plane wrote (status, identity, what was bound to what) stays.
#pragma once

#include "input/cluster_draft.h"

namespace berth::input {

// Both have the same kind, namespace and name. What a server printed is taken as it is.
DraftObject LaidOver(const DraftObject& earlier, DraftObject later);

}  // namespace berth::input
