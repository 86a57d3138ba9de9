// Whether the API server would let a pod and its claims be created: the namespace may be going away, or have used up
// what its ResourceQuotas allow. What pods of the input ask for already is counted; a quota's status is not needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/pod.h"
#include "api/volume.h"
#include "input/cluster_draft.h"

namespace berth::input {

struct RefusedPod {
  std::shared_ptr<const api::Pod> pod;
  std::string message;  // in the API server's words
};

// What the namespaces of a cluster allow, and what their pods take of it. Not thread-safe.
class NamespaceRules {
 public:
  NamespaceRules();
  ~NamespaceRules();
  NamespaceRules(NamespaceRules&&) noexcept;
  NamespaceRules& operator=(NamespaceRules&&) noexcept;

  // Quotas and namespaces count; whatever else it is is passed over.
  void Add(const api::Object& object);
  // Whether the namespace of the pod has any rule.
  bool Concerns(const api::Pod& pod) const;

  // A pod that is there already.
  void Charge(const api::Pod& pod);
  // One that is gone.
  void Release(const api::Pod& pod);
  // Charges a pod that is to be created, or says why it may not be.
  std::string Admit(const api::Pod& pod);
  // The same for claims.
  void Charge(const api::PersistentVolumeClaim& claim);
  std::string Admit(const api::PersistentVolumeClaim& claim);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The rules of a cluster, with all its pods charged.
NamespaceRules RulesOf(const std::vector<api::Object>& objects);

// Takes refused pods out of the draft. Pods of rollouts come later, when older ones have gone, and are not in it.
std::vector<RefusedPod> RefusePods(ClusterDraft& draft);

// Asked for one pod after the other: empty, and the pod is charged, or why it may not be created.
using CreationGate = std::function<std::string(const api::Pod& pod)>;

}  // namespace berth::input
