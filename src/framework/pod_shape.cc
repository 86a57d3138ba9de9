#include "framework/pod_shape.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/pod_info.h"
#include "framework/pod_resources.h"

namespace berth::framework {
namespace {

std::vector<Symbol> NamespacesOf(const api::Pod& owner, const api::PodAffinityTerm& term) {
  if (term.namespaces.empty() && !term.namespace_selector) return {owner.metadata.namespace_};
  std::vector<Symbol> namespaces = term.namespaces;
  std::sort(namespaces.begin(), namespaces.end());
  namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
  return namespaces;
}

// An absent selector selects nothing.
Result<api::Selector> CompileOptional(const std::optional<api::LabelSelector>& selector) {
  return api::Selector::Compile(selector ? &*selector : nullptr);
}

Result<AffinityTerm> CompileTerm(const api::Pod& owner, const api::PodAffinityTerm& term) {
  Result<api::Selector> selector = CompileOptional(term.label_selector);
  if (!selector) return selector.error();
  Result<api::Selector> namespace_selector = CompileOptional(term.namespace_selector);
  if (!namespace_selector) return namespace_selector.error();
  return AffinityTerm{NamespacesOf(owner, term), *std::move(selector), term.topology_key,
                      *std::move(namespace_selector)};
}

AffinityTerm Wrap(AffinityTerm term, const api::PodAffinityTerm&) { return term; }
WeightedAffinityTerm Wrap(AffinityTerm term, const api::WeightedPodAffinityTerm& source) {
  return {std::move(term), source.weight};
}
const api::PodAffinityTerm& Unwrap(const api::PodAffinityTerm& term) { return term; }
const api::PodAffinityTerm& Unwrap(const api::WeightedPodAffinityTerm& term) { return term.pod_affinity_term; }

// All or nothing: a pod with one bad term is treated as having none of this kind.
template <class Compiled, class Term>
std::vector<Compiled> CompileTerms(const api::Pod& owner, const std::vector<Term>& terms, std::string_view kind,
                                   std::vector<std::string>& problems) {
  std::vector<Compiled> compiled;
  compiled.reserve(terms.size());
  for (const Term& term : terms) {
    Result<AffinityTerm> result = CompileTerm(owner, Unwrap(term));
    if (!result) {
      problems.push_back(std::string(kind).append(": ").append(result.error().message));
      return {};
    }
    compiled.push_back(Wrap(*std::move(result), term));
  }
  return compiled;
}

// A single problem as it is, several as "[a, b]" without duplicates: how Kubernetes prints a list of errors.
std::string JoinProblems(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  std::string joined;
  size_t distinct = 0;
  for (auto it = problems.begin(); it != problems.end(); ++it) {
    if (std::find(problems.begin(), it, *it) != it) continue;
    if (distinct++ > 0) joined += ", ";
    joined += *it;
  }
  return distinct == 1 ? joined : "[" + joined + "]";
}

void AddHostPorts(const api::Container& container, std::vector<HostPort>& ports) {
  for (const api::ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    ports.push_back({port.host_ip.empty() ? "0.0.0.0" : port.host_ip, port.protocol.empty() ? "TCP" : port.protocol,
                     port.host_port});
  }
}

// What scoring assumes for containers without requests. Where pod-level requests set cpu or memory, nothing is assumed
// for that resource.
api::ResourceList AssumedContainerRequests(const api::ResourceList& pod_requests, bool pod_level) {
  static const api::Quantity kCpu = api::Quantity::FromMilli(kDefaultMilliCpuRequest);
  static const api::Quantity kMemory = api::Quantity::FromInt(kDefaultMemoryRequest);
  api::ResourceList assumed;
  if (!pod_level || !pod_requests.Contains(CpuName())) assumed.Set(CpuName(), kCpu);
  if (!pod_level || !pod_requests.Contains(MemoryName())) assumed.Set(MemoryName(), kMemory);
  return assumed;
}

AffinityTerms CompileAffinity(const api::Pod& pod) {
  static const api::PodAffinity kNone;
  const api::Affinity& affinity = *pod.spec.affinity;
  const api::PodAffinity& near = affinity.pod_affinity ? *affinity.pod_affinity : kNone;
  const api::PodAffinity& apart = affinity.pod_anti_affinity ? *affinity.pod_anti_affinity : kNone;
  std::vector<std::string> problems;
  AffinityTerms terms;
  terms.required_affinity = CompileTerms<AffinityTerm>(pod, near.required_during_scheduling_ignored_during_execution,
                                                       "requiredAffinityTerms", problems);
  terms.required_anti_affinity = CompileTerms<AffinityTerm>(
      pod, apart.required_during_scheduling_ignored_during_execution, "requiredAntiAffinityTerms", problems);
  terms.preferred_affinity = CompileTerms<WeightedAffinityTerm>(
      pod, near.preferred_during_scheduling_ignored_during_execution, "preferredAffinityTerms", problems);
  terms.preferred_anti_affinity = CompileTerms<WeightedAffinityTerm>(
      pod, apart.preferred_during_scheduling_ignored_during_execution, "preferredAntiAffinityTerms", problems);
  terms.parse_error = JoinProblems(problems);
  return terms;
}

void AddUpRequests(const api::Pod& pod, PodRequestOptions options, PodShape& shape) {
  const api::ResourceList requests = PodRequests(pod, options);
  shape.requests = Resource::From(requests);
  shape.non_zero_milli_cpu = shape.requests.milli_cpu;
  shape.non_zero_memory = shape.requests.memory;

  const bool pod_level = !options.skip_pod_level_resources && HasPodLevelRequests(pod);
  options.missing_container_requests = AssumedContainerRequests(requests, pod_level);
  if (options.missing_container_requests.empty()) return;
  const Resource assumed = Resource::From(PodRequests(pod, options));
  shape.non_zero_milli_cpu = assumed.milli_cpu;
  shape.non_zero_memory = assumed.memory;
}

}  // namespace

std::vector<HostPort> HostPortsOf(const api::Pod& pod) {
  std::vector<HostPort> ports;
  for (const api::Container& container : pod.spec.init_containers) {
    // An ordinary init container has exited before its port could matter.
    if (IsRestartableInit(container)) AddHostPorts(container, ports);
  }
  for (const api::Container& container : pod.spec.containers) AddHostPorts(container, ports);
  return ports;
}

bool AffinityTerm::Matches(const api::Pod& pod, const api::Labels* namespace_labels) const {
  return Matches(pod.metadata.namespace_, pod.metadata.labels, namespace_labels);
}

bool AffinityTerm::Matches(const PodInfo& pod, const api::Labels* namespace_labels) const {
  return Matches(pod.namespace_(), pod.labels(), namespace_labels);
}

bool AffinityTerm::Matches(const Symbol& name_space, const api::Labels& labels,
                           const api::Labels* namespace_labels) const {
  static const api::Labels kNone;
  const bool in_namespace = std::find(namespaces.begin(), namespaces.end(), name_space) != namespaces.end() ||
                            namespace_selector.Matches(namespace_labels ? *namespace_labels : kNone);
  return in_namespace && selector.Matches(labels);
}

PodShape PodShape::Of(const api::Pod& pod, const PodRequestOptions& options) {
  PodShape shape;
  shape.priority = api::PodPriority(pod);
  shape.terminating = pod.metadata.deletion_timestamp.has_value();
  if (const auto& affinity = pod.spec.affinity; affinity && (affinity->pod_affinity || affinity->pod_anti_affinity)) {
    shape.terms = std::make_unique<const AffinityTerms>(CompileAffinity(pod));
  }
  AddUpRequests(pod, options, shape);
  shape.host_ports = HostPortsOf(pod);
  return shape;
}

}  // namespace berth::framework
