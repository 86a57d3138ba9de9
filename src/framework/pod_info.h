// PodInfo: a pod with everything that plugins would otherwise work out again and again: compiled affinity terms,
// added-up requests, host ports. Built once when the pod is seen; immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "api/selector.h"
#include "base/result.h"
#include "base/symbol.h"
#include "config/feature_gates.h"
#include "framework/resource.h"

namespace berth::framework {

class PodInfo;
using PodInfoPtr = std::shared_ptr<const PodInfo>;

// A pod affinity or anti-affinity term, ready to match other pods.
struct AffinityTerm {
  std::vector<Symbol> namespaces;  // sorted; already holds the owner's namespace where the API means that
  api::Selector selector = api::Selector::Nothing();
  Symbol topology_key;
  api::Selector namespace_selector = api::Selector::Nothing();

  // `namespace_labels` are those of the namespace of `pod`; null when it is unknown (matches as if it had none).
  bool Matches(const api::Pod& pod, const api::Labels* namespace_labels) const;
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

class PodInfo {
 public:
  // Never fails: when a term's selector does not compile, all terms of that kind (say, the required affinity terms) are
  // left out and the reasons are kept in parse_error().
  static PodInfoPtr Make(std::shared_ptr<const api::Pod> pod, const config::FeatureGates& gates);

  const api::Pod& pod() const { return *pod_; }
  const std::shared_ptr<const api::Pod>& shared_pod() const { return pod_; }
  const std::string& name() const { return pod_->metadata.name; }
  const Symbol& namespace_() const { return pod_->metadata.namespace_; }
  const std::string& uid() const { return pod_->metadata.uid; }
  const api::Labels& labels() const { return pod_->metadata.labels; }
  int32_t priority() const { return priority_; }
  std::string Key() const { return api::KeyOf(pod_->metadata); }

  const std::vector<AffinityTerm>& required_affinity_terms() const { return required_affinity_terms_; }
  const std::vector<AffinityTerm>& required_anti_affinity_terms() const { return required_anti_affinity_terms_; }
  const std::vector<WeightedAffinityTerm>& preferred_affinity_terms() const { return preferred_affinity_terms_; }
  const std::vector<WeightedAffinityTerm>& preferred_anti_affinity_terms() const {
    return preferred_anti_affinity_terms_;
  }
  // Any pod affinity or anti-affinity at all.
  bool has_affinity_terms() const;
  // Empty when every selector compiled.
  const std::string& parse_error() const { return parse_error_; }

  // What the pod occupies on a node.
  const Resource& requests() const { return requests_; }
  // cpu and memory with the defaults for containers that ask for nothing; used by scoring only.
  int64_t non_zero_milli_cpu() const { return non_zero_milli_cpu_; }
  int64_t non_zero_memory() const { return non_zero_memory_; }
  // Host ports of containers and sidecars.
  const std::vector<HostPort>& host_ports() const { return host_ports_; }

 private:
  PodInfo() = default;
  void AddUpRequests(const config::FeatureGates& gates);

  std::shared_ptr<const api::Pod> pod_;
  int32_t priority_ = 0;
  std::vector<AffinityTerm> required_affinity_terms_;
  std::vector<AffinityTerm> required_anti_affinity_terms_;
  std::vector<WeightedAffinityTerm> preferred_affinity_terms_;
  std::vector<WeightedAffinityTerm> preferred_anti_affinity_terms_;
  std::string parse_error_;
  Resource requests_;
  int64_t non_zero_milli_cpu_ = 0;
  int64_t non_zero_memory_ = 0;
  std::vector<HostPort> host_ports_;
};

}  // namespace berth::framework
