// Whether the API server would let a pod and its claims be created: the namespace may be terminating, or its
// ResourceQuotas used up. The requests of the input's pods are counted; a quota's status is not needed.
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

// The rules of a cluster's namespaces, and what their pods use. Not thread-safe.
class NamespaceRules {
 public:
  NamespaceRules();
  ~NamespaceRules();
  NamespaceRules(NamespaceRules&&) noexcept;
  NamespaceRules& operator=(NamespaceRules&&) noexcept;

  // Adds a quota or a namespace; other objects are ignored.
  void Add(const api::Object& object);
  // Whether the namespace of the pod has any rule.
  bool Concerns(const api::Pod& pod) const;

  // Charges an existing pod.
  void Charge(const api::Pod& pod);
  // Undoes Charge for a pod that is gone.
  void Release(const api::Pod& pod);
  // Charges a pod to be created, or returns why it must not be.
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

// Removes refused pods from the draft. Pods of rollouts are not in it; they are created later, when older ones have
// gone.
std::vector<RefusedPod> RefusePods(ClusterDraft& draft);

// Called for one pod after another: returns an empty text and charges the pod, or returns why it must not be created.
using CreationGate = std::function<std::string(const api::Pod& pod)>;

}  // namespace berth::input
