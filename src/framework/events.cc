#include "framework/events.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/custom_objects.h"
#include "framework/pod_resources.h"

namespace berth::framework {
namespace {

std::string_view NameOf(EventResource resource) {
  switch (resource) {
    case EventResource::kPod:
      return "Pod";
    case EventResource::kNode:
      return "Node";
    case EventResource::kPersistentVolume:
      return "PersistentVolume";
    case EventResource::kPersistentVolumeClaim:
      return "PersistentVolumeClaim";
    case EventResource::kCSINode:
      return "storage.k8s.io/CSINode";
    case EventResource::kCSIDriver:
      return "storage.k8s.io/CSIDriver";
    case EventResource::kVolumeAttachment:
      return "storage.k8s.io/VolumeAttachment";
    case EventResource::kCSIStorageCapacity:
      return "storage.k8s.io/CSIStorageCapacity";
    case EventResource::kStorageClass:
      return "storage.k8s.io/StorageClass";
    case EventResource::kResourceClaim:
      return "resource.k8s.io/ResourceClaim";
    case EventResource::kResourceSlice:
      return "resource.k8s.io/ResourceSlice";
    case EventResource::kDeviceClass:
      return "resource.k8s.io/DeviceClass";
    case EventResource::kAssignedPod:
      return "AssignedPod";
    case EventResource::kUnschedulablePod:
      return "UnschedulablePod";
    case EventResource::kService:
      return "Service";
    case EventResource::kWildCard:
      return "*";
    case EventResource::kFirstCustom:
      break;
  }
  return NameOfCustom(resource);
}

std::string_view NameOf(ActionType action) {
  switch (action) {
    case ActionType::kNone:
      return "";
    case ActionType::kAdd:
      return "Add";
    case ActionType::kDelete:
      return "Delete";
    case ActionType::kUpdateNodeAllocatable:
      return "UpdateNodeAllocatable";
    case ActionType::kUpdateNodeLabel:
      return "UpdateNodeLabel";
    case ActionType::kUpdateNodeTaint:
      return "UpdateNodeTaint";
    case ActionType::kUpdateNodeCondition:
      return "UpdateNodeCondition";
    case ActionType::kUpdateNodeAnnotation:
      return "UpdateNodeAnnotation";
    case ActionType::kUpdateNodeDeclaredFeature:
      return "UpdateNodeDeclaredFeature";
    case ActionType::kUpdatePodLabel:
      return "UpdatePodLabel";
    case ActionType::kUpdatePodScaleDown:
      return "UpdatePodScaleDown";
    case ActionType::kUpdatePodToleration:
      return "UpdatePodToleration";
    case ActionType::kUpdatePodSchedulingGatesEliminated:
      return "UpdatePodSchedulingGatesEliminated";
    case ActionType::kUpdatePodGeneratedResourceClaim:
      return "UpdatePodGeneratedResourceClaim";
    case ActionType::kAll:
      return "All";
    case ActionType::kUpdate:
      return "Update";
  }
  return "";  // a set of actions has no name
}

bool CoversResource(EventResource registered, EventResource happened) {
  if (registered == EventResource::kWildCard || registered == happened) return true;
  return registered == EventResource::kPod &&
         (happened == EventResource::kAssignedPod || happened == EventResource::kUnschedulablePod);
}

// Heartbeat times and messages of conditions change all the time and do not matter to scheduling.
std::map<std::string_view, std::string_view> ConditionStatuses(const api::Node& node) {
  std::map<std::string_view, std::string_view> statuses;
  for (const api::NodeCondition& condition : node.status.conditions) statuses[condition.type] = condition.status;
  return statuses;
}

bool RequestsLess(const api::Pod& before, const api::Pod& after, const config::FeatureGates& gates) {
  PodRequestOptions options = RunningPodOptions(gates);
  options.skip_pod_level_resources = false;
  const api::ResourceList wanted_before = PodRequests(before, options);
  const api::ResourceList wanted_after = PodRequests(after, options);
  return std::any_of(wanted_before.begin(), wanted_before.end(), [&](const auto& request) {
    const api::Quantity* now = wanted_after.Find(request.first);
    return !now || now->MilliValue() < request.second.MilliValue();
  });
}

bool SameExtendedClaim(const api::PodStatus& before, const api::PodStatus& after) {
  const auto& a = before.extended_resource_claim_status;
  const auto& b = after.extended_resource_claim_status;
  if (!a || !b) return a.has_value() == b.has_value();
  return a->resource_claim_name == b->resource_claim_name &&
         std::ranges::equal(a->request_mappings, b->request_mappings, [](const auto& x, const auto& y) {
           return x.container_name == y.container_name && x.resource_name == y.resource_name &&
                  x.request_name == y.request_name;
         });
}

bool SameClaims(const api::Pod& before, const api::Pod& after) {
  if (!SameExtendedClaim(before.status, after.status)) return false;
  return std::ranges::equal(before.status.resource_claim_statuses, after.status.resource_claim_statuses,
                            [](const api::PodResourceClaimStatus& a, const api::PodResourceClaimStatus& b) {
                              return a.name == b.name && a.resource_claim_name == b.resource_claim_name;
                            });
}

}  // namespace

bool ClusterEvent::Covers(const ClusterEvent& happened) const {
  if (IsWildCard()) return true;
  // Comparing the numbers keeps specific registrations from covering kUpdate, whose highest bit they lack.
  return CoversResource(resource, happened.resource) && (action & happened.action) != ActionType::kNone &&
         happened.action <= action;
}

std::string ClusterEvent::Label() const { return std::string(NameOf(resource)).append(NameOf(action)); }

ActionType NodeUpdateActions(const api::Node& before, const api::Node& after, const config::FeatureGates& gates) {
  ActionType actions = ActionType::kNone;
  const auto note = [&](bool changed, ActionType action) {
    if (changed) actions = actions | action;
  };
  note(before.status.allocatable != after.status.allocatable, ActionType::kUpdateNodeAllocatable);
  note(before.metadata.labels != after.metadata.labels, ActionType::kUpdateNodeLabel);
  // Cordoning a node helps no pod; uncordoning does, and is reported as the removal of its taint.
  note(before.spec.unschedulable && !after.spec.unschedulable, ActionType::kUpdateNodeTaint);
  note(before.spec.taints != after.spec.taints, ActionType::kUpdateNodeTaint);
  note(ConditionStatuses(before) != ConditionStatuses(after), ActionType::kUpdateNodeCondition);
  note(before.metadata.annotations != after.metadata.annotations, ActionType::kUpdateNodeAnnotation);
  note(before.status.declared_features != after.status.declared_features && gates.Enabled("NodeDeclaredFeatures"),
       ActionType::kUpdateNodeDeclaredFeature);
  return actions;
}

ActionType PodUpdateActions(const api::Pod& before, const api::Pod& after, const config::FeatureGates& gates) {
  ActionType actions = ActionType::kNone;
  const auto note = [&](bool changed, ActionType action) {
    if (changed) actions = actions | action;
  };
  note(before.metadata.labels != after.metadata.labels, ActionType::kUpdatePodLabel);
  note(RequestsLess(before, after, gates), ActionType::kUpdatePodScaleDown);
  note(!before.spec.scheduling_gates.empty() && after.spec.scheduling_gates.empty(),
       ActionType::kUpdatePodSchedulingGatesEliminated);
  // The API lets tolerations be added but never changed or removed.
  note(before.spec.tolerations.size() != after.spec.tolerations.size(), ActionType::kUpdatePodToleration);
  note(!SameClaims(before, after) && gates.Enabled("DynamicResourceAllocation"),
       ActionType::kUpdatePodGeneratedResourceClaim);
  return actions == ActionType::kNone ? ActionType::kUpdate : actions;
}

std::vector<ClusterEvent> EventsOf(EventResource resource, ActionType actions) {
  if (actions == ActionType::kNone) return {};
  if (actions == ActionType::kUpdate || actions == ActionType::kAll) return {{resource, actions}};
  std::vector<ClusterEvent> events;
  const auto bits = static_cast<uint32_t>(actions);
  for (uint32_t bit = 1; bit <= bits; bit <<= 1) {
    if (bits & bit) events.push_back({resource, static_cast<ActionType>(bit)});
  }
  return events;
}

}  // namespace berth::framework
