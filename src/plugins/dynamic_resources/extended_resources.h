// Extended resources that device classes serve: what a pod's containers ask for, as requests of one claim.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/symbol.h"
#include "dra/class_names.h"
#include "framework/pod_info.h"

namespace berth::plugins {

// Of the claim while it exists in memory only; no claim of the API can be called that.
inline constexpr std::string_view kExtendedClaimName = "<extended-resources>";

struct ExtendedRequests {
  std::vector<api::DeviceRequest> requests;  // by name
  std::vector<api::ContainerExtendedResourceRequest> mappings;
};

// Requests for these resources, which classes serve. Containers that run side by side ask each for themselves. One that
// ends before they start uses their devices first; of what such containers lack, only the most is asked for.
ExtendedRequests MakeExtendedRequests(const api::Pod& pod, const std::vector<Symbol>& resources,
                                      const dra::ClassNames& classes);

// Whether the pod asks for a resource that a class serves.
bool AsksForServedResource(const framework::PodInfo& pod, const dra::ClassNames& classes);

}  // namespace berth::plugins
