// Admission: what the API server's admission plugins do to a pod before it is stored, as far as scheduling sees
// it: Priority, LimitRanger, DefaultTolerationSeconds and RuntimeClass. ResourceQuotas are enforced later, over all
// pods (quotas.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "api/policy.h"
#include "input/cluster_draft.h"
#include "input/limit_ranges.h"

namespace berth::input {

// Copies what it needs from the draft, which may change afterwards.
class Admission {
 public:
  explicit Admission(const ClusterDraft& draft);

  // Called with the path of a field of the pod and what is wrong with it; the text includes the path.
  using Report = std::function<void(std::string path, std::string text)>;

  // For a pod that no API server has seen; its defaults (defaults.h) must already be set.
  api::Pod Admit(api::Pod pod, const Report& report) const;
  // Most pods from a cluster have a priority, and keep it.
  bool LacksPriority(const api::Pod& pod) const;
  void SetPriority(api::Pod& pod, const Report& report) const;

 private:
  void ApplyRuntimeClass(api::Pod& pod, const Report& report) const;
  // The class of that name; for an empty name the default class, the lowest of several.
  std::optional<api::PriorityClass> FindPriorityClass(const std::string& name) const;

  std::map<std::string, std::shared_ptr<const api::PriorityClass>> priority_classes_;
  std::map<std::string, std::shared_ptr<const api::RuntimeClass>> runtime_classes_;
  std::map<Symbol, std::vector<LimitRangePtr>> limit_ranges_;  // by namespace
};

// Admits every new pod of the draft, and reports pods whose node does not exist.
void AdmitPods(const Admission& admission, ClusterDraft& draft);

}  // namespace berth::input
