#include "plugins/pod_topology_spread/default_selector.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "api/meta.h"
#include "api/workload.h"

namespace berth::plugins {
namespace {

enum class ControllerKind { kReplicationController, kReplicaSet, kStatefulSet };

std::optional<ControllerKind> KindOf(const api::OwnerReference& owner) {
  if (owner.api_version == "v1" && owner.kind == "ReplicationController") return ControllerKind::kReplicationController;
  if (owner.api_version == "apps/v1" && owner.kind == "ReplicaSet") return ControllerKind::kReplicaSet;
  if (owner.api_version == "apps/v1" && owner.kind == "StatefulSet") return ControllerKind::kStatefulSet;
  return std::nullopt;
}

void Merge(const api::Labels& from, api::Labels& into) {
  for (const auto& [key, value] : from) into.Set(key, value);
}

// The labels required by services that select the pod. They cannot conflict: the pod has them all.
api::Labels LabelsOfServices(const api::Pod& pod, const framework::Objects& objects) {
  api::Labels labels;
  for (const api::Service* service : ServicesOf(pod, objects)) Merge(service->spec.selector, labels);
  return labels;
}

// A selector that does not compile, or selects nothing, is ignored.
void AddSelector(const std::optional<api::LabelSelector>& from, api::Selector& into) {
  const Result<api::Selector> compiled = api::Selector::Compile(from ? &*from : nullptr);
  if (!compiled) return;
  for (const api::Requirement& requirement : compiled->requirements()) into.Add(requirement);
}

}  // namespace

std::vector<const api::Service*> ServicesOf(const api::Pod& pod, const framework::Objects& objects) {
  std::vector<const api::Service*> services;
  objects.services.ForEachIn(pod.metadata.namespace_.str(), [&](const api::Service& service) {
    const api::Labels& selector = service.spec.selector;
    // Without building a Selector: this runs for every service, for every pod.
    const bool selects = !selector.empty() && std::ranges::all_of(selector, [&](const auto& wanted) {
      const Symbol* value = pod.metadata.labels.Find(wanted.first);
      return value != nullptr && *value == wanted.second;
    });
    if (selects) services.push_back(&service);
  });
  return services;
}

const api::OwnerReference* SpreadingController(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  return owner != nullptr && KindOf(*owner) ? owner : nullptr;
}

api::Selector DefaultSpreadSelector(const api::Pod& pod, const framework::Objects& objects) {
  api::Labels labels = LabelsOfServices(pod, objects);
  const api::OwnerReference* owner = SpreadingController(pod);
  if (owner == nullptr) return api::Selector::FromLabels(labels);

  const std::string_view name_space = pod.metadata.namespace_.str();
  const ControllerKind kind = *KindOf(*owner);
  if (kind == ControllerKind::kReplicationController) {
    const api::ReplicationController* controller = objects.replication_controllers.Find(name_space, owner->name);
    if (controller != nullptr) Merge(controller->spec.selector, labels);
    return api::Selector::FromLabels(labels);
  }
  api::Selector selector = api::Selector::FromLabels(labels);
  if (kind == ControllerKind::kReplicaSet) {
    const api::ReplicaSet* set = objects.replica_sets.Find(name_space, owner->name);
    if (set != nullptr) AddSelector(set->spec.selector, selector);
  } else {
    const api::StatefulSet* set = objects.stateful_sets.Find(name_space, owner->name);
    if (set != nullptr) AddSelector(set->spec.selector, selector);
  }
  return selector;
}

}  // namespace berth::plugins
