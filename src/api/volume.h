// Volumes as a pod names them. Only what scheduling compares is kept of each source.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/resource_list.h"
#include "api/selector.h"

namespace berth::api {

struct VolumeResourceRequirements {
  ResourceList requests;
  ResourceList limits;
};

struct TypedObjectReference {
  std::string api_group;
  std::string kind;
  std::string name;
  Symbol namespace_;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  std::optional<LabelSelector> selector;
  VolumeResourceRequirements resources;
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<TypedObjectReference> data_source;
  std::optional<TypedObjectReference> data_source_ref;
  std::optional<std::string> volume_attributes_class_name;
};

struct PersistentVolumeClaimTemplate {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;
};
struct EphemeralVolumeSource {
  std::optional<PersistentVolumeClaimTemplate> volume_claim_template;
};
struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  std::string fs_type;
  int32_t partition = 0;
  bool read_only = false;
};
struct AWSElasticBlockStoreVolumeSource {
  std::string volume_id;  // JSON volumeID
  std::string fs_type;
  int32_t partition = 0;
  bool read_only = false;
};
struct AzureDiskVolumeSource {
  std::string disk_name;
  std::string disk_uri;  // JSON diskURI
  std::optional<std::string> caching_mode;
  std::optional<std::string> fs_type;
  std::optional<bool> read_only;
  std::optional<std::string> kind;
};
struct AzureFileVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;
};
struct CinderVolumeSource {
  std::string volume_id;  // JSON volumeID
  std::string fs_type;
  bool read_only = false;
};
struct RBDVolumeSource {
  std::vector<std::string> ceph_monitors;  // JSON monitors
  std::string rbd_image;                   // JSON image
  std::string fs_type;
  std::string rbd_pool;    // JSON pool
  std::string rados_user;  // JSON user
  std::string keyring;
  bool read_only = false;
};
struct ISCSIVolumeSource {
  std::string target_portal;
  std::string iqn;
  int32_t lun = 0;
  std::string iscsi_interface;
  std::string fs_type;
  bool read_only = false;
};
struct VsphereVirtualDiskVolumeSource {
  std::string volume_path;
  std::string fs_type;
};
struct PortworxVolumeSource {
  std::string volume_id;  // JSON volumeID
  std::string fs_type;
  bool read_only = false;
};
struct CSIVolumeSource {
  std::string driver;
  std::optional<bool> read_only;
  std::optional<std::string> fs_type;
  base::FlatMap<std::string, std::string> volume_attributes;
};
struct ImageVolumeSource {
  std::string reference;
  std::string pull_policy;
};
struct HostPathVolumeSource {
  std::string path;
};
struct NFSVolumeSource {
  std::string server;
  std::string path;
  bool read_only = false;
};

// Exactly one source is set in a valid object. Sources that scheduling never compares (configMap, secret, emptyDir,
// projected, …) are skipped while decoding.
struct VolumeSource {
  std::optional<HostPathVolumeSource> host_path;
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<NFSVolumeSource> nfs;
  std::optional<ISCSIVolumeSource> iscsi;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<RBDVolumeSource> rbd;
  std::optional<CinderVolumeSource> cinder;
  std::optional<AzureFileVolumeSource> azure_file;
  std::optional<VsphereVirtualDiskVolumeSource> vsphere_volume;
  std::optional<AzureDiskVolumeSource> azure_disk;
  std::optional<PortworxVolumeSource> portworx_volume;
  std::optional<CSIVolumeSource> csi;
  std::optional<EphemeralVolumeSource> ephemeral;
  std::optional<ImageVolumeSource> image;
};

struct Volume {
  std::string name;
  // Most volumes are config maps and secrets: those have no source here and cost one null pointer.
  std::shared_ptr<const VolumeSource> source;

  // An empty source when none is kept, so that callers need no null checks.
  const VolumeSource& from() const;
};

const codec::Message& Describe(const VolumeResourceRequirements*);
const codec::Message& Describe(const TypedObjectReference*);
const codec::Message& Describe(const PersistentVolumeClaimSpec*);
const codec::Message& Describe(const PersistentVolumeClaimTemplate*);
const codec::Message& Describe(const PersistentVolumeClaimVolumeSource*);
const codec::Message& Describe(const EphemeralVolumeSource*);
const codec::Message& Describe(const GCEPersistentDiskVolumeSource*);
const codec::Message& Describe(const AWSElasticBlockStoreVolumeSource*);
const codec::Message& Describe(const AzureDiskVolumeSource*);
const codec::Message& Describe(const AzureFileVolumeSource*);
const codec::Message& Describe(const CinderVolumeSource*);
const codec::Message& Describe(const RBDVolumeSource*);
const codec::Message& Describe(const ISCSIVolumeSource*);
const codec::Message& Describe(const VsphereVirtualDiskVolumeSource*);
const codec::Message& Describe(const PortworxVolumeSource*);
const codec::Message& Describe(const CSIVolumeSource*);
const codec::Message& Describe(const ImageVolumeSource*);
const codec::Message& Describe(const HostPathVolumeSource*);
const codec::Message& Describe(const NFSVolumeSource*);
const codec::Message& Describe(const VolumeSource*);
const codec::Message& Describe(const Volume*);

}  // namespace berth::api
