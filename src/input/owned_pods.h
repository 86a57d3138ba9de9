// OwnedPods: which pods of the input belong to which workload: by owner reference, or by selector for pods without a
// controller, since controllers adopt those. A pod belongs to one workload.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "api/selector.h"
#include "api/workload.h"
#include "input/cluster_draft.h"

namespace berth::input {

// The Deployment whose ReplicaSet made the pod, derived from the set's name; empty when the name does not match.
std::string DeploymentOf(const api::Pod& pod);

// The workload as users know it: "Deployment shop/web" for a ReplicaSet's pod; "" for a pod without a controller.
std::string WorkloadOf(const api::Pod& pod);

// Whether the reference is to that object; a UID that either side leaves out is not compared.
bool RefersTo(const api::OwnerReference& owner, const api::Object& object);

class OwnedPods {
 public:
  // Indexes the pods in the draft; none may be removed while this is in use.
  explicit OwnedPods(const ClusterDraft& draft);

  // Indices in the draft, ascending. Pods that the workload adopts belong to it from now on.
  std::vector<size_t> Claim(const api::Object& workload, const api::Selector& selector);
  // For a Deployment: the pods whose ReplicaSet is not in the draft. Such a set is named after its Deployment and the
  // hash on its pods.
  std::vector<size_t> ClaimOfAbsentSets(const api::Deployment& deployment, const api::Selector& selector) const;

 private:
  void Adopt(std::vector<size_t>& orphans, const api::Selector& selector, std::vector<size_t>& claimed);

  using LabelKey = std::pair<Symbol, std::pair<Symbol, Symbol>>;  // namespace, label, value

  const ClusterDraft& draft_;
  std::unordered_map<std::string, std::vector<size_t>> by_owner_;       // "Kind namespace/name"
  std::unordered_map<std::string, std::vector<size_t>> by_deployment_;  // "namespace/name", derived from the set's name
  std::map<Symbol, std::vector<size_t>> orphans_;                       // by namespace
  std::map<LabelKey, std::vector<size_t>> labelled_orphans_;
  std::vector<bool> taken_;
};

}  // namespace berth::input
