#include "cluster/apply.h"

#include <utility>

namespace berth::cluster {

namespace {

void ApplyPod(Cluster& cluster, std::shared_ptr<const api::Pod> pod) {
  if (!pod->spec.node_name.empty() || api::IsTerminated(*pod)) {
    cluster.UpsertPod(std::move(pod));
    return;
  }
  const std::string nominated = pod->status.nominated_node_name;
  if (!nominated.empty()) cluster.nominator().Nominate(cluster.MakePodInfo(std::move(pod)), nominated);
}

}  // namespace

void Apply(Cluster& cluster, const api::Object& object) {
  framework::Objects& objects = cluster.objects();
  switch (object.kind()) {
    case api::Kind::kNode:
      return cluster.UpsertNode(object.Share<api::Node>());
    case api::Kind::kPod:
      return ApplyPod(cluster, object.Share<api::Pod>());
    case api::Kind::kNamespace:
      objects.namespaces.Upsert(object.Share<api::Namespace>());
      return;
    case api::Kind::kPersistentVolume:
      objects.persistent_volumes.Upsert(object.Share<api::PersistentVolume>());
      return;
    case api::Kind::kPersistentVolumeClaim:
      objects.persistent_volume_claims.Upsert(object.Share<api::PersistentVolumeClaim>());
      return;
    case api::Kind::kStorageClass:
      objects.storage_classes.Upsert(object.Share<api::StorageClass>());
      return;
    case api::Kind::kCSINode:
      objects.csi_nodes.Upsert(object.Share<api::CSINode>());
      return;
    case api::Kind::kCSIDriver:
      objects.csi_drivers.Upsert(object.Share<api::CSIDriver>());
      return;
    case api::Kind::kCSIStorageCapacity:
      objects.csi_storage_capacities.Upsert(object.Share<api::CSIStorageCapacity>());
      return;
    case api::Kind::kVolumeAttachment:
      objects.volume_attachments.Upsert(object.Share<api::VolumeAttachment>());
      return;
    case api::Kind::kService:
      objects.services.Upsert(object.Share<api::Service>());
      return;
    case api::Kind::kReplicationController:
      objects.replication_controllers.Upsert(object.Share<api::ReplicationController>());
      return;
    case api::Kind::kReplicaSet:
      objects.replica_sets.Upsert(object.Share<api::ReplicaSet>());
      return;
    case api::Kind::kStatefulSet:
      objects.stateful_sets.Upsert(object.Share<api::StatefulSet>());
      return;
    case api::Kind::kPodDisruptionBudget:
      objects.pod_disruption_budgets.Upsert(object.Share<api::PodDisruptionBudget>());
      return;
    case api::Kind::kPriorityClass:
      objects.priority_classes.Upsert(object.Share<api::PriorityClass>());
      return;
    case api::Kind::kResourceClaim:
      objects.resource_claims.Upsert(object.Share<api::ResourceClaim>());
      return;
    case api::Kind::kResourceSlice:
      objects.resource_slices.Upsert(object.Share<api::ResourceSlice>());
      return;
    case api::Kind::kDeviceClass:
      objects.device_classes.Upsert(object.Share<api::DeviceClass>());
      return;
    case api::Kind::kDeployment:
    case api::Kind::kDaemonSet:
    case api::Kind::kJob:
    case api::Kind::kLease:
    case api::Kind::kEvent:
      return;
  }
}

}  // namespace berth::cluster
