#include "input/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/node.h"
#include "api/workload.h"
#include "input/daemon_nodes.h"
#include "input/defaults.h"
#include "input/job_indexes.h"
#include "input/owned_pods.h"
#include "input/pod_prototype.h"

namespace berth::input {

namespace {

// What counts as one of the wanted: a pod that has ended or is being deleted does not.
bool IsActive(const api::Pod& pod) { return !api::IsTerminated(pod) && !pod.metadata.deletion_timestamp; }

size_t Wanted(const std::optional<int32_t>& replicas) { return static_cast<size_t>(std::max(replicas.value_or(1), 0)); }

api::Selector Compiled(const std::optional<api::LabelSelector>& selector, const api::Labels& template_labels) {
  if (!selector) return template_labels.empty() ? api::Selector::Nothing() : api::Selector::FromLabels(template_labels);
  Result<api::Selector> compiled = api::Selector::Compile(*selector);
  return compiled ? std::move(*compiled) : api::Selector::Nothing();  // told elsewhere
}

bool IsWorkload(api::Kind kind) {
  switch (kind) {
    case api::Kind::kDeployment:
    case api::Kind::kReplicaSet:
    case api::Kind::kReplicationController:
    case api::Kind::kStatefulSet:
    case api::Kind::kDaemonSet:
    case api::Kind::kJob:
      return true;
    default:
      return false;
  }
}

class Expander {
 public:
  Expander(const Admission& admission, const std::set<std::string>& exact, size_t most_pods, ClusterDraft& draft)
      : admission_(admission), exact_(exact), most_pods_(most_pods), draft_(draft), pods_(draft) {
    for (const DraftObject& found : draft.objects()) {
      if (found.object.kind() == api::Kind::kReplicaSet) replica_sets_.push_back(found);
      if (found.object.kind() == api::Kind::kNode) nodes_.push_back(found.object.Share<api::Node>());
    }
  }

  void Run() {
    // By name, so that it does not matter in which order they were read. Deployments come first: the ReplicaSets that
    // they own are theirs to scale.
    std::vector<size_t> workloads;
    for (size_t i = 0; i < draft_.objects().size(); ++i) {
      if (IsWorkload(draft_.objects()[i].object.kind())) workloads.push_back(i);
    }
    std::sort(workloads.begin(), workloads.end(), [&](size_t a, size_t b) {
      return SortKey(draft_.objects()[a].object) < SortKey(draft_.objects()[b].object);
    });
    for (const size_t i : workloads) {
      // A copy: the draft grows while this goes on.
      const DraftObject workload = draft_.objects()[i];
      if (const auto* deployment = workload.object.As<api::Deployment>()) Expand(workload, *deployment);
      if (const auto* set = workload.object.As<api::ReplicaSet>()) Expand(workload, *set);
      if (const auto* controller = workload.object.As<api::ReplicationController>()) Expand(workload, *controller);
      if (const auto* set = workload.object.As<api::StatefulSet>()) Expand(workload, *set);
      if (const auto* set = workload.object.As<api::DaemonSet>()) Expand(workload, *set);
      if (const auto* job = workload.object.As<api::Job>()) Expand(workload, *job);
    }
    for (const auto& [kind, count] : without_template_) {
      draft_.Warn(fmt::format("{} {}{} without a pod template: the pods that are missing are not made", count, kind,
                              count == 1 ? "" : "s"));
    }
    draft_.RemoveIf([&](const DraftObject& found) { return surplus_.contains(found.Who()); });
  }

 private:
  static std::pair<bool, std::pair<std::string_view, std::string>> SortKey(const api::Object& object) {
    return {object.kind() != api::Kind::kDeployment, {object.info().name, api::KeyOf(object.metadata())}};
  }

  const api::Pod& PodAt(size_t i) const { return *draft_.objects()[i].object.As<api::Pod>(); }

  std::vector<size_t> Active(std::vector<size_t> pods) const {
    std::erase_if(pods, [&](size_t i) { return !IsActive(PodAt(i)); });
    return pods;
  }

