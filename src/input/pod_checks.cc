#include <fmt/format.h>

#include <set>

#include "api/label_syntax.h"
#include "base/printable.h"
#include "framework/pod_resources.h"
#include "input/object_checks.h"

namespace berth::input {

namespace {

constexpr char kRequired[] = ".requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kPreferred[] = ".preferredDuringSchedulingIgnoredDuringExecution";

void CheckWeight(const std::string& path, int32_t weight, FieldChecks& checks) {
  if (weight < 1 || weight > 100) checks.Add(path + ".weight", fmt::format("expected 1 to 100, found {}", weight));
}

void CheckTerm(const std::string& path, const api::PodAffinityTerm& term, FieldChecks& checks) {
  checks.Required(path + ".topologyKey", !term.topology_key.empty());
  checks.LabelKey(path + ".topologyKey", term.topology_key.str());
  for (size_t i = 0; i < term.namespaces.size(); ++i) {
    checks.DnsLabel(fmt::format("{}.namespaces[{}]", path, i), term.namespaces[i].str());
  }
  checks.Selector(path + ".labelSelector", term.label_selector);
  checks.Selector(path + ".namespaceSelector", term.namespace_selector);
}

void CheckPodAffinity(const std::string& path, const std::optional<api::PodAffinity>& affinity, FieldChecks& checks) {
  if (!affinity) return;
  const auto& required = affinity->required_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < required.size(); ++i) {
    CheckTerm(fmt::format("{}{}[{}]", path, kRequired, i), required[i], checks);
  }
  const auto& preferred = affinity->preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = fmt::format("{}{}[{}]", path, kPreferred, i);
    CheckWeight(at, preferred[i].weight, checks);
    CheckTerm(at + ".podAffinityTerm", preferred[i].pod_affinity_term, checks);
  }
}

void CheckNodeAffinity(const std::string& path, const api::NodeAffinity& affinity, FieldChecks& checks) {
  checks.NodeSelector(path + kRequired, affinity.required_during_scheduling_ignored_during_execution);
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    CheckWeight(fmt::format("{}{}[{}]", path, kPreferred, i), preferred[i].weight, checks);
  }
  const auto compiled = api::CompiledPreferredTerms::Compile(preferred, path + kPreferred);
  if (!compiled) checks.Add(path + kPreferred, compiled.error().message);
}

void CheckSpread(const std::vector<api::TopologySpreadConstraint>& constraints, FieldChecks& checks) {
  std::set<std::pair<Symbol, std::string>> seen;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = constraints[i];
    const std::string path = fmt::format("spec.topologySpreadConstraints[{}]", i);
    if (constraint.max_skew < 1)
      checks.Add(path + ".maxSkew", fmt::format("expected 1 or more, found {}", constraint.max_skew));
    if (constraint.min_domains && *constraint.min_domains < 1)
      checks.Add(path + ".minDomains", fmt::format("expected 1 or more, found {}", *constraint.min_domains));
    checks.Required(path + ".topologyKey", !constraint.topology_key.empty());
    checks.LabelKey(path + ".topologyKey", constraint.topology_key.str());
    checks.OneOf(path + ".whenUnsatisfiable", constraint.when_unsatisfiable, {"DoNotSchedule", "ScheduleAnyway"});
    checks.OneOf(path + ".nodeAffinityPolicy", constraint.node_affinity_policy.value_or("Honor"), {"Honor", "Ignore"});
    checks.OneOf(path + ".nodeTaintsPolicy", constraint.node_taints_policy.value_or("Ignore"), {"Honor", "Ignore"});
    checks.Selector(path + ".labelSelector", constraint.label_selector);
    if (!seen.insert({constraint.topology_key, constraint.when_unsatisfiable}).second) {
      checks.Add(path, "an earlier constraint has the same topologyKey and whenUnsatisfiable");
    }
  }
}

