// The bodies that berth writes to the API. Decoded objects are subsets and are never written back as a whole: each body
// is small, self-contained, and names only the fields that it changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/coordination.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "base/clock.h"

namespace berth::client {

// v1 Binding of a pod to a node. The UID is a precondition: another pod of the same name is not bound.
std::string BindingJson(const api::Pod& pod, std::string_view node);
std::string BindingProtobuf(const api::Pod& pod, std::string_view node);

// v1 DeleteOptions with the UID as precondition.
std::string DeleteJson(std::string_view uid);

// Changes to a pod's status.
struct PodStatusChange {
  std::optional<api::PodCondition> condition{};      // replaces the one of its type
  std::optional<std::string> nominated_node_name{};  // "" clears it
};

// The strategic merge patch (conditions merge by type) that makes these changes to `pod`'s status, without those that
// it has already; empty if nothing is left. It applies to this UID and resourceVersion only: a patch that arrives late
// must not overwrite a newer one. `now` becomes the transition time of a condition whose status changes.
std::string PodStatusPatch(const api::Pod& pod, const PodStatusChange& change, base::Time now);

// The patches of VolumeBinding: they contain the resourceVersion they were decided on, so that any change in between is
// a conflict. Each contains exactly the annotations to set.
std::string ClaimRefPatch(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                          const api::Annotations& annotations);
// The same without changing the spec, for claims (and to remove annotations, with an empty value).
std::string AnnotationsPatch(std::string_view resource_version, const api::Annotations& annotations);

// Patches of resource claims. The first three contain the UID and resourceVersion of the claim they were decided on, so
// that any change in between is a conflict; they are JSON merge patches.
std::string ClaimFinalizersPatch(const api::ResourceClaim& claim);
// Sets the allocation and reservations to the claim's.
std::string ClaimStatusPatch(const api::ResourceClaim& claim);
std::string ClaimDeallocationPatch(const api::ResourceClaim& claim);
// Removes one pod from the reservations, whatever else has changed: a strategic merge patch.
std::string ClaimUnreservePatch(const api::ResourceClaim& claim, std::string_view pod_uid);
// Strategic merge patches of a pod's status.
std::string ExtendedResourceClaimPatch(std::string_view pod_uid, const api::PodExtendedResourceClaimStatus& status);
std::string NodeAllocatableResourceClaimsPatch(std::string_view pod_uid,
                                               const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses);

// How often an event has occurred so far.
std::string SeriesPatch(const api::EventSeries& series);

}  // namespace berth::client
