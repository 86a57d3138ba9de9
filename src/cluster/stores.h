// Uniform access to the stores of all kinds that plugins read besides nodes and pods.
#pragma once

#include "api/kind.h"
#include "framework/objects.h"

namespace berth::cluster {

// Calls `visit` with the store of that kind: [&]<class T>(framework::ObjectStore<T>& store) { … }. False when there is
// none: nodes and pods are stored elsewhere, and other kinds are not read.
template <class Visit>
bool VisitStore(framework::Objects& objects, api::Kind kind, Visit&& visit) {
  switch (kind) {
    case api::Kind::kNamespace:
      return visit(objects.namespaces), true;
    case api::Kind::kPersistentVolume:
      return visit(objects.persistent_volumes), true;
    case api::Kind::kPersistentVolumeClaim:
      return visit(objects.persistent_volume_claims), true;
    case api::Kind::kStorageClass:
      return visit(objects.storage_classes), true;
    case api::Kind::kCSINode:
      return visit(objects.csi_nodes), true;
    case api::Kind::kCSIDriver:
      return visit(objects.csi_drivers), true;
    case api::Kind::kCSIStorageCapacity:
      return visit(objects.csi_storage_capacities), true;
    case api::Kind::kVolumeAttachment:
      return visit(objects.volume_attachments), true;
    case api::Kind::kService:
      return visit(objects.services), true;
    case api::Kind::kReplicationController:
      return visit(objects.replication_controllers), true;
    case api::Kind::kReplicaSet:
      return visit(objects.replica_sets), true;
    case api::Kind::kStatefulSet:
      return visit(objects.stateful_sets), true;
    case api::Kind::kPodDisruptionBudget:
      return visit(objects.pod_disruption_budgets), true;
    case api::Kind::kPriorityClass:
      return visit(objects.priority_classes), true;
    case api::Kind::kResourceClaim:
      return visit(objects.resource_claims), true;
    case api::Kind::kResourceSlice:
      return visit(objects.resource_slices), true;
    case api::Kind::kDeviceClass:
      return visit(objects.device_classes), true;
    case api::Kind::kDeviceTaintRule:
      return visit(objects.device_taint_rules), true;
    case api::Kind::kResourceClaimTemplate:
    case api::Kind::kNode:
    case api::Kind::kPod:
    case api::Kind::kDeployment:
    case api::Kind::kDaemonSet:
    case api::Kind::kJob:
    case api::Kind::kLimitRange:
    case api::Kind::kResourceQuota:
    case api::Kind::kRuntimeClass:
    case api::Kind::kLease:
    case api::Kind::kEvent:
    case api::Kind::kCustomObject:
      return false;
  }
  return false;
}

}  // namespace berth::cluster