void CheckTolerations(const std::vector<api::Toleration>& tolerations, FieldChecks& checks) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const api::Toleration& toleration = tolerations[i];
    const std::string path = fmt::format("spec.tolerations[{}]", i);
    if (!toleration.op.empty()) {
      checks.OneOf(path + ".operator", toleration.op.str(), {"Equal", "Exists", "Lt", "Gt"});
    }
    if (!toleration.effect.empty()) {
      checks.OneOf(path + ".effect", toleration.effect.str(), {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    checks.LabelKey(path + ".key", toleration.key.str());
    checks.LabelValue(path + ".value", toleration.value.str());
    const bool exists = toleration.op == api::TolerationExists();
    if (toleration.key.empty() && !exists) checks.Add(path + ".operator", "must be Exists when key is empty");
    if (exists && !toleration.value.empty()) checks.Add(path + ".value", "must be empty when operator is Exists");
  }
}

void CheckResources(const std::string& path, const api::ResourceRequirements& resources, FieldChecks& checks) {
  checks.ContainerResources(path + ".requests", resources.requests);
  checks.ContainerResources(path + ".limits", resources.limits);
  for (const auto& [name, request] : resources.requests) {
    const api::Quantity* limit = resources.limits.Find(name);
    if (!limit || request <= *limit) continue;
    checks.Add(fmt::format("{}.requests[{}]", path, name.str()),
               fmt::format("must not be more than the limit of {}, found {}", limit->ToString(), request.ToString()));
  }
}

// Resources that cannot be overcommitted must have equal request and limit.
bool IsOvercommittable(std::string_view name) {
  return !name.starts_with("hugepages-") && !api::IsExtendedResourceName(name);
}

void CheckWholeResources(const std::string& path, const api::ResourceRequirements& resources, FieldChecks& checks) {
  bool huge_pages = false;
  for (const auto& [name, request] : resources.requests) {
    huge_pages = huge_pages || name.str().starts_with("hugepages-");
    if (IsOvercommittable(name.str())) continue;
    const api::Quantity* limit = resources.limits.Find(name);
    if (limit && *limit == request) continue;
    checks.Add(fmt::format("{}.requests[{}]", path, base::Clipped(name.str())),
               fmt::format("cannot be overcommitted: expected a limit of {}, found {}", request.ToString(),
                           limit ? limit->ToString() : "none"));
  }
  const auto has = [&](std::string_view name) {
    return resources.requests.Find(Symbol(name)) || resources.limits.Find(Symbol(name));
  };
  if (huge_pages && !has("cpu") && !has("memory"))
    checks.Add(path, "hugepages need a request of cpu or memory besides");
}

void CheckPodLevel(const api::ResourceRequirements& resources, FieldChecks& checks) {
  CheckResources("spec.resources", resources, checks);
  for (const auto& [name, request] : resources.requests) {
    if (framework::IsSupportedPodLevelResource(name.str())) continue;
    checks.Add(fmt::format("spec.resources.requests[{}]", base::Clipped(name.str())),
               "a pod as a whole asks for cpu, memory or hugepages-* only");
  }
}

bool IsIpText(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

void CheckContainers(const std::string& path, const std::vector<api::Container>& containers,
                     std::set<std::string>& names, FieldChecks& checks) {
  for (size_t i = 0; i < containers.size(); ++i) {
    const api::Container& container = containers[i];
    const std::string at = fmt::format("{}[{}]", path, i);
    checks.Required(at + ".name", !container.name.empty());
    checks.DnsLabel(at + ".name", container.name);
    if (!names.insert(container.name).second && !container.name.empty()) {
      checks.Add(at + ".name", fmt::format("\"{}\" is used twice", base::Clipped(container.name)));
    }
    CheckResources(at + ".resources", container.resources, checks);
    CheckWholeResources(at + ".resources", container.resources, checks);
    checks.OneOf(at + ".restartPolicy", container.restart_policy.value_or("Always"), {"Always", "OnFailure", "Never"});
    for (size_t j = 0; j < container.ports.size(); ++j) {
      const std::string port = fmt::format("{}.ports[{}]", at, j);
      const std::string& protocol = container.ports[j].protocol;
      if (!protocol.empty()) checks.OneOf(port + ".protocol", protocol, {"TCP", "UDP", "SCTP"});
      if (const std::string& ip = container.ports[j].host_ip; !IsIpText(ip)) {
        checks.Add(port + ".hostIP", fmt::format("expected an IP address, found \"{}\"", base::Clipped(ip)));
      }
      const int32_t number = container.ports[j].host_port;
      if (number < 0 || number > 65535) {
        checks.Add(port + ".hostPort", fmt::format("expected 0 to 65535, found {}", number));
      }
    }
  }
}

void CheckVolumes(const std::vector<api::Volume>& volumes, FieldChecks& checks) {
  std::set<std::string> names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const std::string path = fmt::format("spec.volumes[{}]", i);
    checks.DnsLabel(path + ".name", volumes[i].name);
    if (!names.insert(volumes[i].name).second)
      checks.Add(path + ".name", fmt::format("\"{}\" is used twice", base::Clipped(volumes[i].name)));
    const api::VolumeSource& source = volumes[i].from();
    if (source.persistent_volume_claim) {
      const std::string& claim = source.persistent_volume_claim->claim_name;
      checks.Required(path + ".persistentVolumeClaim.claimName", !claim.empty());
      checks.DnsName(path + ".persistentVolumeClaim.claimName", claim);
    }
    if (source.ephemeral) {
      checks.Required(path + ".ephemeral.volumeClaimTemplate", source.ephemeral->volume_claim_template.has_value());
    }
  }
}

// Names that the API server would reject, and that must not be printed as they are.
void CheckNames(const api::PodSpec& spec, FieldChecks& checks) {
  checks.DnsName("spec.nodeName", spec.node_name);
  checks.DnsName("spec.schedulerName", spec.scheduler_name);
  checks.DnsName("spec.priorityClassName", spec.priority_class_name);
  checks.DnsName("spec.runtimeClassName", spec.runtime_class_name.value_or(""));
  checks.DnsName("spec.serviceAccountName", spec.service_account_name);
  for (size_t i = 0; i < spec.scheduling_gates.size(); ++i) {
    const std::string path = fmt::format("spec.schedulingGates[{}].name", i);
    checks.Required(path, !spec.scheduling_gates[i].name.empty());
    checks.LabelKey(path, spec.scheduling_gates[i].name);
  }
  for (size_t i = 0; i < spec.resource_claims.size(); ++i) {
    const std::string path = fmt::format("spec.resourceClaims[{}]", i);
    checks.DnsLabel(path + ".name", spec.resource_claims[i].name);
    checks.DnsName(path + ".resourceClaimName", spec.resource_claims[i].resource_claim_name.value_or(""));
    checks.DnsName(path + ".resourceClaimTemplateName",
                   spec.resource_claims[i].resource_claim_template_name.value_or(""));
  }
}

}  // namespace