  // The pod that all pods of the workload are made from; nothing, and that is told, when admission refuses it or there
  // would be too many.
  std::optional<api::Pod> Prototype(const DraftObject& workload, const api::Object& owner,
                                    const api::PodTemplateSpec& pod_template, size_t count) {
    if (pod_template.spec.containers.empty()) {
      ++without_template_[workload.object.info().name];
      return std::nullopt;
    }
    made_ += count;
    if (made_ > most_pods_) {
      draft_.Problem(
          workload, "spec.replicas",
          fmt::format("needs {} more pods, and {} are the most that workloads may need together", count, most_pods_));
      made_ -= count;
      return std::nullopt;
    }
    bool sound = true;
    api::Pod pod =
        admission_.Admit(MakePrototype(owner, pod_template), [&](const std::string& path, const std::string& text) {
          sound = false;
          draft_.Problem(workload, "spec.template." + path, "spec.template." + text);
        });
    if (!sound) return std::nullopt;
    return pod;
  }

  void AddPod(const DraftObject& workload, api::Pod pod) {
    draft_.Add({api::MakeObject(std::move(pod)), workload.origin});
  }

  bool IsNameTaken(const DraftObject& workload, api::Kind kind, const std::string& name) const {
    return draft_.Find(kind, fmt::format("{}/{}", workload.object.metadata().namespace_.str(), name)) != nullptr;
  }

  // Pods that differ in their number only.
  void AddNumbered(const DraftObject& workload, const api::Pod& prototype, const std::string& base, size_t count) {
    for (size_t number = 0; count > 0; ++number) {
      std::string name = fmt::format("{}-{}", base, number);
      if (IsNameTaken(workload, api::Kind::kPod, name)) continue;
      AddPod(workload, Named(prototype, std::move(name)));
      --count;
    }
  }

