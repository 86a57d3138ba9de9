// Mistakes in a pod that the API server would have refused, as far as they decide where the pod goes.
#pragma once

#include "api/pod.h"
#include "input/field_checks.h"

namespace berth::input {

void CheckPod(const api::Pod& pod, FieldChecks& checks);

}  // namespace berth::input
