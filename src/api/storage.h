// Persistent volumes and claims, storage classes, and what CSI drivers report about nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kind.h"
#include "api/meta.h"
#include "api/node_selector.h"
#include "api/resource_list.h"
#include "api/selector.h"
#include "api/volume.h"

namespace berth::api {

struct ObjectReference {
  std::string kind;
  Symbol namespace_;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;
};

ObjectReference ReferenceTo(Kind kind, const ObjectMeta& metadata);

struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;
};

struct LocalVolumeSource {
  std::string path;
};

struct CSIPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;
  bool read_only = false;
  base::FlatMap<std::string, std::string> volume_attributes;
};

struct PersistentVolumeSource {
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<HostPathVolumeSource> host_path;
  std::optional<NFSVolumeSource> nfs;
  std::optional<RBDVolumeSource> rbd;
  std::optional<ISCSIVolumeSource> iscsi;
  std::optional<CinderVolumeSource> cinder;
  std::optional<AzureFileVolumeSource> azure_file;
  std::optional<VsphereVirtualDiskVolumeSource> vsphere_volume;
  std::optional<AzureDiskVolumeSource> azure_disk;
  std::optional<PortworxVolumeSource> portworx_volume;
  std::optional<LocalVolumeSource> local;
  std::optional<CSIPersistentVolumeSource> csi;
};

struct PersistentVolumeSpec {
  ResourceList capacity;
  PersistentVolumeSource source;  // inlined in JSON
  std::vector<std::string> access_modes;
  std::optional<ObjectReference> claim_ref;
  std::string persistent_volume_reclaim_policy;
  std::string storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<VolumeNodeAffinity> node_affinity;
  std::optional<std::string> volume_attributes_class_name;
};

struct PersistentVolumeStatus {
  std::string phase;
};

struct PersistentVolume {
  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;
};

struct PersistentVolumeClaimStatus {
  std::string phase;
  ResourceList capacity;
};

struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;
};

struct TopologySelectorLabelRequirement {
  Symbol key;
  std::vector<Symbol> values;
};

struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;
};

struct StorageClass {
  ObjectMeta metadata;
  std::string provisioner;
  base::FlatMap<std::string, std::string> parameters;
  std::optional<std::string> reclaim_policy;
  std::optional<std::string> volume_binding_mode;
  std::vector<TopologySelectorTerm> allowed_topologies;
};

struct VolumeNodeResources {
  std::optional<int32_t> count;
};

struct CSINodeDriver {
  std::string name;
  std::string node_id;  // JSON nodeID
  std::vector<std::string> topology_keys;
  std::optional<VolumeNodeResources> allocatable;
};

struct CSINodeSpec {
  std::vector<CSINodeDriver> drivers;
};

struct CSINode {
  ObjectMeta metadata;
  CSINodeSpec spec;
};

struct CSIDriverSpec {
  std::optional<bool> attach_required;
  std::optional<bool> storage_capacity;
  std::vector<std::string> volume_lifecycle_modes;
  // Prevents scheduling a pod with such a volume onto a node without the driver (see NodeVolumeLimits).
  std::optional<bool> prevent_pod_scheduling_if_missing;
};

struct CSIDriver {
  ObjectMeta metadata;
  CSIDriverSpec spec;
};

struct CSIStorageCapacity {
  ObjectMeta metadata;
  std::optional<LabelSelector> node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;
};

struct VolumeAttachmentSource {
  std::optional<std::string> persistent_volume_name;
  std::optional<PersistentVolumeSpec> inline_volume_spec;
};

struct VolumeAttachmentSpec {
  std::string attacher;
  VolumeAttachmentSource source;
  std::string node_name;
};

struct VolumeAttachmentStatus {
  bool attached = false;
};

struct VolumeAttachment {
  ObjectMeta metadata;
  VolumeAttachmentSpec spec;
  VolumeAttachmentStatus status;
};

const codec::Message& Describe(const ObjectReference*);
const codec::Message& Describe(const VolumeNodeAffinity*);
const codec::Message& Describe(const LocalVolumeSource*);
const codec::Message& Describe(const CSIPersistentVolumeSource*);
const codec::Message& Describe(const PersistentVolumeSource*);
const codec::Message& Describe(const PersistentVolumeSpec*);
const codec::Message& Describe(const PersistentVolumeStatus*);
const codec::Message& Describe(const PersistentVolume*);
const codec::Message& Describe(const PersistentVolumeClaimStatus*);
const codec::Message& Describe(const PersistentVolumeClaim*);
const codec::Message& Describe(const TopologySelectorLabelRequirement*);
const codec::Message& Describe(const TopologySelectorTerm*);
const codec::Message& Describe(const StorageClass*);
const codec::Message& Describe(const VolumeNodeResources*);
const codec::Message& Describe(const CSINodeDriver*);
const codec::Message& Describe(const CSINodeSpec*);
const codec::Message& Describe(const CSINode*);
const codec::Message& Describe(const CSIDriverSpec*);
const codec::Message& Describe(const CSIDriver*);
const codec::Message& Describe(const CSIStorageCapacity*);
const codec::Message& Describe(const VolumeAttachmentSource*);
const codec::Message& Describe(const VolumeAttachmentSpec*);
const codec::Message& Describe(const VolumeAttachmentStatus*);
const codec::Message& Describe(const VolumeAttachment*);

}  // namespace berth::api
