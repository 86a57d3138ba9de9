#include "input/owned_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "input/pod_prototype.h"

namespace berth::input {

namespace {

std::string OwnerKey(std::string_view kind, const Symbol& name_space, std::string_view name) {
  return fmt::format("{} {}/{}", kind, name_space.str(), name);
}

// A label that the selector requires, to narrow the search; null when it requires none.
const api::Requirement* Narrowest(const api::Selector& selector) {
  for (const api::Requirement& requirement : selector.requirements()) {
    using Operator = api::Requirement::Operator;
    const bool equals = requirement.op() == Operator::kIn || requirement.op() == Operator::kEquals;
    if (equals && requirement.values().size() == 1) return &requirement;
  }
  return nullptr;
}

}  // namespace

bool RefersTo(const api::OwnerReference& owner, const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  return owner.kind == object.info().name && owner.name == metadata.name &&
         (owner.uid.empty() || metadata.uid.empty() || owner.uid == metadata.uid);
}

std::string DeploymentOf(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  const Symbol* hash = pod.metadata.labels.Find(Symbol(kPodTemplateHash));
  if (!owner || owner->kind != "ReplicaSet" || !hash || hash->empty()) return {};
  const std::string suffix = fmt::format("-{}", hash->str());
  if (!owner->name.ends_with(suffix)) return {};
  return owner->name.substr(0, owner->name.size() - suffix.size());
}

std::string WorkloadOf(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  if (!owner) return {};
  const std::string deployment = DeploymentOf(pod);
  return deployment.empty() ? OwnerKey(owner->kind, pod.metadata.namespace_, owner->name)
                            : OwnerKey("Deployment", pod.metadata.namespace_, deployment);
}

OwnedPods::OwnedPods(const ClusterDraft& draft) : draft_(draft), taken_(draft.objects().size()) {
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const api::Pod* pod = draft.objects()[i].object.As<api::Pod>();
    if (!pod) continue;
    const Symbol& name_space = pod->metadata.namespace_;
    if (const api::OwnerReference* owner = api::ControllerOf(pod->metadata)) {
      by_owner_[OwnerKey(owner->kind, name_space, owner->name)].push_back(i);
      if (const std::string deployment = DeploymentOf(*pod); !deployment.empty()) {
        by_deployment_[fmt::format("{}/{}", name_space.str(), deployment)].push_back(i);
      }
      continue;
    }
    orphans_[name_space].push_back(i);
    for (const auto& [key, value] : pod->metadata.labels) {
      labelled_orphans_[{name_space, {key, value}}].push_back(i);
    }
  }
}

std::vector<size_t> OwnedPods::Claim(const api::Object& workload, const api::Selector& selector) {
  std::vector<size_t> claimed;
  const api::ObjectMeta& metadata = workload.metadata();
  const auto owned = by_owner_.find(OwnerKey(workload.info().name, metadata.namespace_, metadata.name));
  if (owned != by_owner_.end()) {
    std::copy_if(owned->second.begin(), owned->second.end(), std::back_inserter(claimed), [&](size_t i) {
      return RefersTo(*api::ControllerOf(draft_.objects()[i].object.metadata()), workload);
    });
  }
  if (selector.empty() || selector.matches_nothing()) return claimed;
  if (const api::Requirement* label = Narrowest(selector)) {
    const auto found = labelled_orphans_.find({metadata.namespace_, {label->key(), label->values().front()}});
    if (found != labelled_orphans_.end()) Adopt(found->second, selector, claimed);
  } else {
    Adopt(orphans_[metadata.namespace_], selector, claimed);
  }
  std::sort(claimed.begin(), claimed.end());
  return claimed;
}

std::vector<size_t> OwnedPods::ClaimOfAbsentSets(const api::Deployment& deployment,
                                                 const api::Selector& selector) const {
  std::vector<size_t> claimed;
  const auto found = by_deployment_.find(api::KeyOf(deployment.metadata));
  if (found == by_deployment_.end()) return claimed;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(claimed), [&](size_t i) {
    const api::ObjectMeta& metadata = draft_.objects()[i].object.metadata();
    const std::string set = fmt::format("{}/{}", metadata.namespace_.str(), api::ControllerOf(metadata)->name);
    return selector.Matches(metadata.labels) && !draft_.Find(api::Kind::kReplicaSet, set);
  });
  return claimed;
}

void OwnedPods::Adopt(std::vector<size_t>& orphans, const api::Selector& selector, std::vector<size_t>& claimed) {
  std::erase_if(orphans, [&](size_t i) {
    if (taken_[i]) return true;
    if (!selector.Matches(draft_.objects()[i].object.metadata().labels)) return false;
    taken_[i] = true;
    claimed.push_back(i);
    return true;
  });
}

}  // namespace berth::input
