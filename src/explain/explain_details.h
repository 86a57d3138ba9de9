// The numbers, labels and pods behind a filter's No: what upstream's reasons leave out.
#pragma once

#include <string>

#include "api/node_selector.h"
#include "explain/explain_topology.h"
#include "framework/handle.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "framework/status.h"

namespace berth::explain {

class DetailFinder {
 public:
  // Both outlive it.
  DetailFinder(const framework::Handle& handle, const framework::PodInfo& pod)
      : handle_(handle), pod_(pod), topology_(handle, pod) {}

  // "" where there is nothing to add: the plugin is not one of those known here, or its reason says it all.
  std::string Of(const framework::Status& status, const framework::NodeInfo& node) const;

 private:
  std::string Ports(const framework::NodeInfo& node) const;
  std::string Taints(const framework::NodeInfo& node) const;

  const framework::Handle& handle_;
  const framework::PodInfo& pod_;
  const TopologyDetails topology_;
};

// "needs 2 cpu, 1.3 free of 4; 2.7 held by 6 pods, largest shop/web-3 with 1", for each resource that falls short.
std::string ResourceDetail(const framework::Status& status, const framework::NodeInfo& node);
// The first condition of each term that the node does not meet, and what the node has instead.
std::string NodeAffinityDetail(const api::Pod& pod, const framework::NodeInfo& node);
// The claims that tie the pod to other nodes.
std::string VolumeDetail(const framework::Handle& handle, const framework::PodInfo& pod,
                         const framework::NodeInfo& node);

// Pods that use a claim of this one.
std::string ClaimUsersDetail(const framework::Handle& handle, const framework::PodInfo& pod);

// "disk=ssd", "no label gpu": a condition as people write it.
std::string ConditionText(const api::Requirement& requirement);
// "the node has disk=hdd", "the node has no label disk".
std::string LabelText(const framework::NodeInfo& node, const Symbol& key);

}  // namespace berth::explain
