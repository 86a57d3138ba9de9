#include "api/scalars.h"
#include "api/selector_schema.h"
#include "api/storage.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const ObjectReference*) {
  static const codec::Message message = codec::MessageOf<ObjectReference>("ObjectReference", {
      codec::Field("kind", 1, &ObjectReference::kind),
      codec::Field("namespace", 2, &ObjectReference::namespace_),
      codec::Field("name", 3, &ObjectReference::name),
      codec::Field("uid", 4, &ObjectReference::uid),
      codec::Field("apiVersion", 5, &ObjectReference::api_version),
      codec::Field("resourceVersion", 6, &ObjectReference::resource_version),
      codec::Field("fieldPath", 7, &ObjectReference::field_path),
  });
  return message;
}

const codec::Message& Describe(const VolumeNodeAffinity*) {
  static const codec::Message message = codec::MessageOf<VolumeNodeAffinity>("VolumeNodeAffinity", {
      codec::Field("required", 1, &VolumeNodeAffinity::required),
  });
  return message;
}

const codec::Message& Describe(const LocalVolumeSource*) {
  static const codec::Message message = codec::MessageOf<LocalVolumeSource>("LocalVolumeSource", {
      codec::Field("path", 1, &LocalVolumeSource::path),
  }).Ignore({"fsType"});
  return message;
}

