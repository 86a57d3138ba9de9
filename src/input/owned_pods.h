// OwnedPods: which pods of the input belong to which workload: by owner reference, or by selector where a pod has no
// controller, as controllers adopt such pods. A pod belongs to one workload.
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

// The Deployment whose ReplicaSet made the pod, by the set's name; empty when it does not look like that.
std::string DeploymentOf(const api::Pod& pod);

// The workload as people know it: "Deployment shop/web" of a ReplicaSet's pod; "" of a pod without a controller.
std::string WorkloadOf(const api::Pod& pod);

// Whether the reference is to that object; a UID that either side leaves out is no difference.
bool RefersTo(const api::OwnerReference& owner, const api::Object& object);

class OwnedPods {
 public:
  // Looks at the pods that are in the draft now; none may be removed while this is in use.
  explicit OwnedPods(const ClusterDraft& draft);

  // Places in the draft, ascending. Pods that it adopts are its own from now on.
  std::vector<size_t> Claim(const api::Object& workload, const api::Selector& selector);
  // Of a Deployment: those whose ReplicaSet is not in the draft. Such a set is called after its Deployment and the hash
  // that its pods carry.
  std::vector<size_t> ClaimOfAbsentSets(const api::Deployment& deployment, const api::Selector& selector) const;

 private:
  void Adopt(std::vector<size_t>& orphans, const api::Selector& selector, std::vector<size_t>& claimed);

  using LabelKey = std::pair<Symbol, std::pair<Symbol, Symbol>>;  // namespace, label, value

  const ClusterDraft& draft_;
  std::unordered_map<std::string, std::vector<size_t>> by_owner_;       // "Kind namespace/name"
  std::unordered_map<std::string, std::vector<size_t>> by_deployment_;  // "namespace/name", by the name of the set
  std::map<Symbol, std::vector<size_t>> orphans_;                       // by namespace
  std::map<LabelKey, std::vector<size_t>> labelled_orphans_;
  std::vector<bool> taken_;
};

}  // namespace berth::input
