#include "api/pod.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const ResourceClaimReference*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimReference>("ResourceClaimReference", {
      codec::Field("name", 1, &ResourceClaimReference::name),
      codec::Field("request", 2, &ResourceClaimReference::request),
  });
  return message;
}

const codec::Message& Describe(const ResourceRequirements*) {
  static const codec::Message message = codec::MessageOf<ResourceRequirements>("ResourceRequirements", {
      codec::Field("limits", 1, &ResourceRequirements::limits),
      codec::Field("requests", 2, &ResourceRequirements::requests),
      codec::Field("claims", 3, &ResourceRequirements::claims),
  });
  return message;
}

const codec::Message& Describe(const ContainerPort*) {
  static const codec::Message message = codec::MessageOf<ContainerPort>("ContainerPort", {
      codec::Field("name", 1, &ContainerPort::name),
      codec::Field("hostPort", 2, &ContainerPort::host_port),
      codec::Field("containerPort", 3, &ContainerPort::container_port),
      codec::Field("protocol", 4, &ContainerPort::protocol),
      codec::Field("hostIP", 5, &ContainerPort::host_ip),
  });
  return message;
}

const codec::Message& Describe(const ContainerRestartRule*) {
  static const codec::Message message = codec::MessageOf<ContainerRestartRule>("ContainerRestartRule", {
      codec::Field("action", 1, &ContainerRestartRule::action),
  }).Ignore({"exitCodes"});
  return message;
}

const codec::Message& Describe(const Container*) {
  static const codec::Message message = codec::MessageOf<Container>("Container", {
      codec::Field("name", 1, &Container::name),
      codec::Field("image", 2, &Container::image),
      codec::Field("ports", 6, &Container::ports),
      codec::Field("resources", 8, &Container::resources),
      codec::Field("restartPolicy", 24, &Container::restart_policy),
      codec::Field("restartPolicyRules", 25, &Container::restart_policy_rules),
  }).Ignore({
      "command", "args", "workingDir", "envFrom", "env", "resizePolicy", "volumeMounts", "volumeDevices",
      "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "terminationMessagePath",
      "terminationMessagePolicy", "imagePullPolicy", "securityContext", "stdin", "stdinOnce", "tty",
  });
  return message;
}

const codec::Message& Describe(const NodeAffinity*) {
  static const codec::Message message = codec::MessageOf<NodeAffinity>("NodeAffinity", {
      codec::Field("requiredDuringSchedulingIgnoredDuringExecution", 1,
                   &NodeAffinity::required_during_scheduling_ignored_during_execution),
      codec::Field("preferredDuringSchedulingIgnoredDuringExecution", 2,
                   &NodeAffinity::preferred_during_scheduling_ignored_during_execution),
  });
  return message;
}

const codec::Message& Describe(const PodAffinityTerm*) {
  static const codec::Message message = codec::MessageOf<PodAffinityTerm>("PodAffinityTerm", {
      codec::Field("labelSelector", 1, &PodAffinityTerm::label_selector),
      codec::Field("namespaces", 2, &PodAffinityTerm::namespaces),
      codec::Field("topologyKey", 3, &PodAffinityTerm::topology_key),
      codec::Field("namespaceSelector", 4, &PodAffinityTerm::namespace_selector),
      codec::Field("matchLabelKeys", 5, &PodAffinityTerm::match_label_keys),
      codec::Field("mismatchLabelKeys", 6, &PodAffinityTerm::mismatch_label_keys),
  });
  return message;
}

const codec::Message& Describe(const WeightedPodAffinityTerm*) {
  static const codec::Message message = codec::MessageOf<WeightedPodAffinityTerm>("WeightedPodAffinityTerm", {
      codec::Field("weight", 1, &WeightedPodAffinityTerm::weight),
      codec::Field("podAffinityTerm", 2, &WeightedPodAffinityTerm::pod_affinity_term),
  });
  return message;
}

const codec::Message& Describe(const PodAffinity*) {
  static const codec::Message message = codec::MessageOf<PodAffinity>("PodAffinity", {
      codec::Field("requiredDuringSchedulingIgnoredDuringExecution", 1,
                   &PodAffinity::required_during_scheduling_ignored_during_execution),
      codec::Field("preferredDuringSchedulingIgnoredDuringExecution", 2,
                   &PodAffinity::preferred_during_scheduling_ignored_during_execution),
  });
  return message;
}

const codec::Message& Describe(const Affinity*) {
  static const codec::Message message = codec::MessageOf<Affinity>("Affinity", {
      codec::Field("nodeAffinity", 1, &Affinity::node_affinity),
      codec::Field("podAffinity", 2, &Affinity::pod_affinity),
      codec::Field("podAntiAffinity", 3, &Affinity::pod_anti_affinity),
  });
  return message;
}

