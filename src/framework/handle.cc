#include "framework/handle.h"

#include "api/kind.h"

namespace berth::framework {

api::ObjectReference ReferenceTo(const PodInfo& pod) { return api::ReferenceTo(api::Kind::kPod, pod.pod().metadata); }

}  // namespace berth::framework
