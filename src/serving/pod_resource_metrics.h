// /metrics/resources: each pod's requests and limits, as kube_pod_resource_request and kube_pod_resource_limit.
#pragma once

#include <string>

#include "api/pod.h"
#include "api/resource_list.h"

namespace berth::serving {

// Takes the pods of the cluster one by one; O(pods) text, so generated only on request. Not thread-safe.
class PodResourceWriter {
 public:
  // A pod that has terminated on a node occupies nothing and is omitted; so are amounts of zero.
  void Add(const api::Pod& pod, const api::ResourceList& requests, const api::ResourceList& limits);
  std::string Finish() const;

 private:
  std::string requests_;
  std::string limits_;
};

}  // namespace berth::serving
