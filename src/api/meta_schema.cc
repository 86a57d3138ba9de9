#include "api/meta.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "codec/schema.h"

namespace berth::api {
namespace {

// kubectl's copy of the whole object as last applied: as large as the object and of no use here.
bool IsNoise(std::string_view annotation) { return annotation == "kubectl.kubernetes.io/last-applied-configuration"; }

}  // namespace

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const OwnerReference*) {
  static const codec::Message message = codec::MessageOf<OwnerReference>("OwnerReference", {
      codec::Field("apiVersion", 5, &OwnerReference::api_version),
      codec::Field("kind", 1, &OwnerReference::kind),
      codec::Field("name", 3, &OwnerReference::name),
      codec::Field("uid", 4, &OwnerReference::uid),
      codec::Field("controller", 6, &OwnerReference::controller),
  }).Ignore({"blockOwnerDeletion"});
  return message;
}

const codec::Message& Describe(const ObjectMeta*) {
  static const codec::Message message = codec::MessageOf<ObjectMeta>("ObjectMeta", {
      codec::Field("name", 1, &ObjectMeta::name),
      codec::Field("generateName", 2, &ObjectMeta::generate_name),
      codec::Field("namespace", 3, &ObjectMeta::namespace_),
      codec::Field("uid", 5, &ObjectMeta::uid),
      codec::Field("resourceVersion", 6, &ObjectMeta::resource_version),
      codec::Field("generation", 7, &ObjectMeta::generation),
      codec::Field("creationTimestamp", 8, &ObjectMeta::creation_timestamp),
      codec::Field("deletionTimestamp", 9, &ObjectMeta::deletion_timestamp),
      codec::Field("deletionGracePeriodSeconds", 10, &ObjectMeta::deletion_grace_period_seconds),
      codec::Field("labels", 11, &ObjectMeta::labels),
      codec::Field("annotations", 12, &ObjectMeta::annotations).DropKeys(&IsNoise),
      codec::Field("ownerReferences", 13, &ObjectMeta::owner_references),
      codec::Field("finalizers", 14, &ObjectMeta::finalizers),
  }).Ignore({"selfLink", "managedFields", "clusterName"});
  return message;
}

// clang-format on

}  // namespace berth::api
