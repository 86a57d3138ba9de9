// The incoming pod's requests, where they differ from what PodInfo adds up for pods that occupy a node.
#pragma once

#include "config/feature_gates.h"
#include "framework/pod_info.h"
#include "framework/pod_resources.h"
#include "framework/resource.h"

namespace berth::plugins {

// The kubelet has reported amounts for this pod. Only then do the status-aware sums of PodInfo differ from those of
// the spec.
bool ReportsResources(const api::Pod& pod);

// From the spec alone: a pod that is not running has no useful status.
framework::PodRequestOptions IncomingPodOptions(const config::FeatureGates& gates);
framework::Resource IncomingPodRequest(const framework::PodInfo& pod, const framework::PodRequestOptions& options);

// Appends all amounts, for signatures.
void AppendResource(std::string& text, const framework::Resource& resource);

}  // namespace berth::plugins
