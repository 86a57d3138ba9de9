// Pod, with the parts that scheduling reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/int_or_string.h"
#include "api/meta.h"
#include "api/node_selector.h"
#include "api/resource_list.h"
#include "api/selector.h"
#include "api/taint.h"
#include "api/volume.h"

namespace berth::api {

// The default of spec.schedulerName.
inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

// The scheduler that a pod with this spec.schedulerName waits for.
constexpr std::string_view SchedulerNameOrDefault(std::string_view name) {
  return name.empty() ? kDefaultSchedulerName : name;
}

struct ResourceClaimReference {
  std::string name;
  std::string request;
};

struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;
  std::vector<ResourceClaimReference> claims;
};

struct ContainerPort {
  std::string name;
  int32_t host_port = 0;
  int32_t container_port = 0;
  std::string protocol;  // empty means TCP
  std::string host_ip;   // JSON hostIP
};

struct ContainerRestartRule {
  std::string action;
};

struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  std::optional<std::string> restart_policy;  // "Always" makes an init container a sidecar
  std::vector<ContainerRestartRule> restart_policy_rules;
};

struct NodeAffinity {
  std::optional<NodeSelector> required_during_scheduling_ignored_during_execution;
  std::vector<PreferredSchedulingTerm> preferred_during_scheduling_ignored_during_execution;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::vector<Symbol> namespaces;
  Symbol topology_key;
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;
};

// Both pod affinity and pod anti-affinity.
struct PodAffinity {
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution;
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  Symbol topology_key;
  std::string when_unsatisfiable;
  std::optional<LabelSelector> label_selector;
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;
  std::optional<std::string> node_taints_policy;
  std::vector<Symbol> match_label_keys;
};

struct PodSchedulingGate {
  std::string name;
};

struct PodResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;
};

struct PodSchedulingGroup {
  std::optional<std::string> pod_group_name;
};

struct PodSpec {
  std::vector<Volume> volumes;
  std::vector<Container> init_containers;
  std::vector<Container> containers;
  std::string restart_policy;
  std::optional<int64_t> termination_grace_period_seconds;
  Labels node_selector;
  std::string service_account_name;
  std::string node_name;
  bool host_network = false;
  std::optional<bool> host_users;
  std::optional<Affinity> affinity;
  std::string scheduler_name;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> runtime_class_name;
  std::optional<std::string> preemption_policy;
  ResourceList overhead;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<PodSchedulingGate> scheduling_gates;
  std::vector<PodResourceClaim> resource_claims;
  std::optional<ResourceRequirements> resources;
  std::optional<PodSchedulingGroup> scheduling_group;
};

struct PodCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

struct ContainerStatus {
  std::string name;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
};

struct PodResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;
};

// Which request of the pod's claim for extended resources provides a resource of a container.
struct ContainerExtendedResourceRequest {
  std::string container_name;
  std::string resource_name;
  std::string request_name;
};
struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings;
  std::string resource_claim_name;
};
// What a claim uses of the node's allocatable resources (gate DRANodeAllocatableResources).
struct NodeAllocatableResourceClaimStatus {
  std::string resource_claim_name;
  std::vector<std::string> containers;
  ResourceList resources;
};

struct PodStatus {
  std::string phase;
  std::vector<PodCondition> conditions;
  std::optional<Time> start_time;
  std::string nominated_node_name;
  std::vector<ContainerStatus> container_statuses;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  std::vector<NodeAllocatableResourceClaimStatus> node_allocatable_resource_claim_statuses;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
};

// The template of a workload.
struct PodTemplateSpec {
  ObjectMeta metadata;
  PodSpec spec;
};

// spec.priority, or 0 where admission has not set it.
inline int32_t PodPriority(const Pod& pod) { return pod.spec.priority.value_or(0); }

// Succeeded or Failed: such a pod uses no resources.
inline bool IsTerminated(const Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

const codec::Message& Describe(const ResourceClaimReference*);
const codec::Message& Describe(const ResourceRequirements*);
const codec::Message& Describe(const ContainerPort*);
const codec::Message& Describe(const ContainerRestartRule*);
const codec::Message& Describe(const Container*);
const codec::Message& Describe(const NodeAffinity*);
const codec::Message& Describe(const PodAffinityTerm*);
const codec::Message& Describe(const WeightedPodAffinityTerm*);
const codec::Message& Describe(const PodAffinity*);
const codec::Message& Describe(const Affinity*);
const codec::Message& Describe(const TopologySpreadConstraint*);
const codec::Message& Describe(const PodSchedulingGate*);
const codec::Message& Describe(const PodResourceClaim*);
const codec::Message& Describe(const PodSchedulingGroup*);
const codec::Message& Describe(const PodSpec*);
const codec::Message& Describe(const PodCondition*);
const codec::Message& Describe(const ContainerStatus*);
const codec::Message& Describe(const PodResourceClaimStatus*);
const codec::Message& Describe(const ContainerExtendedResourceRequest*);
const codec::Message& Describe(const PodExtendedResourceClaimStatus*);
const codec::Message& Describe(const NodeAllocatableResourceClaimStatus*);
const codec::Message& Describe(const PodStatus*);
const codec::Message& Describe(const Pod*);
const codec::Message& Describe(const PodTemplateSpec*);

}  // namespace berth::api
