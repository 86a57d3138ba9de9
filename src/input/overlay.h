// An object that a later input gives again, laid over the earlier one as `kubectl apply` would: what a person wrote
// takes precedence, and what the control plane wrote (status, identity, bindings) stays.
#pragma once

#include "input/cluster_draft.h"

namespace berth::input {

// Both have the same kind, namespace and name. An object that a server printed is taken as it is.
DraftObject LaidOver(const DraftObject& earlier, DraftObject later);

}  // namespace berth::input