void CheckPod(const api::Pod& pod, FieldChecks& checks) {
  const api::PodSpec& spec = pod.spec;
  if (spec.containers.empty()) checks.Add("spec.containers", "missing: a pod needs at least one");
  std::set<std::string> names;
  CheckContainers("spec.initContainers", spec.init_containers, names, checks);
  CheckContainers("spec.containers", spec.containers, names, checks);
  if (spec.resources) CheckPodLevel(*spec.resources, checks);
  CheckNames(spec, checks);
  checks.ContainerResources("spec.overhead", spec.overhead);
  checks.LabelMap("spec.nodeSelector", spec.node_selector);
  if (!spec.restart_policy.empty()) {
    checks.OneOf("spec.restartPolicy", spec.restart_policy, {"Always", "OnFailure", "Never"});
  }
  checks.OneOf("spec.preemptionPolicy", spec.preemption_policy.value_or("Never"), {"PreemptLowerPriority", "Never"});
  CheckTolerations(spec.tolerations, checks);
  CheckSpread(spec.topology_spread_constraints, checks);
  CheckVolumes(spec.volumes, checks);
  if (!spec.affinity) return;
  if (spec.affinity->node_affinity)
    CheckNodeAffinity("spec.affinity.nodeAffinity", *spec.affinity->node_affinity, checks);
  CheckPodAffinity("spec.affinity.podAffinity", spec.affinity->pod_affinity, checks);
  CheckPodAffinity("spec.affinity.podAntiAffinity", spec.affinity->pod_anti_affinity, checks);
}

}  // namespace berth::input
