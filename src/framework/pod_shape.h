// PodShape: everything that scheduling reads of a pod except its name, computed once: compiled affinity terms, added-up
// requests, host ports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/pod.h"
#include "api/selector.h"
#include "base/symbol.h"
#include "framework/pod_resources.h"
#include "framework/resource.h"

namespace berth::framework {

class PodInfo;

// A pod affinity or anti-affinity term, ready to match other pods.
struct AffinityTerm {
  std::vector<Symbol> namespaces;  // sorted; already includes the owner's namespace where the API implies it
  api::Selector selector = api::Selector::Nothing();
  Symbol topology_key;
  api::Selector namespace_selector = api::Selector::Nothing();

  // `namespace_labels` are those of the namespace of `pod`; null when it is unknown (matches as if it had none).
  bool Matches(const api::Pod& pod, const api::Labels* namespace_labels) const;
  bool Matches(const PodInfo& pod, const api::Labels* namespace_labels) const;

 private:
  bool Matches(const Symbol& name_space, const api::Labels& labels, const api::Labels* namespace_labels) const;
};

struct WeightedAffinityTerm {
  AffinityTerm term;
  int32_t weight = 0;
};

struct HostPort {
  std::string ip;  // "0.0.0.0" when unset
  std::string protocol;
  int32_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// What `pod` holds on its node: the host ports of the containers that run for its whole life.
std::vector<HostPort> HostPortsOf(const api::Pod& pod);

struct AffinityTerms {
  std::vector<AffinityTerm> required_affinity;
  std::vector<AffinityTerm> required_anti_affinity;
  std::vector<WeightedAffinityTerm> preferred_affinity;
  std::vector<WeightedAffinityTerm> preferred_anti_affinity;
  // Empty when every selector compiled.
  std::string parse_error;
};

struct PodShape {
  // Never fails: when a term's selector does not compile, all terms of that kind (say, the required affinity terms) are
  // left out and the reasons are kept in parse_error.
  static PodShape Of(const api::Pod& pod, const PodRequestOptions& options);

  int32_t priority = 0;
  bool terminating = false;                    // has a deletion timestamp
  std::unique_ptr<const AffinityTerms> terms;  // null when the pod has no pod affinity
  Resource requests;
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory = 0;
  std::vector<HostPort> host_ports;

  // Added by PodShapes (pod_shapes.h), so that the decoded pod is not needed.
  api::Labels labels;
  std::vector<api::Volume> volumes;  // those with a source that scheduling reads
  std::string pod_template;          // see api::AppendPodTemplate
};

}  // namespace berth::framework
