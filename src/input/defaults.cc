#include "input/defaults.h"

#include <utility>

#include "api/node.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "framework/pod_resources.h"

namespace berth::input {

namespace {

// UIDs distinguish objects of the same name over time; within one snapshot of a cluster the key does as well.
void FillUid(api::ObjectMeta& metadata) {
  if (metadata.uid.empty()) metadata.uid = api::KeyOf(metadata);
}

void FillFrom(const api::ResourceList& source, api::ResourceList& target) {
  for (const auto& [name, quantity] : source) {
    if (!target.Contains(name)) target.Set(name, quantity);
  }
}

// Pod-level requests: where the pod sets limits, missing requests are taken from its containers, then from the limits.
void FillPodLevelRequests(api::Pod& pod) {
  if (!pod.spec.resources || pod.spec.resources->limits.empty()) return;
  api::Pod containers_only = pod;
  containers_only.spec.resources.reset();
  containers_only.spec.overhead = {};
  api::ResourceList& requests = pod.spec.resources->requests;
  for (const auto& [name, quantity] : framework::PodRequests(containers_only, {})) {
    const bool overcommit = name.str() == "cpu" || name.str() == "memory";
    if (overcommit && !requests.Contains(name)) requests.Set(name, quantity);
  }
  for (const auto& [name, quantity] : pod.spec.resources->limits) {
    if (framework::IsSupportedPodLevelResource(name.str()) && !requests.Contains(name)) requests.Set(name, quantity);
  }
}

void FillContainers(std::vector<api::Container>& containers, bool host_network) {
  for (api::Container& container : containers) {
    FillFrom(container.resources.limits, container.resources.requests);
    for (api::ContainerPort& port : container.ports) {
      if (port.protocol.empty()) port.protocol = "TCP";
      if (host_network && port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

api::Pod Completed(api::Pod pod) {
  FillUid(pod.metadata);
  FillContainers(pod.spec.init_containers, pod.spec.host_network);
  FillContainers(pod.spec.containers, pod.spec.host_network);
  FillPodLevelRequests(pod);
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = api::kDefaultSchedulerName;
  return pod;
}

api::Node Completed(api::Node node) {
  if (node.status.allocatable.empty()) node.status.allocatable = node.status.capacity;
  return node;
}

api::Namespace Completed(api::Namespace name_space) {
  name_space.metadata.labels.Set(Symbol("kubernetes.io/metadata.name"), Symbol(name_space.metadata.name));
  return name_space;
}

api::PersistentVolumeClaim Completed(api::PersistentVolumeClaim claim) {
  FillUid(claim.metadata);
  if (claim.status.phase.empty()) claim.status.phase = "Pending";
  return claim;
}

api::StorageClass Completed(api::StorageClass storage_class) {
  if (!storage_class.volume_binding_mode) storage_class.volume_binding_mode = "Immediate";
  return storage_class;
}

template <class Request>
void FillRequest(Request& request) {
  if (request.allocation_mode.empty()) request.allocation_mode = "ExactCount";
  if (request.allocation_mode == "ExactCount" && request.count == 0) request.count = 1;
  for (api::DeviceToleration& toleration : request.tolerations) {
    if (toleration.op.empty()) toleration.op = "Equal";
  }
}

void FillRequests(api::ResourceClaimSpec& spec) {
  for (api::DeviceRequest& request : spec.devices.requests) {
    if (request.exactly) FillRequest(*request.exactly);
    for (api::DeviceSubRequest& alternative : request.first_available) FillRequest(alternative);
  }
}

api::ResourceClaim Completed(api::ResourceClaim claim) {
  FillUid(claim.metadata);
  FillRequests(claim.spec);
  return claim;
}

api::ResourceClaimTemplate Completed(api::ResourceClaimTemplate made) {
  FillRequests(made.spec.spec);
  return made;
}

template <class T, class... Others>
api::Object CompletedAs(const api::Object& object) {
  if (const T* value = object.As<T>()) return api::MakeObject(Completed(*value));
  if constexpr (sizeof...(Others) > 0) {
    return CompletedAs<Others...>(object);
  } else {
    return object;
  }
}

}  // namespace

api::Object WithDefaults(const api::Object& object) {
  return CompletedAs<api::Pod, api::Node, api::Namespace, api::PersistentVolumeClaim, api::StorageClass,
                     api::ResourceClaim, api::ResourceClaimTemplate>(object);
}

}  // namespace berth::input