const codec::Message& Describe(const TopologySpreadConstraint*) {
  static const codec::Message message = codec::MessageOf<TopologySpreadConstraint>("TopologySpreadConstraint", {
      codec::Field("maxSkew", 1, &TopologySpreadConstraint::max_skew),
      codec::Field("topologyKey", 2, &TopologySpreadConstraint::topology_key),
      codec::Field("whenUnsatisfiable", 3, &TopologySpreadConstraint::when_unsatisfiable),
      codec::Field("labelSelector", 4, &TopologySpreadConstraint::label_selector),
      codec::Field("minDomains", 5, &TopologySpreadConstraint::min_domains),
      codec::Field("nodeAffinityPolicy", 6, &TopologySpreadConstraint::node_affinity_policy),
      codec::Field("nodeTaintsPolicy", 7, &TopologySpreadConstraint::node_taints_policy),
      codec::Field("matchLabelKeys", 8, &TopologySpreadConstraint::match_label_keys),
  });
  return message;
}

const codec::Message& Describe(const PodSchedulingGate*) {
  static const codec::Message message = codec::MessageOf<PodSchedulingGate>("PodSchedulingGate", {
      codec::Field("name", 1, &PodSchedulingGate::name),
  });
  return message;
}

const codec::Message& Describe(const PodResourceClaim*) {
  static const codec::Message message = codec::MessageOf<PodResourceClaim>("PodResourceClaim", {
      codec::Field("name", 1, &PodResourceClaim::name),
      codec::Field("resourceClaimName", 3, &PodResourceClaim::resource_claim_name),
      codec::Field("resourceClaimTemplateName", 4, &PodResourceClaim::resource_claim_template_name),
  });
  return message;
}

const codec::Message& Describe(const PodSchedulingGroup*) {
  static const codec::Message message = codec::MessageOf<PodSchedulingGroup>("PodSchedulingGroup", {
      codec::Field("podGroupName", 1, &PodSchedulingGroup::pod_group_name),
  });
  return message;
}

const codec::Message& Describe(const PodSpec*) {
  static const codec::Message message = codec::MessageOf<PodSpec>("PodSpec", {
      codec::Field("volumes", 1, &PodSpec::volumes),
      codec::Field("initContainers", 20, &PodSpec::init_containers),
      codec::Field("containers", 2, &PodSpec::containers),
      codec::Field("restartPolicy", 3, &PodSpec::restart_policy),
      codec::Field("terminationGracePeriodSeconds", 4, &PodSpec::termination_grace_period_seconds),
      codec::Field("nodeSelector", 7, &PodSpec::node_selector),
      codec::Field("serviceAccountName", 8, &PodSpec::service_account_name),
      codec::Field("nodeName", 10, &PodSpec::node_name),
      codec::Field("hostNetwork", 11, &PodSpec::host_network),
      codec::Field("affinity", 18, &PodSpec::affinity),
      codec::Field("schedulerName", 19, &PodSpec::scheduler_name),
      codec::Field("tolerations", 22, &PodSpec::tolerations),
      codec::Field("priorityClassName", 24, &PodSpec::priority_class_name),
      codec::Field("priority", 25, &PodSpec::priority),
      codec::Field("runtimeClassName", 29, &PodSpec::runtime_class_name),
      codec::Field("preemptionPolicy", 31, &PodSpec::preemption_policy),
      codec::Field("overhead", 32, &PodSpec::overhead),
      codec::Field("topologySpreadConstraints", 33, &PodSpec::topology_spread_constraints),
      codec::Field("hostUsers", 37, &PodSpec::host_users),
      codec::Field("schedulingGates", 38, &PodSpec::scheduling_gates),
      codec::Field("resourceClaims", 39, &PodSpec::resource_claims),
      codec::Field("resources", 40, &PodSpec::resources),
      codec::Field("schedulingGroup", 43, &PodSpec::scheduling_group),
  }).Ignore({
      "ephemeralContainers", "activeDeadlineSeconds", "dnsPolicy", "serviceAccount",
      "automountServiceAccountToken", "hostPID", "hostIPC", "shareProcessNamespace", "securityContext",
      "imagePullSecrets", "hostname", "subdomain", "hostAliases", "dnsConfig", "readinessGates",
      "enableServiceLinks", "setHostnameAsFQDN", "os", "hostnameOverride",
  });
  return message;
}

