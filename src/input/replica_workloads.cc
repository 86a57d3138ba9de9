// Deployments, ReplicaSets, ReplicationControllers and StatefulSets.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "input/defaults.h"
#include "input/pod_prototype.h"
#include "input/template_match.h"
#include "input/workload_expander.h"

namespace berth::input {

void WorkloadExpander::Expand(const DraftObject& workload, const api::Deployment& deployment) {
  const api::PodTemplateSpec& pod_template = deployment.spec.pod_template;
  const api::Selector selector = Compiled(deployment.spec.selector, pod_template.metadata.labels);
  std::vector<DraftObject> sets;
  for (const DraftObject& found : replica_sets_) {
    const auto& set = *found.object.As<api::ReplicaSet>();
    if (set.metadata.namespace_ == deployment.metadata.namespace_ && Owns(workload.object, selector, set)) {
      sets.push_back(found);
    }
  }
  const bool never_rolled_out = workload.recreated || DiffersUnseen(workload);
  const DraftObject* current_set = never_rolled_out ? nullptr : SetOfTemplate(pod_template, sets);
  std::vector<size_t> loose = pods_.Claim(workload.object, selector);
  const std::vector<size_t> of_absent = pods_.ClaimOfAbsentSets(deployment, selector);
  loose.insert(loose.end(), of_absent.begin(), of_absent.end());
  Members members = Split(workload, pod_template, Active(std::move(loose)));
  for (const DraftObject& set : sets) {
    scaled_by_others_.insert(set.Who());
    const bool is_old = current_set != &set && !pod_template.spec.containers.empty();
    const std::vector<size_t> more = Active(pods_.Claim(set.object, api::Selector::Nothing()));
    std::vector<size_t>& place = is_old ? members.old : members.current;
    place.insert(place.end(), more.begin(), more.end());
  }
  NoteUnseen(workload, members);
  std::optional<api::Pod> older;
  if (deployment.spec.paused && !ReplacesAtOnce(workload) && !members.old.empty())
    older = Likeness(PodAt(members.old.front()));
  if (deployment.spec.paused) KeepOld(workload, "it is paused", members);
  const size_t wanted = Wanted(workload, deployment.spec.replicas, members.current.size() + members.old.size());
  RemoveUnbound(members.old);
  DropSurplus(workload, deployment.spec.replicas.has_value(), members.current, wanted);
  const size_t missing = wanted - std::min(wanted, members.current.size());
  if (missing == 0 && members.old.empty()) return;
  if (older) return AddLike(workload, *older, missing);
  const api::Object set = current_set ? current_set->object : MakeSet(workload, deployment);
  std::vector<api::Pod> pods;
  if (missing > 0) {
    std::optional<api::Pod> prototype = Prototype(workload, set, set.As<api::ReplicaSet>()->spec.pod_template, missing);
    if (!prototype) return;
    pods = Numbered(workload, *prototype, set.metadata().name, missing);
  }
  if (members.old.empty() || ReplacesAtOnce(workload)) {
    if (!members.old.empty()) NoteReplaced(workload, members.old.size());
    Remove(members.old);
    for (api::Pod& pod : pods) PutPod(workload, std::move(pod));
    return;
  }
  SortForRemoval(members.old);
  Rollout rollout = MakeRollout(workload, members, std::move(pods));
  SetPace(deployment, wanted, rollout);
  AddRollout(std::move(rollout));
}

void WorkloadExpander::AddLike(const DraftObject& workload, const api::Pod& older, size_t count) {
  if (!MayMake(workload, count)) return;
  const api::OwnerReference* owner = api::ControllerOf(older.metadata);
  const std::string& base = owner ? owner->name : workload.object.metadata().name;
  for (api::Pod& pod : Numbered(workload, older, base, count)) PutPod(workload, std::move(pod));
}

bool WorkloadExpander::Owns(const api::Object& deployment, const api::Selector& selector, const api::ReplicaSet& set) {
  if (const api::OwnerReference* owner = api::ControllerOf(set.metadata)) return RefersTo(*owner, deployment);
  return !selector.empty() && selector.Matches(set.metadata.labels);
}

const DraftObject* WorkloadExpander::SetOfTemplate(const api::PodTemplateSpec& pod_template,
                                                   const std::vector<DraftObject>& sets) {
  const DraftObject* found = nullptr;
  for (const DraftObject& set : sets) {
    if (!SameTemplate(set.object.As<api::ReplicaSet>()->spec.pod_template, pod_template)) continue;
    if (!found || Revision(set.object) > Revision(found->object)) found = &set;
  }
  return found;
}

int64_t WorkloadExpander::Revision(const api::Object& set) {
  const std::string* text = set.metadata().annotations.Find("deployment.kubernetes.io/revision");
  return text ? std::atoll(text->c_str()) : 0;
}

api::Object WorkloadExpander::MakeSet(const DraftObject& workload, const api::Deployment& deployment) {
  const std::string hash = TemplateHash(deployment.spec.pod_template);
  api::ReplicaSet set;
  set.metadata.name = fmt::format("{}-{}", deployment.metadata.name, hash);
  set.metadata.namespace_ = deployment.metadata.namespace_;
  set.metadata.labels = deployment.spec.pod_template.metadata.labels;
  set.metadata.owner_references = {ControllerReference(workload.object)};
  set.spec.replicas = deployment.spec.replicas;
  set.spec.selector = deployment.spec.selector;
  if (!set.spec.selector) {
    set.spec.selector =
        api::LabelSelector{.match_labels = deployment.spec.pod_template.metadata.labels, .match_expressions = {}};
  }
  set.spec.pod_template = deployment.spec.pod_template;
  for (api::Labels* labels :
       {&set.metadata.labels, &set.spec.selector->match_labels, &set.spec.pod_template.metadata.labels}) {
    labels->Set(Symbol(kPodTemplateHash), Symbol(hash));
  }
  const api::Object object = api::MakeObject(std::move(set));
  const DraftObject made{object, workload.origin};
  scaled_by_others_.insert(made.Who());
  if (!draft_.Find(api::Kind::kReplicaSet, api::KeyOf(object.metadata()))) draft_.Add(made);
  return object;
}

void WorkloadExpander::Expand(const DraftObject& workload, const api::ReplicaSet& set) {
  if (scaled_by_others_.contains(workload.Who())) return;
  const api::PodTemplateSpec& pod_template = set.spec.pod_template;
  ExpandReplicas(workload, set.spec.replicas, Compiled(set.spec.selector, pod_template.metadata.labels), pod_template);
}

void WorkloadExpander::Expand(const DraftObject& workload, const api::ReplicationController& controller) {
  const api::PodTemplateSpec pod_template = controller.spec.pod_template.value_or(api::PodTemplateSpec{});
  const api::Labels& labels =
      controller.spec.selector.empty() ? pod_template.metadata.labels : controller.spec.selector;
  ExpandReplicas(workload, controller.spec.replicas,
                 labels.empty() ? api::Selector::Nothing() : api::Selector::FromLabels(labels), pod_template);
}

void WorkloadExpander::ExpandReplicas(const DraftObject& workload, const std::optional<int32_t>& replicas,
                                      const api::Selector& selector, const api::PodTemplateSpec& pod_template) {
  Members members = Split(workload, pod_template, Active(pods_.Claim(workload.object, selector)));
  KeepOld(workload, fmt::format("a {} does not replace its pods", workload.object.info().name), members);
  const size_t wanted = Wanted(workload, replicas, members.current.size() + members.old.size());
  DropSurplus(workload, replicas.has_value(), members.current, wanted);
  if (!members.old.empty()) NoteReplaced(workload, members.old.size());
  Remove(members.old);
  if (members.current.size() >= wanted) return;
  const size_t missing = wanted - members.current.size();
  std::optional<api::Pod> prototype = Prototype(workload, workload.object, pod_template, missing);
  if (!prototype) return;
  for (api::Pod& pod : Numbered(workload, *prototype, workload.object.metadata().name, missing)) {
    PutPod(workload, std::move(pod));
  }
}

void WorkloadExpander::Expand(const DraftObject& workload, const api::StatefulSet& set) {
  const std::string& name = set.metadata.name;
  const api::Selector selector = Compiled(set.spec.selector, set.spec.pod_template.metadata.labels);
  std::vector<size_t> pods = pods_.Claim(workload.object, selector);
  // The controller deletes a pod that has ended, and creates it again under the same name.
  std::erase_if(pods, [&](size_t i) { return api::IsTerminated(PodAt(i)); });
  const int64_t first = set.spec.ordinals ? std::max(set.spec.ordinals->start, 0) : 0;
  const size_t wanted = Wanted(workload, set.spec.replicas, pods.size());
  const int64_t end = first + static_cast<int64_t>(wanted);
  std::set<std::string> present;
  for (const size_t i : pods) present.insert(PodAt(i).metadata.name);
  if (options_.exact.contains(workload.Who()) || (workload.is_new && set.spec.replicas)) {
    DropOrdinals(workload, name, end, present);
  }
  Members members = Split(workload, set.spec.pod_template, std::move(pods));
  NoteUnseen(workload, members);
  const std::map<int64_t, size_t> old = OldOrdinals(workload, set, first, end, members);
  std::vector<int64_t> missing;
  // For a number that is refused below, this many are enough.
  for (int64_t ordinal = first; ordinal < end && missing.size() <= options_.most_pods; ++ordinal) {
    if (!present.contains(fmt::format("{}-{}", name, ordinal))) missing.push_back(ordinal);
  }
  if (missing.empty() && old.empty()) return;
  std::optional<api::Pod> prototype =
      Prototype(workload, workload.object, set.spec.pod_template, missing.size() + old.size());
  if (!prototype) return;
  prototype->metadata.labels.Set(Symbol("controller-revision-hash"),
                                 Symbol(fmt::format("{}-{}", name, TemplateHash(set.spec.pod_template))));
  std::vector<std::string> made;  // of the newer template, created without waiting
  const bool at_once = ReplacesAtOnce(workload);
  const std::optional<api::Pod> older = at_once ? std::nullopt : OlderBelowPartition(set, members);
  for (const int64_t ordinal : missing) {
    const bool below = older && ordinal < PartitionOf(set);
    api::Pod pod = Ordinal(workload, set, below ? *older : *prototype, ordinal);
    if (!below) made.push_back(pod.metadata.uid);
    PutPod(workload, std::move(pod));
  }
  if (at_once && !old.empty()) NoteReplaced(workload, old.size());
  Members turned{std::move(members.current), {}};
  std::vector<api::Pod> updated;
  // From the highest ordinal down, each replacing the older pod of the same ordinal.
  for (auto it = old.rbegin(); it != old.rend(); ++it) {
    api::Pod pod = Ordinal(workload, set, *prototype, it->first);
    if (at_once || PodAt(it->second).spec.node_name.empty()) {
      made.push_back(pod.metadata.uid);
      PutPod(workload, std::move(pod));
      continue;
    }
    turned.old.push_back(it->second);
    updated.push_back(std::move(pod));
  }
  if (turned.old.empty()) return;
  Rollout rollout = MakeRollout(workload, turned, std::move(updated));
  SetPace(set, wanted, rollout);
  AddInTurn(std::move(rollout), made);
}

int64_t WorkloadExpander::PartitionOf(const api::StatefulSet& set) {
  const auto strategy = set.spec.update_strategy.value_or(api::StatefulSetUpdateStrategy{});
  return strategy.rolling_update ? strategy.rolling_update->partition.value_or(0) : 0;
}

std::optional<api::Pod> WorkloadExpander::OlderBelowPartition(const api::StatefulSet& set,
                                                              const Members& members) const {
  if (PartitionOf(set) == 0 || members.old.empty()) return std::nullopt;
  return Likeness(PodAt(members.old.front()));
}

std::map<int64_t, size_t> WorkloadExpander::OldOrdinals(const DraftObject& workload, const api::StatefulSet& set,
                                                        int64_t first, int64_t end, Members& members) {
  const auto strategy = set.spec.update_strategy.value_or(api::StatefulSetUpdateStrategy{});
  if (strategy.type == "OnDelete") KeepOld(workload, "updateStrategy is OnDelete", members);
  const int64_t partition = PartitionOf(set);
  std::map<int64_t, size_t> old;
  size_t kept = 0;
  for (const size_t i : members.old) {
    const std::string& pod = PodAt(i).metadata.name;
    if (!pod.starts_with(set.metadata.name + "-")) continue;
    const int64_t ordinal = std::atoll(pod.c_str() + set.metadata.name.size() + 1);
    if (ordinal < first || ordinal >= end) continue;
    if (ordinal < partition && !ReplacesAtOnce(workload)) {
      ++kept;
    } else {
      old.emplace(ordinal, i);
    }
  }
  if (kept > 0) {
    draft_.Note(fmt::format("{}: {} pod{} the older template, below partition {}", workload.Who(), kept,
                            kept == 1 ? " keeps" : "s keep", partition));
  }
  return old;
}

void WorkloadExpander::DropOrdinals(const DraftObject& workload, const std::string& name, int64_t end,
                                    const std::set<std::string>& present) {
  for (const std::string& pod : present) {
    if (!pod.starts_with(name + "-") || std::atoll(pod.c_str() + name.size() + 1) < end) continue;
    surplus_.insert(fmt::format("Pod {}/{}", workload.object.metadata().namespace_.str(), pod));
  }
}

api::Pod WorkloadExpander::Ordinal(const DraftObject& workload, const api::StatefulSet& set, const api::Pod& prototype,
                                   int64_t ordinal) {
  api::Pod pod = Named(prototype, fmt::format("{}-{}", set.metadata.name, ordinal));
  pod.metadata.labels.Set(Symbol("statefulset.kubernetes.io/pod-name"), Symbol(pod.metadata.name));
  pod.metadata.labels.Set(Symbol("apps.kubernetes.io/pod-index"), Symbol(std::to_string(ordinal)));
  for (const api::PersistentVolumeClaim& claim_template : set.spec.volume_claim_templates) {
    const std::string claim = fmt::format("{}-{}", claim_template.metadata.name, pod.metadata.name);
    std::erase_if(pod.spec.volumes,
                  [&](const api::Volume& volume) { return volume.name == claim_template.metadata.name; });
    auto source = std::make_shared<api::VolumeSource>();
    source->persistent_volume_claim = api::PersistentVolumeClaimVolumeSource{claim, false};
    pod.spec.volumes.push_back({claim_template.metadata.name, std::move(source)});
    AddClaim(workload, set, claim_template, claim);
  }
  return pod;
}

void WorkloadExpander::AddClaim(const DraftObject& workload, const api::StatefulSet& set,
                                const api::PersistentVolumeClaim& from, const std::string& name) {
  if (IsNameTaken(workload, api::Kind::kPersistentVolumeClaim, name)) return;
  api::PersistentVolumeClaim claim = from;
  claim.metadata.name = name;
  claim.metadata.namespace_ = set.metadata.namespace_;
  claim.metadata.uid.clear();
  if (set.spec.selector) {
    for (const auto& [key, value] : set.spec.selector->match_labels) claim.metadata.labels.Set(key, value);
  }
  draft_.Add({.object = WithDefaults(api::MakeObject(std::move(claim))), .origin = workload.origin, .is_new = true});
}

}  // namespace berth::input
