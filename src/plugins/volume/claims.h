// How pods name claims and claims name classes: lookups of storage objects that the volume plugins share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "api/storage.h"
#include "framework/events.h"
#include "framework/pod_info.h"

namespace berth::plugins {

// What matters of a pod that has volumes, pending or placed. Valid only during a call.
struct VolumeUser {
  const std::string& name;
  const Symbol& namespace_;
  const std::string& uid;
  const std::vector<api::Volume>& volumes;

  VolumeUser(const api::Pod& pod)  // NOLINT: implicit, a pod is one
      : name(pod.metadata.name),
        namespace_(pod.metadata.namespace_),
        uid(pod.metadata.uid),
        volumes(pod.spec.volumes) {}
  VolumeUser(const framework::PodInfo& pod)  // NOLINT: implicit, a pod is one
      : name(pod.name()), namespace_(pod.namespace_()), uid(pod.uid()), volumes(pod.volumes()) {}
};

// The claim behind a pod's volume, in the pod's namespace.
struct ClaimReference {
  std::string name;
  bool ephemeral = false;  // made for this pod by the ephemeral volume controller, so it must also be owned by the pod
};

// Unset when the volume uses no claim.
std::optional<ClaimReference> ClaimOf(const VolumeUser& pod, const api::Volume& volume);

// Why the claim is not the one made for the pod's ephemeral volume; unset when it is.
std::optional<std::string> OwnershipProblem(const VolumeUser& pod, const api::PersistentVolumeClaim& claim);

// Whether a volume of the pod names this claim. Without `ephemeral`, only volumes that name the claim explicitly count.
bool PodUsesClaim(const api::Pod& pod, const api::PersistentVolumeClaim& claim, bool ephemeral);
// The queueing hint for added or changed claims: those that a volume of the pending pod names may help it.
framework::QueueingHintFn AfterClaimChanged(bool ephemeral);

// The class by name, "" for none. The annotation that predates the field takes precedence.
std::string_view StorageClassOf(const api::PersistentVolumeClaim& claim);
std::string_view StorageClassOf(const api::PersistentVolume& volume);

// Bound, and the volume controller has finished its part.
bool IsFullyBound(const api::PersistentVolumeClaim& claim);

// Null when the object has no such annotation.
const std::string* FindAnnotation(const api::ObjectMeta& metadata, std::string_view key);

// "persistentvolumeclaim "a" not found" and similar, as the API words them.
std::string ClaimNotFound(std::string_view name);
std::string VolumeNotFound(std::string_view name);
std::string StorageClassNotFound(std::string_view name);

// Whether the volume plugins' verdicts about this pod can be shared with pods like it: only when it has neither claims
// nor in-tree disks. All others depend on objects that no signature covers.
bool VolumesAreShareable(const api::Pod& pod);

inline constexpr std::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByControllerAnnotation = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kWaitForFirstConsumer = "WaitForFirstConsumer";

}  // namespace berth::plugins
