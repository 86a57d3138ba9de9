#include "input/given_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/node.h"
#include "api/policy.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "api/workload.h"
#include "codec/json_writer.h"
#include "input/field_checks.h"
#include "input/template_match.h"

namespace berth::input {

namespace {

// Labels that the API server adds to a Job's template.
constexpr const char* kJobLabels[] = {"batch.kubernetes.io/job-name", "job-name", "batch.kubernetes.io/controller-uid",
                                      "controller-uid"};

std::string TextOf(const std::optional<api::LabelSelector>& selector) {
  if (!selector) return {};
  const Result<api::Selector> compiled = api::Selector::Compile(*selector);
  return compiled ? compiled->ToString() : "";
}

class Changes {
 public:
  void Immutable(const std::string& path, bool changed) {
    if (changed) checks_.Add(path, "field is immutable: the API server refuses to change it");
  }
  std::vector<FieldProblem> Take() { return checks_.Take(); }

 private:
  FieldChecks checks_;
};

// A missing selector is reported elsewhere, or is set by the API server.
void Compare(const std::optional<api::LabelSelector>& before, const std::optional<api::LabelSelector>& after,
             Changes& changes) {
  changes.Immutable("spec.selector", after && TextOf(before) != TextOf(after));
}

void Compare(const api::Deployment& before, const api::Deployment& after, Changes& changes) {
  Compare(before.spec.selector, after.spec.selector, changes);
}
void Compare(const api::ReplicaSet& before, const api::ReplicaSet& after, Changes& changes) {
  Compare(before.spec.selector, after.spec.selector, changes);
}
void Compare(const api::DaemonSet& before, const api::DaemonSet& after, Changes& changes) {
  Compare(before.spec.selector, after.spec.selector, changes);
}

// The fields of a claim template that people write; the rest are the API server's defaults.
std::string TextOf(const std::vector<api::PersistentVolumeClaim>& claims) {
  std::string text;
  for (const api::PersistentVolumeClaim& claim : claims) {
    text += fmt::format("{} {} {}", claim.metadata.name, claim.spec.storage_class_name.value_or(""),
                        fmt::join(claim.spec.access_modes, ","));
    for (const auto& [name, amount] : claim.spec.resources.requests) {
      text += fmt::format(" {} {}", name.str(), amount.Value());
    }
    text += "\n";
  }
  return text;
}

void Compare(const api::StatefulSet& before, const api::StatefulSet& after, Changes& changes) {
  Compare(before.spec.selector, after.spec.selector, changes);
  changes.Immutable("spec.serviceName", before.spec.service_name != after.spec.service_name);
  changes.Immutable("spec.volumeClaimTemplates",
                    TextOf(before.spec.volume_claim_templates) != TextOf(after.spec.volume_claim_templates));
}

api::PodTemplateSpec WithoutJobLabels(api::PodTemplateSpec pod_template) {
  for (const char* label : kJobLabels) pod_template.metadata.labels.Erase(Symbol(label));
  return pod_template;
}

void Compare(const api::Job& before, const api::Job& after, Changes& changes) {
  const bool indexed = before.spec.completion_mode.value_or("NonIndexed") == "Indexed";
  const auto completions = [](const api::Job& job) {
    return job.spec.completions.value_or(job.spec.parallelism ? -1 : 1);
  };
  changes.Immutable("spec.completions", !indexed && completions(before) != completions(after));
  changes.Immutable("spec.completionMode", before.spec.completion_mode.value_or("NonIndexed") !=
                                               after.spec.completion_mode.value_or("NonIndexed"));
  // The scheduling directives of a suspended Job may still change.
  changes.Immutable("spec.template",
                    !before.spec.suspend.value_or(false) && !SameTemplate(WithoutJobLabels(before.spec.pod_template),
                                                                          WithoutJobLabels(after.spec.pod_template)));
}

void Compare(const api::PersistentVolumeClaim& before, const api::PersistentVolumeClaim& after, Changes& changes) {
  changes.Immutable("spec.accessModes", before.spec.access_modes != after.spec.access_modes);
  changes.Immutable("spec.storageClassName",
                    before.spec.storage_class_name && before.spec.storage_class_name != after.spec.storage_class_name);
  changes.Immutable("spec.volumeName",
                    !before.spec.volume_name.empty() && before.spec.volume_name != after.spec.volume_name);
}

void Compare(const api::StorageClass& before, const api::StorageClass& after, Changes& changes) {
  changes.Immutable("provisioner", before.provisioner != after.provisioner);
  changes.Immutable("volumeBindingMode", before.volume_binding_mode.value_or("Immediate") !=
                                             after.volume_binding_mode.value_or("Immediate"));
}

void Compare(const api::PriorityClass& before, const api::PriorityClass& after, Changes& changes) {
  changes.Immutable("value", before.value != after.value);
  changes.Immutable("preemptionPolicy", before.preemption_policy.value_or("PreemptLowerPriority") !=
                                            after.preemption_policy.value_or("PreemptLowerPriority"));
}

void Compare(const api::ResourceClaim& before, const api::ResourceClaim& after, Changes& changes) {
  changes.Immutable("spec", codec::EncodeJson(before.spec) != codec::EncodeJson(after.spec));
}
void Compare(const api::ResourceClaimTemplate& before, const api::ResourceClaimTemplate& after, Changes& changes) {
  changes.Immutable("spec", codec::EncodeJson(before.spec) != codec::EncodeJson(after.spec));
}

template <class... T>
void CompareAs(const api::Object& before, const api::Object& after, Changes& changes) {
  const auto compare = [&]<class Kind>(const Kind* earlier, const Kind* later) {
    if (earlier && later) Compare(*earlier, *later, changes);
  };
  (..., compare(before.As<T>(), after.As<T>()));
}

// These tools delete the object before they create it again.
bool IsHook(const api::ObjectMeta& metadata) {
  return metadata.annotations.Contains("helm.sh/hook") || metadata.annotations.Contains("argocd.argoproj.io/hook");
}

// Images are the only part of a running pod that may change.
api::Pod WithImages(api::Pod pod, const api::Pod& from) {
  const auto take = [](std::vector<api::Container>& containers, const std::vector<api::Container>& wanted) {
    for (api::Container& container : containers) {
      for (const api::Container& other : wanted) {
        if (other.name == container.name) container.image = other.image;
      }
    }
  };
  take(pod.spec.containers, from.spec.containers);
  take(pod.spec.init_containers, from.spec.init_containers);
  return pod;
}

// A pod given again with at most other images stays on its node. The API server rejects any other change to it.
void SettlePod(const Admission& admission, size_t index, const DraftObject& earlier, bool recreate,
               ClusterDraft& draft) {
  const DraftObject found = draft.objects()[index];
  const api::Pod& before = *earlier.object.As<api::Pod>();
  const api::Pod& wanted = *found.object.As<api::Pod>();
  const api::Pod admitted = admission.Admit(wanted, [](const std::string&, const std::string&) {});
  api::Pod updated = WithImages(before, wanted);
  const bool same_node = wanted.spec.node_name.empty() || wanted.spec.node_name == before.spec.node_name;
  if (same_node && IsOfTemplate(updated, admitted)) {
    return draft.Restore(index, api::MakeObject(std::move(updated)), earlier.is_new);
  }
  if (recreate || earlier.is_new || api::IsTerminated(before)) return;
  draft.Problem(found, "spec",
                "spec: field is immutable: of a pod that exists, the API server lets only images change; --replace "
                "stands for deleting it first");
}

}  // namespace

void CheckChanges(const Admission& admission, bool replace, ClusterDraft& draft) {
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const DraftObject found = draft.objects()[i];
    const DraftObject* before = draft.Replaced(found);
    if (!before || !found.is_new) continue;
    const bool hook = IsHook(found.object.metadata());
    if (found.object.kind() == api::Kind::kPod) {
      SettlePod(admission, i, DraftObject(*before), replace || hook, draft);
      continue;
    }
    if (before->is_new) continue;  // not in the cluster yet
    Changes changes;
    CompareAs<api::Deployment, api::ReplicaSet, api::DaemonSet, api::StatefulSet, api::Job, api::PersistentVolumeClaim,
              api::StorageClass, api::PriorityClass, api::ResourceClaim, api::ResourceClaimTemplate>(
        before->object, found.object, changes);
    const std::vector<FieldProblem> forbidden = changes.Take();
    if (hook || (replace && !forbidden.empty())) {
      draft.MarkRecreated(i);
      continue;
    }
    for (const FieldProblem& problem : forbidden) {
      draft.Problem(found, problem.path, problem.ToString() + "; --replace stands for deleting the object first");
    }
  }
}

void WarnOfUnknownNamespaces(ClusterDraft& draft) {
  std::set<std::string_view> known = {"default", "kube-system", "kube-public", "kube-node-lease"};
  bool dumped = false;
  for (const DraftObject& found : draft.objects()) {
    if (found.object.kind() != api::Kind::kNamespace) continue;
    dumped = dumped || !found.is_new;
    known.insert(found.object.metadata().name);
  }
  if (!dumped) return;
  std::map<std::string, size_t> unknown;  // the first object of each
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const DraftObject& found = draft.objects()[i];
    const std::string_view name_space = found.object.metadata().namespace_.str();
    if (!found.is_new || name_space.empty() || known.contains(name_space)) continue;
    unknown.emplace(std::string(name_space), i);
  }
  for (const auto& [name_space, first] : unknown) {
    draft.Warn(DraftObject(draft.objects()[first]), "metadata.namespace",
               fmt::format("namespace \"{}\" is not in the cluster: unless somebody creates it first, the API server "
                           "refuses what is in it",
                           name_space));
  }
}

}  // namespace berth::input
