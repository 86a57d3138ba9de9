#include "sim/object_checks.h"

#include <fmt/format.h>

#include "api/label_syntax.h"
#include "api/node.h"
#include "api/policy.h"
#include "api/storage.h"
#include "api/workload.h"
#include "sim/pod_checks.h"

namespace berth::sim {

namespace {

void Check(const api::Pod& pod, FieldChecks& checks) { CheckPod(pod, checks); }

void Check(const api::Node& node, FieldChecks& checks) {
  checks.NotNegative("status.capacity", node.status.capacity);
  checks.NotNegative("status.allocatable", node.status.allocatable);
  for (size_t i = 0; i < node.spec.taints.size(); ++i) {
    const std::string path = fmt::format("spec.taints[{}]", i);
    checks.Required(path + ".key", !node.spec.taints[i].key.empty());
    checks.OneOf(path + ".effect", node.spec.taints[i].effect.str(), {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void Check(const api::Service& service, FieldChecks& checks) {
  checks.LabelMap("spec.selector", service.spec.selector);
}

void Check(const api::ReplicationController& controller, FieldChecks& checks) {
  checks.LabelMap("spec.selector", controller.spec.selector);
}

template <class T>
void CheckSelector(const T& object, FieldChecks& checks) {
  checks.Selector("spec.selector", object.spec.selector);
}
void Check(const api::ReplicaSet& set, FieldChecks& checks) { CheckSelector(set, checks); }
void Check(const api::Deployment& deployment, FieldChecks& checks) { CheckSelector(deployment, checks); }
void Check(const api::DaemonSet& set, FieldChecks& checks) { CheckSelector(set, checks); }
void Check(const api::Job& job, FieldChecks& checks) { CheckSelector(job, checks); }
void Check(const api::StatefulSet& set, FieldChecks& checks) { CheckSelector(set, checks); }
void Check(const api::PodDisruptionBudget& budget, FieldChecks& checks) { CheckSelector(budget, checks); }

void Check(const api::PersistentVolumeClaim& claim, FieldChecks& checks) {
  CheckSelector(claim, checks);
  checks.NotNegative("spec.resources.requests", claim.spec.resources.requests);
}

void Check(const api::PersistentVolume& volume, FieldChecks& checks) {
  checks.NotNegative("spec.capacity", volume.spec.capacity);
  if (volume.spec.node_affinity) checks.NodeSelector("spec.nodeAffinity.required", volume.spec.node_affinity->required);
}

void Check(const api::StorageClass& storage_class, FieldChecks& checks) {
  checks.Required("provisioner", !storage_class.provisioner.empty());
  checks.OneOf("volumeBindingMode", storage_class.volume_binding_mode.value_or("Immediate"),
               {"Immediate", "WaitForFirstConsumer"});
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

template <class... T>
void CheckAs(const api::Object& object, FieldChecks& checks) {
  (..., (object.As<T>() ? Check(*object.As<T>(), checks) : void()));
}

}  // namespace

std::vector<FieldProblem> ProblemsOf(const api::Object& object) {
  FieldChecks checks;
  const api::ObjectMeta& metadata = object.metadata();
  for (const std::string& wrong : api::DnsSubdomainProblems(metadata.name)) {
    checks.Add("metadata.name", fmt::format("bad name \"{}\": {}", metadata.name, wrong));
  }
  checks.LabelMap("metadata.labels", metadata.labels);
  CheckAs<api::Pod, api::Node, api::Service, api::ReplicationController, api::ReplicaSet, api::Deployment,
          api::DaemonSet, api::Job, api::StatefulSet, api::PodDisruptionBudget, api::PersistentVolumeClaim,
          api::PersistentVolume, api::StorageClass, api::CSIStorageCapacity, api::PriorityClass>(object, checks);
  return checks.Take();
}

}  // namespace berth::sim
