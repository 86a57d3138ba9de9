#include "api/storage.h"

namespace berth::api {

ObjectReference ReferenceTo(Kind kind, const ObjectMeta& metadata) {
  const KindInfo& info = InfoOf(kind);
  ObjectReference reference;
  reference.kind = info.name;
  reference.api_version = info.api_version();
  reference.namespace_ = metadata.namespace_;
  reference.name = metadata.name;
  reference.uid = metadata.uid;
  reference.resource_version = metadata.resource_version;
  return reference;
}

}  // namespace berth::api
