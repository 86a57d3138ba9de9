#include "api/scalars.h"
#include "api/selector_schema.h"
#include "api/volume.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const VolumeResourceRequirements*) {
  static const codec::Message message = codec::MessageOf<VolumeResourceRequirements>("VolumeResourceRequirements", {
      codec::Field("limits", 1, &VolumeResourceRequirements::limits),
      codec::Field("requests", 2, &VolumeResourceRequirements::requests),
  });
  return message;
}

const codec::Message& Describe(const TypedObjectReference*) {
  static const codec::Message message = codec::MessageOf<TypedObjectReference>("TypedObjectReference", {
      codec::Field("apiGroup", 1, &TypedObjectReference::api_group),
      codec::Field("kind", 2, &TypedObjectReference::kind),
      codec::Field("name", 3, &TypedObjectReference::name),
      codec::Field("namespace", 4, &TypedObjectReference::namespace_),
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeClaimSpec*) {
  static const codec::Message message = codec::MessageOf<PersistentVolumeClaimSpec>("PersistentVolumeClaimSpec", {
      codec::Field("accessModes", 1, &PersistentVolumeClaimSpec::access_modes),
      codec::Field("selector", 4, &PersistentVolumeClaimSpec::selector),
      codec::Field("resources", 2, &PersistentVolumeClaimSpec::resources),
      codec::Field("volumeName", 3, &PersistentVolumeClaimSpec::volume_name),
      codec::Field("storageClassName", 5, &PersistentVolumeClaimSpec::storage_class_name),
      codec::Field("volumeMode", 6, &PersistentVolumeClaimSpec::volume_mode),
      codec::Field("dataSource", 7, &PersistentVolumeClaimSpec::data_source),
      codec::Field("dataSourceRef", 8, &PersistentVolumeClaimSpec::data_source_ref),
      codec::Field("volumeAttributesClassName", 9, &PersistentVolumeClaimSpec::volume_attributes_class_name),
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeClaimTemplate*) {
  static const codec::Message message =
      codec::MessageOf<PersistentVolumeClaimTemplate>("PersistentVolumeClaimTemplate", {
      codec::Field("metadata", 1, &PersistentVolumeClaimTemplate::metadata),
      codec::Field("spec", 2, &PersistentVolumeClaimTemplate::spec),
  });
  return message;
}

const codec::Message& Describe(const PersistentVolumeClaimVolumeSource*) {
  static const codec::Message message =
      codec::MessageOf<PersistentVolumeClaimVolumeSource>("PersistentVolumeClaimVolumeSource", {
      codec::Field("claimName", 1, &PersistentVolumeClaimVolumeSource::claim_name),
      codec::Field("readOnly", 2, &PersistentVolumeClaimVolumeSource::read_only),
  });
  return message;
}

const codec::Message& Describe(const EphemeralVolumeSource*) {
  static const codec::Message message = codec::MessageOf<EphemeralVolumeSource>("EphemeralVolumeSource", {
      codec::Field("volumeClaimTemplate", 1, &EphemeralVolumeSource::volume_claim_template),
  });
  return message;
}

const codec::Message& Describe(const GCEPersistentDiskVolumeSource*) {
  static const codec::Message message =
      codec::MessageOf<GCEPersistentDiskVolumeSource>("GCEPersistentDiskVolumeSource", {
      codec::Field("pdName", 1, &GCEPersistentDiskVolumeSource::pd_name),
      codec::Field("fsType", 2, &GCEPersistentDiskVolumeSource::fs_type),
      codec::Field("partition", 3, &GCEPersistentDiskVolumeSource::partition),
      codec::Field("readOnly", 4, &GCEPersistentDiskVolumeSource::read_only),
  });
  return message;
}

const codec::Message& Describe(const AWSElasticBlockStoreVolumeSource*) {
  static const codec::Message message =
      codec::MessageOf<AWSElasticBlockStoreVolumeSource>("AWSElasticBlockStoreVolumeSource", {
      codec::Field("volumeID", 1, &AWSElasticBlockStoreVolumeSource::volume_id),
      codec::Field("fsType", 2, &AWSElasticBlockStoreVolumeSource::fs_type),
      codec::Field("partition", 3, &AWSElasticBlockStoreVolumeSource::partition),
      codec::Field("readOnly", 4, &AWSElasticBlockStoreVolumeSource::read_only),
  });
  return message;
}

const codec::Message& Describe(const AzureDiskVolumeSource*) {
  static const codec::Message message = codec::MessageOf<AzureDiskVolumeSource>("AzureDiskVolumeSource", {
      codec::Field("diskName", 1, &AzureDiskVolumeSource::disk_name),
      codec::Field("diskURI", 2, &AzureDiskVolumeSource::disk_uri),
      codec::Field("cachingMode", 3, &AzureDiskVolumeSource::caching_mode),
      codec::Field("fsType", 4, &AzureDiskVolumeSource::fs_type),
      codec::Field("readOnly", 5, &AzureDiskVolumeSource::read_only),
      codec::Field("kind", 6, &AzureDiskVolumeSource::kind),
  });
  return message;
}

const codec::Message& Describe(const AzureFileVolumeSource*) {
  static const codec::Message message = codec::MessageOf<AzureFileVolumeSource>("AzureFileVolumeSource", {
      codec::Field("secretName", 1, &AzureFileVolumeSource::secret_name),
      codec::Field("shareName", 2, &AzureFileVolumeSource::share_name),
      codec::Field("readOnly", 3, &AzureFileVolumeSource::read_only),
  }).Ignore({"secretNamespace"});
  return message;
}

const codec::Message& Describe(const CinderVolumeSource*) {
  static const codec::Message message = codec::MessageOf<CinderVolumeSource>("CinderVolumeSource", {
      codec::Field("volumeID", 1, &CinderVolumeSource::volume_id),
      codec::Field("fsType", 2, &CinderVolumeSource::fs_type),
      codec::Field("readOnly", 3, &CinderVolumeSource::read_only),
  }).Ignore({"secretRef"});
  return message;
}

const codec::Message& Describe(const RBDVolumeSource*) {
  static const codec::Message message = codec::MessageOf<RBDVolumeSource>("RBDVolumeSource", {
      codec::Field("monitors", 1, &RBDVolumeSource::ceph_monitors),
      codec::Field("image", 2, &RBDVolumeSource::rbd_image),
      codec::Field("fsType", 3, &RBDVolumeSource::fs_type),
      codec::Field("pool", 4, &RBDVolumeSource::rbd_pool),
      codec::Field("user", 5, &RBDVolumeSource::rados_user),
      codec::Field("keyring", 6, &RBDVolumeSource::keyring),
      codec::Field("readOnly", 8, &RBDVolumeSource::read_only),
  }).Ignore({"secretRef"});
  return message;
}

const codec::Message& Describe(const ISCSIVolumeSource*) {
  static const codec::Message message = codec::MessageOf<ISCSIVolumeSource>("ISCSIVolumeSource", {
      codec::Field("targetPortal", 1, &ISCSIVolumeSource::target_portal),
      codec::Field("iqn", 2, &ISCSIVolumeSource::iqn),
      codec::Field("lun", 3, &ISCSIVolumeSource::lun),
      codec::Field("iscsiInterface", 4, &ISCSIVolumeSource::iscsi_interface),
      codec::Field("fsType", 5, &ISCSIVolumeSource::fs_type),
      codec::Field("readOnly", 6, &ISCSIVolumeSource::read_only),
  }).Ignore({"portals", "chapAuthDiscovery", "chapAuthSession", "secretRef", "initiatorName"});
  return message;
}

const codec::Message& Describe(const VsphereVirtualDiskVolumeSource*) {
  static const codec::Message message =
      codec::MessageOf<VsphereVirtualDiskVolumeSource>("VsphereVirtualDiskVolumeSource", {
      codec::Field("volumePath", 1, &VsphereVirtualDiskVolumeSource::volume_path),
      codec::Field("fsType", 2, &VsphereVirtualDiskVolumeSource::fs_type),
  }).Ignore({"storagePolicyName", "storagePolicyID"});
  return message;
}

const codec::Message& Describe(const PortworxVolumeSource*) {
  static const codec::Message message = codec::MessageOf<PortworxVolumeSource>("PortworxVolumeSource", {
      codec::Field("volumeID", 1, &PortworxVolumeSource::volume_id),
      codec::Field("fsType", 2, &PortworxVolumeSource::fs_type),
      codec::Field("readOnly", 3, &PortworxVolumeSource::read_only),
  });
  return message;
}

const codec::Message& Describe(const CSIVolumeSource*) {
  static const codec::Message message = codec::MessageOf<CSIVolumeSource>("CSIVolumeSource", {
      codec::Field("driver", 1, &CSIVolumeSource::driver),
      codec::Field("readOnly", 2, &CSIVolumeSource::read_only),
      codec::Field("fsType", 3, &CSIVolumeSource::fs_type),
      codec::Field("volumeAttributes", 4, &CSIVolumeSource::volume_attributes),
  }).Ignore({"nodePublishSecretRef"});
  return message;
}

const codec::Message& Describe(const ImageVolumeSource*) {
  static const codec::Message message = codec::MessageOf<ImageVolumeSource>("ImageVolumeSource", {
      codec::Field("reference", 1, &ImageVolumeSource::reference),
      codec::Field("pullPolicy", 2, &ImageVolumeSource::pull_policy),
  });
  return message;
}

const codec::Message& Describe(const HostPathVolumeSource*) {
  static const codec::Message message = codec::MessageOf<HostPathVolumeSource>("HostPathVolumeSource", {
      codec::Field("path", 1, &HostPathVolumeSource::path),
  }).Ignore({"type"});
  return message;
}

const codec::Message& Describe(const NFSVolumeSource*) {
  static const codec::Message message = codec::MessageOf<NFSVolumeSource>("NFSVolumeSource", {
      codec::Field("server", 1, &NFSVolumeSource::server),
      codec::Field("path", 2, &NFSVolumeSource::path),
      codec::Field("readOnly", 3, &NFSVolumeSource::read_only),
  });
  return message;
}

const codec::Message& Describe(const VolumeSource*) {
  static const codec::Message message = codec::MessageOf<VolumeSource>("VolumeSource", {
      codec::Field("hostPath", 1, &VolumeSource::host_path),
      codec::Field("gcePersistentDisk", 3, &VolumeSource::gce_persistent_disk),
      codec::Field("awsElasticBlockStore", 4, &VolumeSource::aws_elastic_block_store),
      codec::Field("nfs", 7, &VolumeSource::nfs),
      codec::Field("iscsi", 8, &VolumeSource::iscsi),
      codec::Field("persistentVolumeClaim", 10, &VolumeSource::persistent_volume_claim),
      codec::Field("rbd", 11, &VolumeSource::rbd),
      codec::Field("cinder", 13, &VolumeSource::cinder),
      codec::Field("azureFile", 18, &VolumeSource::azure_file),
      codec::Field("vsphereVolume", 20, &VolumeSource::vsphere_volume),
      codec::Field("azureDisk", 22, &VolumeSource::azure_disk),
      codec::Field("portworxVolume", 24, &VolumeSource::portworx_volume),
      codec::Field("csi", 28, &VolumeSource::csi),
      codec::Field("ephemeral", 29, &VolumeSource::ephemeral),
      codec::Field("image", 30, &VolumeSource::image),
  }).Ignore({
      "emptyDir", "gitRepo", "secret", "glusterfs", "flexVolume", "cephfs", "flocker", "downwardAPI", "fc",
      "configMap", "quobyte", "photonPersistentDisk", "projected", "scaleIO", "storageos",
  });
  return message;
}

const codec::Message& Describe(const Volume*) {
  static const codec::Message message = codec::MessageOf<Volume>("Volume", {
      codec::Field("name", 1, &Volume::name),
      codec::Inline("volumeSource", 2, &Volume::source),
  });
  return message;
}

// clang-format on

}  // namespace berth::api