const codec::Message& Describe(const PodCondition*) {
  static const codec::Message message = codec::MessageOf<PodCondition>("PodCondition", {
      codec::Field("type", 1, &PodCondition::type),
      codec::Field("status", 2, &PodCondition::status),
      codec::Field("reason", 5, &PodCondition::reason),
      codec::Field("message", 6, &PodCondition::message),
  }).Ignore({"observedGeneration", "lastProbeTime", "lastTransitionTime"});
  return message;
}

const codec::Message& Describe(const ContainerStatus*) {
  static const codec::Message message = codec::MessageOf<ContainerStatus>("ContainerStatus", {
      codec::Field("name", 1, &ContainerStatus::name),
      codec::Field("allocatedResources", 10, &ContainerStatus::allocated_resources),
      codec::Field("resources", 11, &ContainerStatus::resources),
  }).Ignore({
      "state", "lastState", "ready", "restartCount", "image", "imageID", "containerID", "started",
      "volumeMounts", "user", "allocatedResourcesStatus", "stopSignal",
  });
  return message;
}

const codec::Message& Describe(const PodResourceClaimStatus*) {
  static const codec::Message message = codec::MessageOf<PodResourceClaimStatus>("PodResourceClaimStatus", {
      codec::Field("name", 1, &PodResourceClaimStatus::name),
      codec::Field("resourceClaimName", 2, &PodResourceClaimStatus::resource_claim_name),
  });
  return message;
}

const codec::Message& Describe(const ContainerExtendedResourceRequest*) {
  static const codec::Message message =
      codec::MessageOf<ContainerExtendedResourceRequest>("ContainerExtendedResourceRequest", {
      codec::Field("containerName", 1, &ContainerExtendedResourceRequest::container_name),
      codec::Field("resourceName", 2, &ContainerExtendedResourceRequest::resource_name),
      codec::Field("requestName", 3, &ContainerExtendedResourceRequest::request_name),
  });
  return message;
}

const codec::Message& Describe(const PodExtendedResourceClaimStatus*) {
  static const codec::Message message =
      codec::MessageOf<PodExtendedResourceClaimStatus>("PodExtendedResourceClaimStatus", {
      codec::Field("requestMappings", 1, &PodExtendedResourceClaimStatus::request_mappings),
      codec::Field("resourceClaimName", 2, &PodExtendedResourceClaimStatus::resource_claim_name),
  });
  return message;
}

const codec::Message& Describe(const NodeAllocatableResourceClaimStatus*) {
  static const codec::Message message =
      codec::MessageOf<NodeAllocatableResourceClaimStatus>("NodeAllocatableResourceClaimStatus", {
      codec::Field("resourceClaimName", 1, &NodeAllocatableResourceClaimStatus::resource_claim_name),
      codec::Field("containers", 2, &NodeAllocatableResourceClaimStatus::containers),
      codec::Field("resources", 3, &NodeAllocatableResourceClaimStatus::resources),
  });
  return message;
}

const codec::Message& Describe(const PodStatus*) {
  static const codec::Message message = codec::MessageOf<PodStatus>("PodStatus", {
      codec::Field("phase", 1, &PodStatus::phase),
      codec::Field("conditions", 2, &PodStatus::conditions),
      codec::Field("nominatedNodeName", 11, &PodStatus::nominated_node_name),
      codec::Field("startTime", 7, &PodStatus::start_time),
      codec::Field("initContainerStatuses", 10, &PodStatus::init_container_statuses),
      codec::Field("containerStatuses", 8, &PodStatus::container_statuses),
      codec::Field("resourceClaimStatuses", 15, &PodStatus::resource_claim_statuses),
      codec::Field("allocatedResources", 19, &PodStatus::allocated_resources),
      codec::Field("resources", 20, &PodStatus::resources),
      codec::Field("extendedResourceClaimStatus", 18, &PodStatus::extended_resource_claim_status),
      codec::Field("nodeAllocatableResourceClaimStatuses", 21, &PodStatus::node_allocatable_resource_claim_statuses),
  }).Ignore({
      "observedGeneration", "message", "reason", "hostIP", "hostIPs", "podIP", "podIPs", "qosClass",
      "ephemeralContainerStatuses", "resize",
  });
  return message;
}

const codec::Message& Describe(const Pod*) {
  static const codec::Message message = codec::MessageOf<Pod>("Pod", {
      codec::Field("metadata", 1, &Pod::metadata),
      codec::Field("spec", 2, &Pod::spec),
      codec::Field("status", 3, &Pod::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const PodTemplateSpec*) {
  static const codec::Message message = codec::MessageOf<PodTemplateSpec>("PodTemplateSpec", {
      codec::Field("metadata", 1, &PodTemplateSpec::metadata),
      codec::Field("spec", 2, &PodTemplateSpec::spec),
  });
  return message;
}

// clang-format on

}  // namespace berth::api
