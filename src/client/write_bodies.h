// The bytes of what berth writes to the API. Objects here are subsets and are never written back whole: what is written
// is small, complete in itself, and names only the fields it is about.
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

// v1 Binding of a pod to a node. The UID makes it a precondition: another pod of the same name is not bound.
std::string BindingJson(const api::Pod& pod, std::string_view node);
std::string BindingProtobuf(const api::Pod& pod, std::string_view node);

// v1 DeleteOptions with the UID as precondition.
std::string DeleteJson(std::string_view uid);

// What is to change in a pod's status.
struct PodStatusChange {
  std::optional<api::PodCondition> condition{};      // replaces the one of its type
  std::optional<std::string> nominated_node_name{};  // "" clears it
};

// The strategic merge patch (conditions merge by type) that makes `pod`'s status so, with nothing that is so already;
// empty when there is nothing left. `now` is when a condition that changes its status does so.
std::string PodStatusPatch(const api::Pod& pod, const PodStatusChange& change, base::Time now);

// The patches of VolumeBinding: they name the resourceVersion they were decided on, so that any change in between is a
// conflict. Each says exactly the annotations to set.
std::string ClaimRefPatch(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                          const api::Annotations& annotations);
// The same without touching the spec, for claims (and to take annotations off, with an empty value).
std::string AnnotationsPatch(std::string_view resource_version, const api::Annotations& annotations);

// Patches of resource claims. The first three name UID and resourceVersion of the claim they were decided on, so that
// any change in between is a conflict; they are JSON merge patches.
std::string ClaimFinalizersPatch(const api::ResourceClaim& claim);
// Allocation and reservations as the claim has them.
std::string ClaimStatusPatch(const api::ResourceClaim& claim);
std::string ClaimDeallocationPatch(const api::ResourceClaim& claim);
// Takes one pod off the reservations, whatever else has changed: a strategic merge patch.
std::string ClaimUnreservePatch(const api::ResourceClaim& claim, std::string_view pod_uid);
// Strategic merge patches of a pod's status.
std::string ExtendedResourceClaimPatch(const api::PodExtendedResourceClaimStatus& status);
std::string NodeAllocatableResourceClaimsPatch(const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses);

// How often an event has happened by now.
std::string SeriesPatch(const api::EventSeries& series);

}  // namespace berth::client