  // When somebody asked for fewer: those without a node go first, then the youngest.
  void DropSurplus(const DraftObject& workload, std::vector<size_t> active, size_t wanted) {
    if (active.size() <= wanted || !exact_.contains(workload.Who())) return;
    const auto rank = [&](size_t i) {
      const api::Pod& pod = PodAt(i);
      return std::tuple(!pod.spec.node_name.empty(),
                        -pod.metadata.creation_timestamp.value_or(base::Time::max()).time_since_epoch(), i);
    };
    std::sort(active.begin(), active.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
    active.resize(active.size() - wanted);
    for (const size_t i : active) surplus_.insert(draft_.objects()[i].Who());
  }

  void Expand(const DraftObject& workload, const api::Deployment& deployment) {
    const api::PodTemplateSpec& pod_template = deployment.spec.pod_template;
    const api::Selector selector = Compiled(deployment.spec.selector, pod_template.metadata.labels);
    std::vector<size_t> pods = pods_.Claim(workload.object, selector);
    std::vector<DraftObject> sets;
    for (const DraftObject& found : replica_sets_) {
      const auto& set = *found.object.As<api::ReplicaSet>();
      if (set.metadata.namespace_ == deployment.metadata.namespace_ && Owns(workload.object, selector, set)) {
        sets.push_back(found);
      }
    }
    for (const DraftObject& set : sets) {
      scaled_by_others_.insert(set.Who());
      const std::vector<size_t> more = pods_.Claim(set.object, api::Selector::Nothing());
      pods.insert(pods.end(), more.begin(), more.end());
    }
    const std::vector<size_t> active = Active(std::move(pods));
    const size_t wanted = Wanted(deployment.spec.replicas);
    DropSurplus(workload, active, wanted);
    if (active.size() >= wanted) return;
    const size_t missing = wanted - active.size();
    const api::Object set = CurrentSet(workload, deployment, sets);
    std::optional<api::Pod> prototype = Prototype(workload, set, set.As<api::ReplicaSet>()->spec.pod_template, missing);
    if (prototype) AddNumbered(workload, *prototype, set.metadata().name, missing);
  }

  static bool Owns(const api::Object& deployment, const api::Selector& selector, const api::ReplicaSet& set) {
    if (const api::OwnerReference* owner = api::ControllerOf(set.metadata)) return RefersTo(*owner, deployment);
    return !selector.empty() && selector.Matches(set.metadata.labels);
  }

  // The set that new pods belong to. One that no API server has seen before gets a set of its own unless its template
  // is that of a set; one that comes from a cluster has it there, and it is the last.
  api::Object CurrentSet(const DraftObject& workload, const api::Deployment& deployment,
                         const std::vector<DraftObject>& sets) {
    const std::string hash = TemplateHash(deployment.spec.pod_template);
    const DraftObject* last = nullptr;
    for (const DraftObject& set : sets) {
      if (TemplateHash(set.object.As<api::ReplicaSet>()->spec.pod_template) == hash) return set.object;
      if (!last || Revision(set.object) > Revision(last->object)) last = &set;
    }
    if (last && !workload.is_new) return last->object;
    return MakeSet(workload, deployment, hash);
  }

  static int64_t Revision(const api::Object& set) {
    const std::string* text = set.metadata().annotations.Find("deployment.kubernetes.io/revision");
    return text ? std::atoll(text->c_str()) : 0;
  }

  // In the cluster it would be there, and spreading by default looks at it.
  api::Object MakeSet(const DraftObject& workload, const api::Deployment& deployment, const std::string& hash) {
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

  void Expand(const DraftObject& workload, const api::ReplicaSet& set) {
    if (scaled_by_others_.contains(workload.Who())) return;
    const api::PodTemplateSpec& pod_template = set.spec.pod_template;
    ExpandReplicas(workload, set.spec.replicas, Compiled(set.spec.selector, pod_template.metadata.labels),
                   pod_template);
  }

  void Expand(const DraftObject& workload, const api::ReplicationController& controller) {
    const api::PodTemplateSpec pod_template = controller.spec.pod_template.value_or(api::PodTemplateSpec{});
    const api::Labels& labels =
        controller.spec.selector.empty() ? pod_template.metadata.labels : controller.spec.selector;
    ExpandReplicas(workload, controller.spec.replicas,
                   labels.empty() ? api::Selector::Nothing() : api::Selector::FromLabels(labels), pod_template);
  }

  void ExpandReplicas(const DraftObject& workload, const std::optional<int32_t>& replicas,
                      const api::Selector& selector, const api::PodTemplateSpec& pod_template) {
    const std::vector<size_t> active = Active(pods_.Claim(workload.object, selector));
    const size_t wanted = Wanted(replicas);
    DropSurplus(workload, active, wanted);
    if (active.size() >= wanted) return;
    const size_t missing = wanted - active.size();
    std::optional<api::Pod> prototype = Prototype(workload, workload.object, pod_template, missing);
    if (prototype) AddNumbered(workload, *prototype, workload.object.metadata().name, missing);
  }

  void Expand(const DraftObject& workload, const api::StatefulSet& set) {
    const std::string& name = set.metadata.name;
    const int64_t first = set.spec.ordinals ? std::max(set.spec.ordinals->start, 0) : 0;
    const int64_t end = first + static_cast<int64_t>(Wanted(set.spec.replicas));
    const api::Selector selector = Compiled(set.spec.selector, set.spec.pod_template.metadata.labels);
    std::set<std::string> present;
    for (const size_t i : pods_.Claim(workload.object, selector)) {
      const api::Pod& pod = PodAt(i);
      // The controller deletes a pod that has ended, and makes it again under its name.
      if (api::IsTerminated(pod)) continue;
      present.insert(pod.metadata.name);
    }
    if (exact_.contains(workload.Who())) DropOrdinals(workload, name, end, present);
    std::vector<int64_t> missing;
    // Of a number that is refused below, this many are enough to know.
    for (int64_t ordinal = first; ordinal < end && missing.size() <= most_pods_; ++ordinal) {
      if (!present.contains(fmt::format("{}-{}", name, ordinal))) missing.push_back(ordinal);
    }
    if (missing.empty()) return;
    std::optional<api::Pod> prototype = Prototype(workload, workload.object, set.spec.pod_template, missing.size());
    if (!prototype) return;
    prototype->metadata.labels.Set(Symbol("controller-revision-hash"),
                                   Symbol(fmt::format("{}-{}", name, TemplateHash(set.spec.pod_template))));
    for (const int64_t ordinal : missing) AddOrdinal(workload, set, *prototype, ordinal);
  }

  void DropOrdinals(const DraftObject& workload, const std::string& name, int64_t end,
                    const std::set<std::string>& present) {
    for (const std::string& pod : present) {
      if (!pod.starts_with(name + "-") || std::atoll(pod.c_str() + name.size() + 1) < end) continue;
      surplus_.insert(fmt::format("Pod {}/{}", workload.object.metadata().namespace_.str(), pod));
    }
  }

  void AddOrdinal(const DraftObject& workload, const api::StatefulSet& set, const api::Pod& prototype,
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
    const std::string key = api::KeyOf(pod.metadata);
    const DraftObject* old = draft_.Find(api::Kind::kPod, key);
    if (!old) return AddPod(workload, std::move(pod));
    draft_.Replace(static_cast<size_t>(old - draft_.objects().data()), api::MakeObject(std::move(pod)));
  }

  // Claims outlive their pods: one that is there is used again.
  void AddClaim(const DraftObject& workload, const api::StatefulSet& set, const api::PersistentVolumeClaim& from,
                const std::string& name) {
    if (IsNameTaken(workload, api::Kind::kPersistentVolumeClaim, name)) return;
    api::PersistentVolumeClaim claim = from;
    claim.metadata.name = name;
    claim.metadata.namespace_ = set.metadata.namespace_;
    claim.metadata.uid.clear();
    if (set.spec.selector) {
      for (const auto& [key, value] : set.spec.selector->match_labels) claim.metadata.labels.Set(key, value);
    }
    draft_.Add({WithDefaults(api::MakeObject(std::move(claim))), workload.origin});
  }

  void Expand(const DraftObject& workload, const api::DaemonSet& set) {
    const api::PodTemplateSpec daemon_template = WithDaemonTolerations(set.spec.pod_template);
    std::set<std::string> served;
    for (const size_t i :
         pods_.Claim(workload.object, Compiled(set.spec.selector, set.spec.pod_template.metadata.labels))) {
      if (!api::IsTerminated(PodAt(i))) served.insert(TargetNode(PodAt(i)));
    }
    std::set<std::string> nodes;
    for (const std::shared_ptr<const api::Node>& node : nodes_) {
      if (served.contains(node->metadata.name)) continue;
      if (ShouldRunDaemon(daemon_template.spec, *node)) nodes.insert(node->metadata.name);
    }
    if (nodes.empty()) return;
    std::optional<api::Pod> prototype = Prototype(workload, workload.object, daemon_template, nodes.size());
    if (!prototype) return;
    prototype->metadata.labels.Set(Symbol("controller-revision-hash"), Symbol(TemplateHash(set.spec.pod_template)));
    for (const std::string& node : nodes) {
      api::Pod pod = Named(*prototype, fmt::format("{}-{}", set.metadata.name, node));
      BindToNode(node, pod);
      if (!IsNameTaken(workload, api::Kind::kPod, pod.metadata.name)) AddPod(workload, std::move(pod));
    }
  }

  void Expand(const DraftObject& workload, const api::Job& job) {
    const std::vector<size_t> pods =
        pods_.Claim(workload.object, job.spec.selector ? Compiled(job.spec.selector, {}) : api::Selector::Nothing());
    std::vector<const api::Pod*> known;
    for (const size_t i : pods) known.push_back(&PodAt(i));
    const JobNeeds needs = NeedsOf(job, known);
    if (needs.missing == 0) return DropSurplus(workload, Active(pods), needs.wanted);
    std::optional<api::Pod> prototype = Prototype(workload, workload.object, job.spec.pod_template, needs.missing);
    if (!prototype) return;
    AddJobLabels(job, *prototype);
    if (!needs.indexed) return AddNumbered(workload, *prototype, job.metadata.name, needs.missing);
    for (const int32_t index : needs.indexes) {
      api::Pod pod = *prototype;
      AddJobIndex(index, pod);
      const std::string base = fmt::format("{}-{}", job.metadata.name, index);
      if (IsNameTaken(workload, api::Kind::kPod, base)) {
        AddNumbered(workload, pod, base, 1);
      } else {
        AddPod(workload, Named(std::move(pod), base));
      }
    }
  }

  const Admission& admission_;
  const std::set<std::string>& exact_;
  const size_t most_pods_;
  ClusterDraft& draft_;
  OwnedPods pods_;
  std::vector<DraftObject> replica_sets_;  // of the input
  std::vector<std::shared_ptr<const api::Node>> nodes_;
  std::set<std::string> scaled_by_others_;  // ReplicaSets that a Deployment of the input owns
  std::set<std::string> surplus_;
  std::map<std::string_view, size_t> without_template_;
  size_t made_ = 0;
};

}  // namespace

void ExpandWorkloads(const Admission& admission, const std::set<std::string>& exact, size_t most_pods,
                     ClusterDraft& draft) {
  const bool any = std::any_of(draft.objects().begin(), draft.objects().end(),
                               [](const DraftObject& found) { return IsWorkload(found.object.kind()); });
  if (any) Expander(admission, exact, most_pods, draft).Run();
}

}  // namespace berth::input
