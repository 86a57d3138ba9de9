#include "testing/pod_builder.h"

#include <utility>

#include "framework/pod_resources.h"

namespace berth::testing {
namespace {

api::PodAffinityTerm TermOf(std::string_view topology_key, api::LabelSelector selector) {
  api::PodAffinityTerm term;
  term.label_selector = std::move(selector);
  term.topology_key = Symbol(topology_key);
  return term;
}

template <class T>
T& Ensure(std::optional<T>& place) {
  return place ? *place : place.emplace();
}

}  // namespace

api::PodAffinityTerm MakeAffinityTerm(std::string_view topology_key, LabelPairs labels) {
  return TermOf(topology_key, SelectorOf(labels));
}

PodBuilder MakePod(std::string_view name) { return PodBuilder(name); }

PodBuilder::PodBuilder(std::string_view name) {
  pod_.metadata.name = name;
  pod_.metadata.namespace_ = Symbol("default");
  pod_.spec.scheduler_name = "default-scheduler";
}

PodBuilder& PodBuilder::Namespace(std::string_view name_space) {
  pod_.metadata.namespace_ = Symbol(name_space);
  return *this;
}

PodBuilder& PodBuilder::Uid(std::string_view uid) {
  uid_ = uid;
  return *this;
}

PodBuilder& PodBuilder::Label(std::string_view key, std::string_view value) {
  pod_.metadata.labels.Set(Symbol(key), Symbol(value));
  return *this;
}

PodBuilder& PodBuilder::Annotation(std::string_view key, std::string_view value) {
  pod_.metadata.annotations.Set(std::string(key), std::string(value));
  return *this;
}

PodBuilder& PodBuilder::OwnerRef(std::string_view kind, std::string_view name, std::string_view uid) {
  const std::string_view api_version = kind == "ReplicationController" ? "v1" : kind == "Job" ? "batch/v1" : "apps/v1";
  pod_.metadata.owner_references.push_back(
      {std::string(api_version), std::string(kind), std::string(name), std::string(uid), true});
  return *this;
}

PodBuilder& PodBuilder::CreatedAt(std::string_view time) {
  pod_.metadata.creation_timestamp = At(time);
  return *this;
}

PodBuilder& PodBuilder::Terminating() {
  pod_.metadata.deletion_timestamp = At("2001-01-01T00:00:00Z");
  return *this;
}

api::Container& PodBuilder::Begin(std::vector<api::Container>& containers, std::string_view prefix,
                                  std::string_view image) {
  current_is_init_ = &containers == &pod_.spec.init_containers;
  api::Container& container = containers.emplace_back();
  container.name = std::string(prefix) + std::to_string(containers.size());
  container.image = image;
  return container;
}

api::Container& PodBuilder::Current() {
  std::vector<api::Container>& containers = current_is_init_ ? pod_.spec.init_containers : pod_.spec.containers;
  return containers.empty() ? Begin(containers, "container-", {}) : containers.back();
}

PodBuilder& PodBuilder::Container(std::string_view image) {
  Begin(pod_.spec.containers, "container-", image);
  return *this;
}

PodBuilder& PodBuilder::InitContainer(std::string_view image) {
  Begin(pod_.spec.init_containers, "init-", image);
  return *this;
}

PodBuilder& PodBuilder::Sidecar(std::string_view image) {
  Begin(pod_.spec.init_containers, "init-", image).restart_policy = "Always";
  return *this;
}

PodBuilder& PodBuilder::Request(std::string_view resource, std::string_view amount) {
  Current().resources.requests.Set(Symbol(resource), Amount(amount));
  return *this;
}

PodBuilder& PodBuilder::Limit(std::string_view resource, std::string_view amount) {
  Current().resources.limits.Set(Symbol(resource), Amount(amount));
  return *this;
}

PodBuilder& PodBuilder::HostPort(int32_t port, std::string_view protocol, std::string_view ip) {
  api::ContainerPort& added = Current().ports.emplace_back();
  added.host_port = port;
  added.container_port = port;
  added.protocol = protocol;
  added.host_ip = ip;
  return *this;
}

PodBuilder& PodBuilder::HostNetwork() {
  pod_.spec.host_network = true;
  return *this;
}

PodBuilder& PodBuilder::PodLevelRequest(std::string_view resource, std::string_view amount) {
  Ensure(pod_.spec.resources).requests.Set(Symbol(resource), Amount(amount));
  return *this;
}

PodBuilder& PodBuilder::Overhead(std::string_view resource, std::string_view amount) {
  pod_.spec.overhead.Set(Symbol(resource), Amount(amount));
  return *this;
}

PodBuilder& PodBuilder::Tolerate(std::string_view key, std::string_view value, std::string_view effect,
                                 std::string_view op) {
  if (op.empty() && value.empty()) op = "Exists";
  pod_.spec.tolerations.push_back({Symbol(key), Symbol(op), Symbol(value), Symbol(effect), std::nullopt});
  return *this;
}

PodBuilder& PodBuilder::NodeSelector(std::string_view key, std::string_view value) {
  pod_.spec.node_selector.Set(Symbol(key), Symbol(value));
  return *this;
}

api::Affinity& PodBuilder::Affinity() { return Ensure(pod_.spec.affinity); }

api::NodeSelectorTerm& PodBuilder::LastNodeTerm() {
  api::NodeAffinity& affinity = Ensure(Affinity().node_affinity);
  api::NodeSelector& required = Ensure(affinity.required_during_scheduling_ignored_during_execution);
  if (required.node_selector_terms.empty()) required.node_selector_terms.emplace_back();
  return required.node_selector_terms.back();
}

PodBuilder& PodBuilder::AddNodeCondition(std::string_view key, std::string_view op, std::vector<std::string> values) {
  LastNodeTerm().match_expressions.push_back({Symbol(key), std::string(op), SymbolsOf(values)});
  return *this;
}

PodBuilder& PodBuilder::NodeAffinityIn(std::string_view key, std::vector<std::string> values) {
  return AddNodeCondition(key, "In", std::move(values));
}

PodBuilder& PodBuilder::NodeAffinityNotIn(std::string_view key, std::vector<std::string> values) {
  return AddNodeCondition(key, "NotIn", std::move(values));
}

PodBuilder& PodBuilder::NodeAffinityExists(std::string_view key) { return AddNodeCondition(key, "Exists", {}); }

PodBuilder& PodBuilder::NodeAffinityDoesNotExist(std::string_view key) {
  return AddNodeCondition(key, "DoesNotExist", {});
}

PodBuilder& PodBuilder::NodeAffinityGt(std::string_view key, std::string_view value) {
  return AddNodeCondition(key, "Gt", {std::string(value)});
}

PodBuilder& PodBuilder::NodeAffinityLt(std::string_view key, std::string_view value) {
  return AddNodeCondition(key, "Lt", {std::string(value)});
}

PodBuilder& PodBuilder::NodeNameIn(std::vector<std::string> names) {
  LastNodeTerm().match_fields.push_back({Symbol("metadata.name"), "In", SymbolsOf(names)});
  return *this;
}

PodBuilder& PodBuilder::OrNodeAffinity() {
  api::NodeAffinity& affinity = Ensure(Affinity().node_affinity);
  Ensure(affinity.required_during_scheduling_ignored_during_execution).node_selector_terms.emplace_back();
  return *this;
}

PodBuilder& PodBuilder::PreferredNodeAffinity(int32_t weight, std::string_view key, std::vector<std::string> values) {
  api::PreferredSchedulingTerm term;
  term.weight = weight;
  term.preference.match_expressions.push_back({Symbol(key), "In", SymbolsOf(values)});
  Ensure(Affinity().node_affinity).preferred_during_scheduling_ignored_during_execution.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::PodAffinity(std::string_view topology_key, LabelPairs labels) {
  return PodAffinity(TermOf(topology_key, SelectorOf(labels)));
}

PodBuilder& PodBuilder::PodAffinity(std::string_view topology_key, api::LabelSelector selector) {
  return PodAffinity(TermOf(topology_key, std::move(selector)));
}

PodBuilder& PodBuilder::PodAffinity(api::PodAffinityTerm term) {
  Ensure(Affinity().pod_affinity).required_during_scheduling_ignored_during_execution.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::PodAntiAffinity(std::string_view topology_key, LabelPairs labels) {
  return PodAntiAffinity(TermOf(topology_key, SelectorOf(labels)));
}

PodBuilder& PodBuilder::PodAntiAffinity(std::string_view topology_key, api::LabelSelector selector) {
  return PodAntiAffinity(TermOf(topology_key, std::move(selector)));
}

PodBuilder& PodBuilder::PodAntiAffinity(api::PodAffinityTerm term) {
  Ensure(Affinity().pod_anti_affinity).required_during_scheduling_ignored_during_execution.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::PreferredPodAffinity(int32_t weight, std::string_view topology_key, LabelPairs labels) {
  return PreferredPodAffinity(weight, TermOf(topology_key, SelectorOf(labels)));
}

PodBuilder& PodBuilder::PreferredPodAffinity(int32_t weight, api::PodAffinityTerm term) {
  Ensure(Affinity().pod_affinity)
      .preferred_during_scheduling_ignored_during_execution.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::PreferredPodAntiAffinity(int32_t weight, std::string_view topology_key, LabelPairs labels) {
  return PreferredPodAntiAffinity(weight, TermOf(topology_key, SelectorOf(labels)));
}

PodBuilder& PodBuilder::PreferredPodAntiAffinity(int32_t weight, api::PodAffinityTerm term) {
  Ensure(Affinity().pod_anti_affinity)
      .preferred_during_scheduling_ignored_during_execution.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::SpreadConstraint(int32_t max_skew, std::string_view topology_key,
                                         std::string_view when_unsatisfiable, LabelPairs labels) {
  return SpreadConstraint(max_skew, topology_key, when_unsatisfiable, SelectorOf(labels));
}

PodBuilder& PodBuilder::SpreadConstraint(int32_t max_skew, std::string_view topology_key,
                                         std::string_view when_unsatisfiable, api::LabelSelector selector) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = Symbol(topology_key);
  constraint.when_unsatisfiable = when_unsatisfiable;
  constraint.label_selector = std::move(selector);
  return SpreadConstraint(std::move(constraint));
}

PodBuilder& PodBuilder::SpreadConstraint(api::TopologySpreadConstraint constraint) {
  pod_.spec.topology_spread_constraints.push_back(std::move(constraint));
  return *this;
}

PodBuilder& PodBuilder::Pvc(std::string_view claim) {
  api::VolumeSource source;
  source.persistent_volume_claim.emplace().claim_name = claim;
  return Volume(claim, std::move(source));
}

PodBuilder& PodBuilder::Volume(std::string_view name, api::VolumeSource source) {
  pod_.spec.volumes.push_back({std::string(name), std::make_shared<const api::VolumeSource>(std::move(source))});
  return *this;
}

PodBuilder& PodBuilder::ResourceClaim(std::string_view name, std::string_view claim) {
  pod_.spec.resource_claims.push_back({std::string(name), std::string(claim), std::nullopt});
  return *this;
}

PodBuilder& PodBuilder::Node(std::string_view name) {
  pod_.spec.node_name = name;
  return *this;
}

PodBuilder& PodBuilder::Priority(int32_t priority) {
  pod_.spec.priority = priority;
  return *this;
}

PodBuilder& PodBuilder::PreemptionPolicy(std::string_view policy) {
  pod_.spec.preemption_policy = std::string(policy);
  return *this;
}

PodBuilder& PodBuilder::SchedulerName(std::string_view name) {
  pod_.spec.scheduler_name = name;
  return *this;
}

PodBuilder& PodBuilder::Gate(std::string_view name) {
  pod_.spec.scheduling_gates.push_back({std::string(name)});
  return *this;
}

PodBuilder& PodBuilder::Phase(std::string_view phase) {
  pod_.status.phase = phase;
  return *this;
}

PodBuilder& PodBuilder::NominatedNode(std::string_view name) {
  pod_.status.nominated_node_name = name;
  return *this;
}

PodBuilder& PodBuilder::StartTime(std::string_view time) { return StartTime(At(time)); }

PodBuilder& PodBuilder::StartTime(api::Time time) {
  pod_.status.start_time = time;
  return *this;
}

PodBuilder& PodBuilder::Condition(std::string_view type, std::string_view status, std::string_view reason) {
  pod_.status.conditions.push_back({std::string(type), std::string(status), std::string(reason), {}});
  return *this;
}

api::Pod PodBuilder::Obj() const {
  api::Pod pod = pod_;
  pod.metadata.uid = uid_ ? *uid_ : api::KeyOf(pod.metadata);
  return pod;
}

std::shared_ptr<const api::Pod> PodBuilder::Shared() const { return std::make_shared<const api::Pod>(Obj()); }

framework::PodInfoPtr PodBuilder::Info(const config::FeatureGates& gates) const {
  return framework::PodInfo::Make(Shared(), framework::RunningPodOptions(gates));
}

}  // namespace berth::testing
