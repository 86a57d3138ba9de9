#include "framework/handle.h"

#include "api/kind.h"

namespace berth::framework {

api::ObjectReference ReferenceTo(const PodInfo& pod) {
  const api::KindInfo& info = api::InfoOf(api::Kind::kPod);
  const api::ObjectMeta& metadata = pod.pod().metadata;
  api::ObjectReference reference;
  reference.kind = info.name;
  reference.api_version = info.api_version();
  reference.namespace_ = metadata.namespace_;
  reference.name = metadata.name;
  reference.uid = metadata.uid;
  reference.resource_version = metadata.resource_version;
  return reference;
}

}  // namespace berth::framework
