// Recorded device selectors: the expression, a device, and the result of kube-scheduler's CEL.
#pragma once

#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "facts.h"

namespace berth::parity {

// Whether a record is one of these rather than a scheduling problem.
bool IsCelCase(const codec::Value& recorded);
// The differences; the fields are matches, error and cost.
Result<std::vector<Difference>> RunCelCase(const codec::Value& recorded);

}  // namespace berth::parity
