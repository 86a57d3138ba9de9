// The kinds that a scheduler reads.
#pragma once

#include "api/kind.h"

namespace berth::client {

// What plugins read.
inline constexpr api::Kind kSchedulingKinds[] = {
    api::Kind::kNode,
    api::Kind::kPod,
    api::Kind::kNamespace,
    api::Kind::kPersistentVolume,
    api::Kind::kPersistentVolumeClaim,
    api::Kind::kService,
    api::Kind::kReplicationController,
    api::Kind::kReplicaSet,
    api::Kind::kStatefulSet,
    api::Kind::kPodDisruptionBudget,
    api::Kind::kStorageClass,
    api::Kind::kCSINode,
    api::Kind::kCSIDriver,
    api::Kind::kCSIStorageCapacity,
    api::Kind::kVolumeAttachment,
    api::Kind::kResourceClaim,
    api::Kind::kResourceSlice,
    api::Kind::kDeviceClass,
};
// Every API server has the kinds of the core group. A server that answers 404 for one of them is not an API server (but
// a load balancer during a rollout, say), and believing it would mean scheduling onto nodes whose pods are unknown.
inline bool IsAlwaysServed(api::Kind kind) { return api::InfoOf(kind).api_version() == "v1"; }

// The kinds of which a large cluster has tens of thousands (ReflectorOptions::whole_list).
inline bool HasManyObjects(api::Kind kind) { return kind == api::Kind::kPod || kind == api::Kind::kNode; }

// Pods that have terminated occupy nothing: the server need not send them.
inline constexpr const char* kLivePods = "status.phase!=Succeeded,status.phase!=Failed";

}  // namespace berth::client
