#include "input/object_checks.h"

#include <fmt/format.h>

#include "api/label_syntax.h"
#include "api/node.h"
#include "api/policy.h"
#include "api/storage.h"
#include "api/workload.h"
#include "base/printable.h"
#include "input/device_checks.h"
#include "input/resource_names.h"

namespace berth::input {

namespace {

void Check(const api::Pod& pod, FieldChecks& checks) { CheckPod(pod, checks); }

void Check(const api::Node& node, FieldChecks& checks) {
  checks.NodeResources("status.capacity", node.status.capacity);
  checks.NodeResources("status.allocatable", node.status.allocatable);
  for (size_t i = 0; i < node.spec.taints.size(); ++i) {
    const std::string path = fmt::format("spec.taints[{}]", i);
    checks.Required(path + ".key", !node.spec.taints[i].key.empty());
    checks.LabelKey(path + ".key", node.spec.taints[i].key.str());
    checks.LabelValue(path + ".value", node.spec.taints[i].value.str());
    checks.OneOf(path + ".effect", node.spec.taints[i].effect.str(), {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void Check(const api::Service& service, FieldChecks& checks) {
  checks.LabelMap("spec.selector", service.spec.selector);
}

// A template must have containers, and the selector must match its labels.
void CheckTemplate(const api::PodTemplateSpec& pod_template, const std::optional<api::LabelSelector>& selector,
                   FieldChecks& checks) {
  if (pod_template.spec.containers.empty()) return;
  FieldChecks of_pod;
  of_pod.LabelMap("metadata.labels", pod_template.metadata.labels);
  CheckPod({.metadata = {}, .spec = pod_template.spec, .status = {}}, of_pod);
  for (const FieldProblem& problem : of_pod.Take()) {
    const std::string what = problem.what.starts_with(problem.path) ? "spec.template." + problem.what : problem.what;
    checks.Add("spec.template." + problem.path, what);
  }
  if (!selector) return;
  const Result<api::Selector> compiled = api::Selector::Compile(*selector);
  if (!compiled || compiled->Matches(pod_template.metadata.labels)) return;
  checks.Add("spec.selector", "does not match the labels of spec.template");
}

void NotNegative(const std::string& path, const std::optional<int32_t>& number, FieldChecks& checks) {
  if (number.value_or(0) < 0) checks.Add(path, fmt::format("must not be negative, found {}", *number));
}

void Check(const api::ReplicationController& controller, FieldChecks& checks) {
  checks.LabelMap("spec.selector", controller.spec.selector);
  NotNegative("spec.replicas", controller.spec.replicas, checks);
  if (controller.spec.pod_template) CheckTemplate(*controller.spec.pod_template, {}, checks);
}

template <class T>
void CheckSelector(const T& object, FieldChecks& checks) {
  checks.Selector("spec.selector", object.spec.selector);
}

template <class T>
void CheckReplicated(const T& workload, FieldChecks& checks) {
  CheckSelector(workload, checks);
  NotNegative("spec.replicas", workload.spec.replicas, checks);
  CheckTemplate(workload.spec.pod_template, workload.spec.selector, checks);
}
void Check(const api::ReplicaSet& set, FieldChecks& checks) { CheckReplicated(set, checks); }
void Check(const api::Deployment& deployment, FieldChecks& checks) {
  CheckReplicated(deployment, checks);
  CheckStrategy(deployment, checks);
}

void CheckAccessModes(const std::string& path, const std::vector<std::string>& modes, FieldChecks& checks) {
  for (size_t i = 0; i < modes.size(); ++i) {
    checks.OneOf(fmt::format("{}[{}]", path, i), modes[i],
                 {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"});
  }
}

void CheckClaimSpec(const std::string& path, const api::PersistentVolumeClaimSpec& spec, FieldChecks& checks) {
  checks.Storage(path + ".resources.requests", spec.resources.requests);
  checks.DnsName(path + ".storageClassName", spec.storage_class_name.value_or(""));
  CheckAccessModes(path + ".accessModes", spec.access_modes, checks);
}

void Check(const api::StatefulSet& set, FieldChecks& checks) {
  CheckReplicated(set, checks);
  CheckStrategy(set, checks);
  for (size_t i = 0; i < set.spec.volume_claim_templates.size(); ++i) {
    const api::PersistentVolumeClaim& claim = set.spec.volume_claim_templates[i];
    const std::string path = fmt::format("spec.volumeClaimTemplates[{}]", i);
    checks.Required(path + ".metadata.name", !claim.metadata.name.empty());
    checks.DnsName(path + ".metadata.name", claim.metadata.name);
    CheckClaimSpec(path + ".spec", claim.spec, checks);
  }
}

void Check(const api::DaemonSet& set, FieldChecks& checks) {
  CheckSelector(set, checks);
  CheckTemplate(set.spec.pod_template, set.spec.selector, checks);
  CheckStrategy(set, checks);
}

void Check(const api::Job& job, FieldChecks& checks) {
  CheckSelector(job, checks);
  NotNegative("spec.parallelism", job.spec.parallelism, checks);
  NotNegative("spec.completions", job.spec.completions, checks);
  const std::string mode = job.spec.completion_mode.value_or("NonIndexed");
  checks.OneOf("spec.completionMode", mode, {"NonIndexed", "Indexed"});
  if (mode == "Indexed") checks.Required("spec.completions", job.spec.completions.has_value());
  // Its selector is by a label that only the API server sets.
  CheckTemplate(job.spec.pod_template, {}, checks);
}

void Check(const api::PodDisruptionBudget& budget, FieldChecks& checks) { CheckSelector(budget, checks); }

void Check(const api::LimitRange& range, FieldChecks& checks) {
  for (size_t i = 0; i < range.spec.limits.size(); ++i) {
    const api::LimitRangeItem& item = range.spec.limits[i];
    const std::string path = fmt::format("spec.limits[{}]", i);
    checks.Required(path + ".type", !item.type.empty());
    // Other types are qualified names, and not used here.
    if (!item.type.empty() && item.type.find('/') == std::string::npos) {
      checks.OneOf(path + ".type", item.type, {"Container", "Pod", "PersistentVolumeClaim"});
    }
    if (item.type == "Container" || item.type == "Pod") {
      checks.ContainerResources(path + ".max", item.max);
      checks.ContainerResources(path + ".min", item.min);
      checks.ContainerResources(path + ".default", item.default_limit);
      checks.ContainerResources(path + ".defaultRequest", item.default_request);
    }
    for (const auto& [name, most] : item.max) {
      const api::Quantity* least = item.min.Find(name);
      if (!least || *least <= most) continue;
      checks.Add(fmt::format("{}.min[{}]", path, name.str()),
                 fmt::format("must not be more than the maximum of {}, found {}", most.ToString(), least->ToString()));
    }
  }
}

void Check(const api::RuntimeClass& runtime_class, FieldChecks& checks) {
  if (runtime_class.overhead) checks.ContainerResources("overhead.podFixed", runtime_class.overhead->pod_fixed);
  if (runtime_class.scheduling) checks.LabelMap("scheduling.nodeSelector", runtime_class.scheduling->node_selector);
}

void Check(const api::PersistentVolumeClaim& claim, FieldChecks& checks) {
  CheckSelector(claim, checks);
  CheckClaimSpec("spec", claim.spec, checks);
  checks.DnsName("spec.volumeName", claim.spec.volume_name);
}

void Check(const api::PersistentVolume& volume, FieldChecks& checks) {
  checks.Storage("spec.capacity", volume.spec.capacity);
  CheckAccessModes("spec.accessModes", volume.spec.access_modes, checks);
  checks.DnsName("spec.storageClassName", volume.spec.storage_class_name);
  if (volume.spec.node_affinity) checks.NodeSelector("spec.nodeAffinity.required", volume.spec.node_affinity->required);
}

void Check(const api::StorageClass& storage_class, FieldChecks& checks) {
  checks.Required("provisioner", !storage_class.provisioner.empty());
  checks.LabelKey("provisioner", storage_class.provisioner);
  checks.OneOf("volumeBindingMode", storage_class.volume_binding_mode.value_or("Immediate"),
               {"Immediate", "WaitForFirstConsumer"});
  for (const api::TopologySelectorTerm& term : storage_class.allowed_topologies) {
    for (const auto& wanted : term.match_label_expressions) {
      checks.LabelKey("allowedTopologies", wanted.key.str());
      for (const auto& value : wanted.values) checks.LabelValue("allowedTopologies", value.str());
    }
  }
}

void Check(const api::CSIStorageCapacity& capacity, FieldChecks& checks) {
  checks.Required("storageClassName", !capacity.storage_class_name.empty());
  checks.Selector("nodeTopology", capacity.node_topology);
}

void Check(const api::PriorityClass& priority_class, FieldChecks& checks) {
  constexpr int32_t kHighest = 1'000'000'000;
  if (priority_class.value > kHighest && !priority_class.metadata.name.starts_with("system-")) {
    checks.Add("value", fmt::format("expected at most {}, found {}", kHighest, priority_class.value));
  }
  checks.OneOf("preemptionPolicy", priority_class.preemption_policy.value_or("Never"),
               {"PreemptLowerPriority", "Never"});
}

void Check(const api::ResourceQuota& quota, FieldChecks& checks) {
  checks.NotNegative("spec.hard", quota.spec.hard);
  for (const auto& [name, amount] : quota.spec.hard) {
    const std::string wrong = QuotaResourceProblem(name.str());
    if (!wrong.empty()) checks.Add(fmt::format("spec.hard[{}]", base::Clipped(name.str())), wrong);
  }
  for (size_t i = 0; i < quota.spec.scopes.size(); ++i) {
    checks.OneOf(fmt::format("spec.scopes[{}]", i), quota.spec.scopes[i],
                 {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
                  "CrossNamespacePodAffinity", "VolumeAttributesClass"});
  }
}

void Check(const api::ResourceClaim& claim, FieldChecks& checks) { CheckClaimSpec(claim.spec, "spec", checks); }
void Check(const api::ResourceClaimTemplate& made, FieldChecks& checks) {
  CheckClaimSpec(made.spec.spec, "spec.spec", checks);
}
void Check(const api::DeviceClass& device_class, FieldChecks& checks) { CheckDeviceClass(device_class, checks); }
void Check(const api::ResourceSlice& slice, FieldChecks& checks) { CheckResourceSlice(slice, checks); }

template <class... T>
void CheckAs(const api::Object& object, FieldChecks& checks) {
  (..., (object.As<T>() ? Check(*object.As<T>(), checks) : void()));
}

}  // namespace

std::vector<FieldProblem> ProblemsOf(const api::Object& object) {
  FieldChecks checks;
  const api::ObjectMeta& metadata = object.metadata();
  if (metadata.name.empty()) checks.Required("metadata.name", false);
  // Names of other kinds may be any path segment; every kind read here uses a subdomain.
  checks.DnsName("metadata.name", metadata.name);
  checks.DnsLabel("metadata.namespace", metadata.namespace_.str());
  for (size_t i = 0; i < metadata.owner_references.size(); ++i) {
    const api::OwnerReference& owner = metadata.owner_references[i];
    const std::string path = fmt::format("metadata.ownerReferences[{}]", i);
    checks.DnsName(path + ".name", owner.name);
    if (!owner.kind.empty() && !api::LabelKeyProblems(owner.kind).empty()) {
      checks.Add(path + ".kind", fmt::format("expected a kind, found \"{}\"", base::Clipped(owner.kind)));
    }
  }
  if (base::Printable(metadata.uid) != metadata.uid) {
    checks.Add("metadata.uid", fmt::format("expected printable text, found \"{}\"", base::Clipped(metadata.uid)));
  }
  checks.LabelMap("metadata.labels", metadata.labels);
  CheckAs<api::Pod, api::Node, api::Service, api::ReplicationController, api::ReplicaSet, api::Deployment,
          api::DaemonSet, api::Job, api::StatefulSet, api::PodDisruptionBudget, api::PersistentVolumeClaim,
          api::PersistentVolume, api::StorageClass, api::CSIStorageCapacity, api::PriorityClass, api::LimitRange,
          api::RuntimeClass, api::ResourceQuota, api::ResourceClaim, api::ResourceClaimTemplate, api::DeviceClass,
          api::ResourceSlice>(object, checks);
  return checks.Take();
}

}  // namespace berth::input
