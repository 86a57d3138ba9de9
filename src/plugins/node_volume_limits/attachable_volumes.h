// The volumes of a pod that a CSI driver must attach, named so that equal volumes compare equal.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>

#include "api/pod.h"
#include "api/storage.h"
#include "framework/objects.h"
#include "framework/status.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {

struct AttachableVolume {
  std::string driver;
  std::string handle;
  // Not provisioned yet: `handle` is then the claim's namespace/name, which is no handle of any driver.
  bool unprovisioned = false;

  friend auto operator<=>(const AttachableVolume&, const AttachableVolume&) = default;
};
using AttachableVolumes = std::set<AttachableVolume>;

// Whether the pod has claims or in-tree disks, which a driver may have to attach.
bool MayAttachVolumes(const api::Pod& pod);

enum class PodRole {
  kIncoming,  // cannot run without its claims: a missing one is a rejection
  kRunning,   // a claim that no longer exists is not counted
};

// Adds the pod's volumes. In-tree disks count for the driver they were migrated to, where the node has a CSINode.
framework::Status CollectAttachable(const framework::Objects& objects, const VolumeUser& pod, PodRole role,
                                    bool node_has_csi, AttachableVolumes& volumes);

// What a VolumeAttachment holds on its node; unset when it does not refer to a CSI volume.
std::optional<AttachableVolume> AttachedBy(const framework::Objects& objects, const api::VolumeAttachment& attachment);

}  // namespace berth::plugins