const codec::Message& Describe(const CSIPersistentVolumeSource*) {
  static const codec::Message message = codec::MessageOf<CSIPersistentVolumeSource>("CSIPersistentVolumeSource", {
      codec::Field("driver", 1, &CSIPersistentVolumeSource::driver),
      codec::Field("volumeHandle", 2, &CSIPersistentVolumeSource::volume_handle),
      codec::Field("readOnly", 3, &CSIPersistentVolumeSource::read_only),
      codec::Field("volumeAttributes", 5, &CSIPersistentVolumeSource::volume_attributes),
  }).Ignore({
      "fsType", "controllerPublishSecretRef", "nodeStageSecretRef", "nodePublishSecretRef",
      "controllerExpandSecretRef", "nodeExpandSecretRef",
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeSource*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeSource>("PersistentVolumeSource", {
      codec::Field("gcePersistentDisk", 1, &PersistentVolumeSource::gce_persistent_disk),
      codec::Field("awsElasticBlockStore", 2, &PersistentVolumeSource::aws_elastic_block_store),
      codec::Field("hostPath", 3, &PersistentVolumeSource::host_path),
      codec::Field("nfs", 5, &PersistentVolumeSource::nfs),
      codec::Field("rbd", 6, &PersistentVolumeSource::rbd),
      codec::Field("iscsi", 7, &PersistentVolumeSource::iscsi),
      codec::Field("cinder", 8, &PersistentVolumeSource::cinder),
      codec::Field("azureFile", 13, &PersistentVolumeSource::azure_file),
      codec::Field("vsphereVolume", 14, &PersistentVolumeSource::vsphere_volume),
      codec::Field("azureDisk", 16, &PersistentVolumeSource::azure_disk),
      codec::Field("portworxVolume", 18, &PersistentVolumeSource::portworx_volume),
      codec::Field("local", 20, &PersistentVolumeSource::local),
      codec::Field("csi", 22, &PersistentVolumeSource::csi),
  }).Ignore({
      "glusterfs", "cephfs", "fc", "flocker", "flexVolume", "quobyte", "photonPersistentDisk", "scaleIO",
      "storageos",
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeSpec*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeSpec>("PersistentVolumeSpec", {
      codec::Field("capacity", 1, &PersistentVolumeSpec::capacity),
      codec::Inline("persistentVolumeSource", 2, &PersistentVolumeSpec::source),
      codec::Field("accessModes", 3, &PersistentVolumeSpec::access_modes),
      codec::Field("claimRef", 4, &PersistentVolumeSpec::claim_ref),
      codec::Field("persistentVolumeReclaimPolicy", 5, &PersistentVolumeSpec::persistent_volume_reclaim_policy),
      codec::Field("storageClassName", 6, &PersistentVolumeSpec::storage_class_name),
      codec::Field("volumeMode", 8, &PersistentVolumeSpec::volume_mode),
      codec::Field("nodeAffinity", 9, &PersistentVolumeSpec::node_affinity),
      codec::Field("volumeAttributesClassName", 10, &PersistentVolumeSpec::volume_attributes_class_name),
  }).Ignore({"mountOptions"});
  return message;
}

const codec::Message& Describe(const PersistentVolumeStatus*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeStatus>("PersistentVolumeStatus", {
      codec::Field("phase", 1, &PersistentVolumeStatus::phase),
  }).Ignore({"message", "reason", "lastPhaseTransitionTime"});
  return message;
}

const codec::Message& Describe(const PersistentVolume*) {
  static const codec::Message message = codec::MessageOf<PersistentVolume>("PersistentVolume", {
      codec::Field("metadata", 1, &PersistentVolume::metadata),
      codec::Field("spec", 2, &PersistentVolume::spec),
      codec::Field("status", 3, &PersistentVolume::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const PersistentVolumeClaimStatus*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeClaimStatus>("PersistentVolumeClaimStatus", {
      codec::Field("phase", 1, &PersistentVolumeClaimStatus::phase),
      codec::Field("capacity", 3, &PersistentVolumeClaimStatus::capacity),
  }).Ignore({
      "accessModes", "conditions", "allocatedResources", "allocatedResourceStatuses",
      "currentVolumeAttributesClassName", "modifyVolumeStatus",
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeClaim*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeClaim>("PersistentVolumeClaim", {
      codec::Field("metadata", 1, &PersistentVolumeClaim::metadata),
      codec::Field("spec", 2, &PersistentVolumeClaim::spec),
      codec::Field("status", 3, &PersistentVolumeClaim::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const TopologySelectorLabelRequirement*) {
  static const codec::Message message =
      codec::MessageOf<TopologySelectorLabelRequirement>("TopologySelectorLabelRequirement", {
      codec::Field("key", 1, &TopologySelectorLabelRequirement::key),
      codec::Field("values", 2, &TopologySelectorLabelRequirement::values),
  });
  return message;
}

const codec::Message& Describe(const TopologySelectorTerm*) {
  static const codec::Message message = codec::MessageOf<TopologySelectorTerm>("TopologySelectorTerm", {
      codec::Field("matchLabelExpressions", 1, &TopologySelectorTerm::match_label_expressions),
  });
  return message;
}

const codec::Message& Describe(const StorageClass*) {
  static const codec::Message message = codec::MessageOf<StorageClass>("StorageClass", {
      codec::Field("metadata", 1, &StorageClass::metadata),
      codec::Field("provisioner", 2, &StorageClass::provisioner),
      codec::Field("parameters", 3, &StorageClass::parameters),
      codec::Field("reclaimPolicy", 4, &StorageClass::reclaim_policy),
      codec::Field("volumeBindingMode", 7, &StorageClass::volume_binding_mode),
      codec::Field("allowedTopologies", 8, &StorageClass::allowed_topologies),
  }).Ignore({"apiVersion", "kind", "mountOptions", "allowVolumeExpansion"});
  return message;
}

const codec::Message& Describe(const VolumeNodeResources*) {
  static const codec::Message message = codec::MessageOf<VolumeNodeResources>("VolumeNodeResources", {
      codec::Field("count", 1, &VolumeNodeResources::count),
  });
  return message;
}

const codec::Message& Describe(const CSINodeDriver*) {
  static const codec::Message message = codec::MessageOf<CSINodeDriver>("CSINodeDriver", {
      codec::Field("name", 1, &CSINodeDriver::name),
      codec::Field("nodeID", 2, &CSINodeDriver::node_id),
      codec::Field("topologyKeys", 3, &CSINodeDriver::topology_keys),
      codec::Field("allocatable", 4, &CSINodeDriver::allocatable),
  });
  return message;
}

const codec::Message& Describe(const CSINodeSpec*) {
  static const codec::Message message = codec::MessageOf<CSINodeSpec>("CSINodeSpec", {
      codec::Field("drivers", 1, &CSINodeSpec::drivers),
  });
  return message;
}

const codec::Message& Describe(const CSINode*) {
  static const codec::Message message = codec::MessageOf<CSINode>("CSINode", {
      codec::Field("metadata", 1, &CSINode::metadata),
      codec::Field("spec", 2, &CSINode::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const CSIDriverSpec*) {
  static const codec::Message message = codec::MessageOf<CSIDriverSpec>("CSIDriverSpec", {
      codec::Field("attachRequired", 1, &CSIDriverSpec::attach_required),
      codec::Field("volumeLifecycleModes", 3, &CSIDriverSpec::volume_lifecycle_modes),
      codec::Field("storageCapacity", 4, &CSIDriverSpec::storage_capacity),
      codec::Field("preventPodSchedulingIfMissing", 11, &CSIDriverSpec::prevent_pod_scheduling_if_missing),
  }).Ignore({
      "podInfoOnMount", "fsGroupPolicy", "tokenRequests", "requiresRepublish", "seLinuxMount",
      "nodeAllocatableUpdatePeriodSeconds", "serviceAccountTokenInSecrets",
  });
  return message;
}

const codec::Message& Describe(const CSIDriver*) {
  static const codec::Message message = codec::MessageOf<CSIDriver>("CSIDriver", {
      codec::Field("metadata", 1, &CSIDriver::metadata),
      codec::Field("spec", 2, &CSIDriver::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const CSIStorageCapacity*) {
  static const codec::Message message = codec::MessageOf<CSIStorageCapacity>("CSIStorageCapacity", {
      codec::Field("metadata", 1, &CSIStorageCapacity::metadata),
      codec::Field("nodeTopology", 2, &CSIStorageCapacity::node_topology),
      codec::Field("storageClassName", 3, &CSIStorageCapacity::storage_class_name),
      codec::Field("capacity", 4, &CSIStorageCapacity::capacity),
      codec::Field("maximumVolumeSize", 5, &CSIStorageCapacity::maximum_volume_size),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const VolumeAttachmentSource*) {
  static const codec::Message message = codec::MessageOf<VolumeAttachmentSource>("VolumeAttachmentSource", {
      codec::Field("persistentVolumeName", 1, &VolumeAttachmentSource::persistent_volume_name),
      codec::Field("inlineVolumeSpec", 2, &VolumeAttachmentSource::inline_volume_spec),
  });
  return message;
}

const codec::Message& Describe(const VolumeAttachmentSpec*) {
  static const codec::Message message = codec::MessageOf<VolumeAttachmentSpec>("VolumeAttachmentSpec", {
      codec::Field("attacher", 1, &VolumeAttachmentSpec::attacher),
      codec::Field("source", 2, &VolumeAttachmentSpec::source),
      codec::Field("nodeName", 3, &VolumeAttachmentSpec::node_name),
  });
  return message;
}

const codec::Message& Describe(const VolumeAttachmentStatus*) {
  static const codec::Message message = codec::MessageOf<VolumeAttachmentStatus>("VolumeAttachmentStatus", {
      codec::Field("attached", 1, &VolumeAttachmentStatus::attached),
  }).Ignore({"attachmentMetadata", "attachError", "detachError"});
  return message;
}

const codec::Message& Describe(const VolumeAttachment*) {
  static const codec::Message message = codec::MessageOf<VolumeAttachment>("VolumeAttachment", {
      codec::Field("metadata", 1, &VolumeAttachment::metadata),
      codec::Field("spec", 2, &VolumeAttachment::spec),
      codec::Field("status", 3, &VolumeAttachment::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

// clang-format on

}  // namespace berth::api
