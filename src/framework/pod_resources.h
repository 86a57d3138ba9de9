// What a pod asks for: containers, init containers, sidecars, pod-level resources, overhead and in-place resize added
// up.
#pragma once

#include "api/pod.h"
#include "api/resource_list.h"
#include "config/feature_gates.h"

namespace berth::framework {

struct PodRequestOptions {
  // Amounts assumed for a container that names no request of its own; empty for none.
  api::ResourceList missing_container_requests;
  // Take into account what the kubelet reports as allocated and actuated (a pod being resized).
  bool use_status_resources = false;
  bool skip_pod_level_resources = false;
  bool in_place_pod_level_resize = false;
  // Add what the devices of the pod's claims take of the node's allocatable resources.
  bool use_node_allocatable_claims = false;
};

// A sidecar: an init container that keeps running beside the containers.
bool IsRestartableInit(const api::Container& container);

// Sums are exact; convert the result once, with Resource::From.
api::ResourceList PodRequests(const api::Pod& pod, const PodRequestOptions& options);

// The most the pod may use, added up like requests; a resource for which some container has no limit counts the limits
// of the others. For display only: scheduling never looks at limits.
api::ResourceList PodLimits(const api::Pod& pod);

// cpu, memory or hugepages-* in spec.resources.requests.
bool HasPodLevelRequests(const api::Pod& pod);
bool IsSupportedPodLevelResource(std::string_view name);

// Options as the feature gates of v1.36 set them, for pods that occupy a node.
PodRequestOptions RunningPodOptions(const config::FeatureGates& gates);

inline constexpr int64_t kDefaultMilliCpuRequest = 100;
inline constexpr int64_t kDefaultMemoryRequest = 200 * 1024 * 1024;

}  // namespace berth::framework
