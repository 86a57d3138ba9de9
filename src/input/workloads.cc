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
#include "input/released_claims.h"
#include "input/template_match.h"

namespace berth::input {

namespace {

// Whether the pod counts as a replica: one that has ended or is being deleted does not.
bool IsActive(const api::Pod& pod) { return !api::IsTerminated(pod) && !pod.metadata.deletion_timestamp; }

api::PodTemplateSpec TemplateOf(const api::Object& workload) {
  if (const auto* deployment = workload.As<api::Deployment>()) return deployment->spec.pod_template;
  if (const auto* set = workload.As<api::ReplicaSet>()) return set->spec.pod_template;
  if (const auto* set = workload.As<api::StatefulSet>()) return set->spec.pod_template;
  if (const auto* set = workload.As<api::DaemonSet>()) return set->spec.pod_template;
  if (const auto* job = workload.As<api::Job>()) return job->spec.pod_template;
  const auto* controller = workload.As<api::ReplicationController>();
  return controller ? controller->spec.pod_template.value_or(api::PodTemplateSpec{}) : api::PodTemplateSpec{};
}

api::Selector Compiled(const std::optional<api::LabelSelector>& selector, const api::Labels& template_labels) {
  if (!selector) return template_labels.empty() ? api::Selector::Nothing() : api::Selector::FromLabels(template_labels);
  Result<api::Selector> compiled = api::Selector::Compile(*selector);
  return compiled ? std::move(*compiled) : api::Selector::Nothing();  // reported elsewhere
}

// The active pods of a workload, by whether they match its template.
struct Members {
  std::vector<size_t> current;
  std::vector<size_t> old;
};

class Expander {
 public:
  Expander(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft)
      : admission_(admission), options_(options), draft_(draft), pods_(draft) {
    for (const DraftObject& found : draft.objects()) {
      if (found.object.kind() == api::Kind::kReplicaSet) replica_sets_.push_back(found);
      if (found.object.kind() == api::Kind::kNode) nodes_.push_back(found.object.Share<api::Node>());
    }
  }

  std::vector<Rollout> Run() {
    // By name, so that the order of reading does not matter. Deployments come first: they scale the ReplicaSets that
    // they own.
    std::vector<size_t> workloads;
    for (size_t i = 0; i < draft_.objects().size(); ++i) {
      if (IsWorkload(draft_.objects()[i].object.kind())) workloads.push_back(i);
    }
    std::sort(workloads.begin(), workloads.end(), [&](size_t a, size_t b) {
      return SortKey(draft_.objects()[a].object) < SortKey(draft_.objects()[b].object);
    });
    for (const size_t i : workloads) {
      // A copy: the draft grows during this loop.
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
    WarnOfDifferences();
    if (unseen_ > 0) {
      draft_.Note(fmt::format(
          "{} given again without a change that can be seen here; one of environment, command or "
          "arguments alone would replace {} pods: another image would show what becomes of that",
          unseen_ == 1 ? "1 workload is" : fmt::format("{} workloads are", unseen_), unseen_ == 1 ? "its" : "their"));
    }
    std::vector<std::shared_ptr<const api::Pod>> leaving;
    for (const DraftObject& found : draft_.objects()) {
      if (surplus_.contains(found.Who())) leaving.push_back(found.object.Share<api::Pod>());
    }
    draft_.RemoveIf([&](const DraftObject& found) { return surplus_.contains(found.Who()); });
    ReleaseClaims(leaving, draft_);
    return std::move(rollouts_);
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

  // Whether pods may be of another template than this: a person wrote it, or laid another one over the cluster's. The
  // objects of a cluster itself are consistent, whatever its webhooks did to the pods.
  bool MayHaveChanged(const DraftObject& workload) const {
    const DraftObject* before = draft_.Replaced(workload);
    if (!before) return workload.is_new;
    return workload.recreated || DiffersUnseen(workload, *before) ||
           !SameTemplate(TemplateOf(before->object), TemplateOf(workload.object));
  }

  // In the parts of a template that are not kept.
  static bool DiffersUnseen(const DraftObject& workload, const DraftObject& before) {
    return workload.template_digest != 0 && before.template_digest != 0 &&
           workload.template_digest != before.template_digest;
  }
  bool DiffersUnseen(const DraftObject& workload) const {
    const DraftObject* before = draft_.Replaced(workload);
    return before && DiffersUnseen(workload, *before);
  }

  // A workload that is deleted first, or replaced on request, does not wait for a rollout.
  bool ReplacesAtOnce(const DraftObject& workload) const { return options_.replace || workload.recreated; }

  // The number of replicas asked for. When a person leaves it out, the current number is kept.
  static size_t Wanted(const DraftObject& workload, const std::optional<int32_t>& replicas, size_t active) {
    if (!replicas && workload.is_new && active > 0) return active;
    return static_cast<size_t>(std::max(replicas.value_or(1), 0));
  }

  bool MayMake(const DraftObject& workload, size_t count) {
    made_ += count;
    if (made_ <= options_.most_pods) return true;
    draft_.Problem(workload, "spec.replicas",
                   fmt::format("needs {} more pods, and {} are the most that workloads may need together", count,
                               options_.most_pods));
    made_ -= count;
    return false;
  }

  // A pod like this one, whose template no longer exists.
  static api::Pod Likeness(const api::Pod& pod) {
    api::Pod made;
    made.metadata.namespace_ = pod.metadata.namespace_;
    made.metadata.labels = pod.metadata.labels;
    made.metadata.annotations = pod.metadata.annotations;
    made.metadata.owner_references = pod.metadata.owner_references;
    made.spec = pod.spec;
    made.spec.node_name.clear();
    return made;
  }

  // The pod that all pods of the workload are made from; nothing, with a problem reported, when admission rejects it or
  // there would be too many.
  std::optional<api::Pod> Prototype(const DraftObject& workload, const api::Object& owner,
                                    const api::PodTemplateSpec& pod_template, size_t count) {
    if (pod_template.spec.containers.empty()) {
      ++without_template_[workload.object.info().name];
      return std::nullopt;
    }
    if (!MayMake(workload, count)) return std::nullopt;
    bool sound = true;
    api::Pod pod =
        admission_.Admit(MakePrototype(owner, pod_template), [&](const std::string& path, const std::string& text) {
          sound = false;
          draft_.Problem(workload, "spec.template." + path, "spec.template." + text);
        });
    if (!sound) return std::nullopt;
    return pod;
  }

  // The same for comparison only, ignoring what admission reports.
  api::Pod Sample(const DraftObject& workload, const api::PodTemplateSpec& pod_template) const {
    return admission_.Admit(MakePrototype(workload.object, pod_template),
                            [](const std::string&, const std::string&) {});
  }

  // Splits pods by their template; all are current where it cannot have changed.
  Members Split(const DraftObject& workload, const api::PodTemplateSpec& pod_template, std::vector<size_t> pods) {
    Members members;
    if (pods.empty() || pod_template.spec.containers.empty()) return {std::move(pods), {}};
    const api::Pod sample = Sample(workload, pod_template);
    if (!MayHaveChanged(workload)) {
      NoteDifference(workload, PodAt(pods.front()), sample);
      return {std::move(pods), {}};
    }
    const std::optional<api::Pod> older = OlderSample(workload);
    for (const size_t i : pods) {
      const bool current = IsCurrent(workload, PodAt(i), sample, older, IsOfTemplate);
      (current ? members.current : members.old).push_back(i);
    }
    return members;
  }

  // A pod of the template in the cluster; nothing when that is unknown.
  std::optional<api::Pod> OlderSample(const DraftObject& workload) const {
    const DraftObject* before = draft_.Replaced(workload);
    if (!before || before->is_new) return std::nullopt;
    return Sample(*before, TemplateOf(before->object));
  }

  // The templates are known to differ: a pod that matches both counts as the older one's.
  template <class IsLike>
  static bool IsCurrent(const DraftObject& workload, const api::Pod& pod, const api::Pod& sample,
                        const std::optional<api::Pod>& older, IsLike is_like) {
    return !workload.recreated && is_like(pod, sample) && !(older && is_like(pod, *older));
  }

  // No change is visible to berth, but parts that it does not keep may have changed.
  void NoteUnseen(const DraftObject& workload, const Members& members) {
    if (!workload.is_new || members.current.empty() || !members.old.empty()) return;
    const DraftObject* before = draft_.Replaced(workload);
    if (!before || before->template_digest == 0) ++unseen_;
  }

  void NoteDifference(const DraftObject& workload, const api::Pod& pod, const api::Pod& sample) {
    if (draft_.Replaced(workload)) return;
    const std::string difference = RequestDifference(pod, sample);
    if (difference.empty() || ++differing_ > 1) return;
    first_difference_ = fmt::format("{}: its template asks for {}", workload.Who(), difference);
  }

  void WarnOfDifferences() {
    if (differing_ == 0) return;
    draft_.Warn(fmt::format(
        "{}{}; its pods count as they are. To see the template tried, give it without uid and resourceVersion",
        first_difference_, differing_ == 1 ? "" : fmt::format(" (and {} other workloads)", differing_ - 1)));
  }

  // Replaces a pod of the same name, if there is one.
  void PutPod(const DraftObject& workload, api::Pod pod) {
    const std::string key = api::KeyOf(pod.metadata);
    const DraftObject* old = draft_.Find(api::Kind::kPod, key);
    if (!old) return draft_.Add({api::MakeObject(std::move(pod)), workload.origin, /*is_new=*/true});
    surplus_.erase(old->Who());
    draft_.ReplaceByNew(static_cast<size_t>(old - draft_.objects().data()), api::MakeObject(std::move(pod)));
  }

  bool IsNameTaken(const DraftObject& workload, api::Kind kind, const std::string& name) const {
    return draft_.Find(kind, fmt::format("{}/{}", workload.object.metadata().namespace_.str(), name)) != nullptr;
  }

  // Pods that differ only in their number.
  std::vector<api::Pod> Numbered(const DraftObject& workload, const api::Pod& prototype, const std::string& base,
                                 size_t count) const {
    std::vector<api::Pod> pods;
    for (size_t number = 0; pods.size() < count; ++number) {
      std::string name = fmt::format("{}-{}", base, number);
      if (!IsNameTaken(workload, api::Kind::kPod, name)) pods.push_back(Named(prototype, std::move(name)));
    }
    return pods;
  }

  // Pods without a node are removed first, then the youngest.
  void SortForRemoval(std::vector<size_t>& pods) const {
    const auto rank = [&](size_t i) {
      const api::Pod& pod = PodAt(i);
      return std::tuple(!pod.spec.node_name.empty(),
                        -pod.metadata.creation_timestamp.value_or(base::Time::max()).time_since_epoch(), i);
    };
    std::sort(pods.begin(), pods.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  }

  void Remove(const std::vector<size_t>& pods) {
    for (const size_t i : pods) surplus_.insert(draft_.objects()[i].Who());
  }

  // Removes surplus pods when fewer were asked for.
  void DropSurplus(const DraftObject& workload, bool number_given, std::vector<size_t> active, size_t wanted) {
    const bool exact = options_.exact.contains(workload.Who()) || (workload.is_new && number_given);
    if (active.size() <= wanted || !exact) return;
    SortForRemoval(active);
    active.resize(active.size() - wanted);
    draft_.Note(fmt::format("{}: {} wanted: {} pod{}", workload.Who(),
                            wanted == 1 ? "1 pod is" : fmt::format("{} pods are", wanted), active.size(),
                            active.size() == 1 ? " goes" : "s go"));
    Remove(active);
  }

  // Removes the pods without a node from `old`: they lose nothing, so they are replaced at once.
  void RemoveUnbound(std::vector<size_t>& old) {
    std::vector<size_t> unbound;
    std::erase_if(old, [&](size_t i) {
      const bool waits = PodAt(i).spec.node_name.empty();
      if (waits) unbound.push_back(i);
      return waits;
    });
    Remove(unbound);
  }

  // Replaces the older pods by `pods`, in the order given.
  Rollout MakeRollout(const DraftObject& workload, const Members& members, std::vector<api::Pod> pods) {
    Rollout rollout;
    rollout.workload = workload.Who();
    for (const size_t i : members.old) rollout.old_uids.push_back(PodAt(i).metadata.uid);
    for (const size_t i : members.current) rollout.updated_uids.push_back(PodAt(i).metadata.uid);
    for (api::Pod& pod : pods) {
      // The older pod may have the same name, and a UID derived from it.
      pod.metadata.uid += "/updated";
      rollout.new_pods.push_back(std::make_shared<const api::Pod>(std::move(pod)));
    }
    return rollout;
  }

  void AddRollout(Rollout rollout) {
    draft_.Note(fmt::format("{}: its template has changed: {} pod{} replaced ({})", rollout.workload,
                            rollout.old_uids.size(), rollout.old_uids.size() == 1 ? " is" : "s are", rollout.Pace()));
    rollouts_.push_back(std::move(rollout));
  }

  void NoteReplaced(const DraftObject& workload, size_t count) {
    draft_.Note(fmt::format("{}: its template has changed: {} pod{} replaced at once", workload.Who(), count,
                            count == 1 ? " is" : "s are"));
  }

  void Expand(const DraftObject& workload, const api::Deployment& deployment) {
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
      std::optional<api::Pod> prototype =
          Prototype(workload, set, set.As<api::ReplicaSet>()->spec.pod_template, missing);
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

  // Adds pods of an older template: while a Deployment is paused, its existing ReplicaSet is scaled.
  void AddLike(const DraftObject& workload, const api::Pod& older, size_t count) {
    if (!MayMake(workload, count)) return;
    const api::OwnerReference* owner = api::ControllerOf(older.metadata);
    const std::string& base = owner ? owner->name : workload.object.metadata().name;
    for (api::Pod& pod : Numbered(workload, older, base, count)) PutPod(workload, std::move(pod));
  }

  // The controller leaves pods of an older template alone, and so does this, unless replacing is requested.
  void KeepOld(const DraftObject& workload, std::string_view why, Members& members) {
    if (members.old.empty() || ReplacesAtOnce(workload)) return;
    draft_.Warn(workload, "spec.template",
                fmt::format("its template has changed, but {}: {} pod{} older one; --replace replaces {} at once", why,
                            members.old.size(), members.old.size() == 1 ? " keeps the" : "s keep the",
                            members.old.size() == 1 ? "it" : "them"));
    members.current.insert(members.current.end(), members.old.begin(), members.old.end());
    members.old.clear();
  }

  static bool Owns(const api::Object& deployment, const api::Selector& selector, const api::ReplicaSet& set) {
    if (const api::OwnerReference* owner = api::ControllerOf(set.metadata)) return RefersTo(*owner, deployment);
    return !selector.empty() && selector.Matches(set.metadata.labels);
  }

  // The set that the Deployment's pods belong to: that of its template, the newest of several. Null when there is none:
  // the template has never been rolled out.
  static const DraftObject* SetOfTemplate(const api::PodTemplateSpec& pod_template,
                                          const std::vector<DraftObject>& sets) {
    const DraftObject* found = nullptr;
    for (const DraftObject& set : sets) {
      if (!SameTemplate(set.object.As<api::ReplicaSet>()->spec.pod_template, pod_template)) continue;
      if (!found || Revision(set.object) > Revision(found->object)) found = &set;
    }
    return found;
  }

  static int64_t Revision(const api::Object& set) {
    const std::string* text = set.metadata().annotations.Find("deployment.kubernetes.io/revision");
    return text ? std::atoll(text->c_str()) : 0;
  }

  // The set would exist in the cluster, and default spreading reads it.
  api::Object MakeSet(const DraftObject& workload, const api::Deployment& deployment) {
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

  void Expand(const DraftObject& workload, const api::StatefulSet& set) {
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

  // With positional replacement, exactly these pods are of the newer template in the end.
  void AddInTurn(Rollout rollout, const std::vector<std::string>& made) {
    rollout.updated_uids.insert(rollout.updated_uids.end(), made.begin(), made.end());
    rollout.wanted = rollout.updated_uids.size() + rollout.new_pods.size();
    AddRollout(std::move(rollout));
  }

  static int64_t PartitionOf(const api::StatefulSet& set) {
    const auto strategy = set.spec.update_strategy.value_or(api::StatefulSetUpdateStrategy{});
    return strategy.rolling_update ? strategy.rolling_update->partition.value_or(0) : 0;
  }

  // The pod that those below the partition are modelled on while older ones exist.
  std::optional<api::Pod> OlderBelowPartition(const api::StatefulSet& set, const Members& members) const {
    if (PartitionOf(set) == 0 || members.old.empty()) return std::nullopt;
    return Likeness(PodAt(members.old.front()));
  }

  // The pods that the controller replaces, by ordinal; the others are kept.
  std::map<int64_t, size_t> OldOrdinals(const DraftObject& workload, const api::StatefulSet& set, int64_t first,
                                        int64_t end, Members& members) {
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

  void DropOrdinals(const DraftObject& workload, const std::string& name, int64_t end,
                    const std::set<std::string>& present) {
    for (const std::string& pod : present) {
      if (!pod.starts_with(name + "-") || std::atoll(pod.c_str() + name.size() + 1) < end) continue;
      surplus_.insert(fmt::format("Pod {}/{}", workload.object.metadata().namespace_.str(), pod));
    }
  }

  // Also creates its claims.
  api::Pod Ordinal(const DraftObject& workload, const api::StatefulSet& set, const api::Pod& prototype,
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

  // Claims outlive their pods: an existing one is reused.
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
    draft_.Add({.object = WithDefaults(api::MakeObject(std::move(claim))), .origin = workload.origin, .is_new = true});
  }

  void Expand(const DraftObject& workload, const api::DaemonSet& set) {
    const api::PodTemplateSpec daemon_template = WithDaemonTolerations(set.spec.pod_template);
    std::vector<size_t> pods =
        pods_.Claim(workload.object, Compiled(set.spec.selector, set.spec.pod_template.metadata.labels));
    std::erase_if(pods, [&](size_t i) { return api::IsTerminated(PodAt(i)); });
    std::set<std::string> suitable;
    for (const std::shared_ptr<const api::Node>& node : nodes_) {
      if (ShouldRunDaemon(daemon_template.spec, *node)) suitable.insert(node->metadata.name);
    }
    if (suitable.empty() && !nodes_.empty() && workload.is_new) {
      draft_.Warn(workload, "spec.template.spec",
                  fmt::format("runs on none of {} node{}: its node selector, affinity or tolerations match none",
                              nodes_.size(), nodes_.size() == 1 ? "" : "s"));
    }
    Members members = SplitDaemons(workload, set, daemon_template, suitable, pods);
    NoteUnseen(workload, members);
    std::set<std::string> nodes = suitable;
    for (const size_t i : pods) nodes.erase(TargetNode(PodAt(i)));
    RemoveUnbound(members.old);
    if (nodes.empty() && members.old.empty()) return;
    std::optional<api::Pod> prototype =
        Prototype(workload, workload.object, daemon_template, nodes.size() + members.old.size());
    if (!prototype) return;
    prototype->metadata.labels.Set(Symbol("controller-revision-hash"), Symbol(TemplateHash(set.spec.pod_template)));
    std::vector<std::string> made;
    for (const std::string& node : nodes) {
      api::Pod pod = Daemon(set, *prototype, node);
      if (IsNameTaken(workload, api::Kind::kPod, pod.metadata.name)) continue;
      made.push_back(pod.metadata.uid);
      PutPod(workload, std::move(pod));
    }
    if (members.old.empty()) return;
    if (ReplacesAtOnce(workload)) {
      NoteReplaced(workload, members.old.size());
      Remove(members.old);
      for (const size_t i : members.old) PutPod(workload, Daemon(set, *prototype, TargetNode(PodAt(i))));
      return;
    }
    std::sort(members.old.begin(), members.old.end(),
              [&](size_t a, size_t b) { return PodAt(a).spec.node_name < PodAt(b).spec.node_name; });
    std::vector<api::Pod> updated;
    for (const size_t i : members.old) updated.push_back(Daemon(set, *prototype, TargetNode(PodAt(i))));
    Rollout rollout = MakeRollout(workload, members, std::move(updated));
    SetPace(set, suitable.size(), rollout);
    AddInTurn(std::move(rollout), made);
  }

  static api::Pod Daemon(const api::DaemonSet& set, const api::Pod& prototype, const std::string& node) {
    api::Pod pod = Named(prototype, fmt::format("{}-{}", set.metadata.name, node));
    BindToNode(node, pod);
    return pod;
  }

  // Each pod is compared with one tied to the same node. Pods on nodes where the changed set no longer runs are
  // removed.
  Members SplitDaemons(const DraftObject& workload, const api::DaemonSet& set,
                       const api::PodTemplateSpec& daemon_template, const std::set<std::string>& suitable,
                       std::vector<size_t>& pods) {
    Members members;
    if (pods.empty() || daemon_template.spec.containers.empty()) return {pods, {}};
    const api::Pod sample = Sample(workload, daemon_template);
    if (!MayHaveChanged(workload)) {
      NoteDifference(workload, PodAt(pods.front()), sample);
      return {pods, {}};
    }
    const std::optional<api::Pod> older = OlderSample(workload);
    std::vector<size_t> unsuitable;
    for (const size_t i : pods) {
      const std::string node = TargetNode(PodAt(i));
      const auto is_like = [&](const api::Pod& pod, const api::Pod& untied) {
        api::Pod tied = untied;
        BindToNode(node, tied);
        return IsOfTemplate(pod, tied) || IsOfTemplate(pod, untied);
      };
      const bool current = IsCurrent(workload, PodAt(i), sample, older, is_like);
      if (!current && !suitable.contains(node) && draft_.Find(api::Kind::kNode, node)) {
        unsuitable.push_back(i);
      } else {
        (current ? members.current : members.old).push_back(i);
      }
    }
    const bool on_delete = set.spec.update_strategy && set.spec.update_strategy->type == "OnDelete";
    if (on_delete) KeepOld(workload, "updateStrategy is OnDelete", members);
    if (!unsuitable.empty()) {
      draft_.Note(fmt::format("{}: {} pod{} from nodes on which it does not run any more", workload.Who(),
                              unsuitable.size(), unsuitable.size() == 1 ? " goes" : "s go"));
    }
    Remove(unsuitable);
    return members;
  }

  void Expand(const DraftObject& workload, const api::Job& job) {
    std::vector<size_t> pods =
        pods_.Claim(workload.object, job.spec.selector ? Compiled(job.spec.selector, {}) : api::Selector::Nothing());
    Members members = Split(workload, job.spec.pod_template, Active(pods));
    KeepOld(workload, "a Job does not replace its pods", members);
    if (!members.old.empty()) NoteReplaced(workload, members.old.size());
    Remove(members.old);
    std::erase_if(pods, [&](size_t i) { return surplus_.contains(draft_.objects()[i].Who()); });
    std::vector<const api::Pod*> known;
    for (const size_t i : pods) known.push_back(&PodAt(i));
    api::Job asked = job;
    if (workload.recreated) {
      asked.status = {};  // what the earlier Job has done does not count
      std::erase_if(known, [](const api::Pod* pod) { return api::IsTerminated(*pod); });
    }
    const JobNeeds needs = NeedsOf(asked, known);
    if (needs.missing == 0) return DropSurplus(workload, job.spec.parallelism.has_value(), Active(pods), needs.wanted);
    std::optional<api::Pod> prototype = Prototype(workload, workload.object, job.spec.pod_template, needs.missing);
    if (!prototype) return;
    AddJobLabels(job, *prototype);
    const auto add_numbered = [&](const api::Pod& pod, const std::string& base, size_t count) {
      for (api::Pod& made : Numbered(workload, pod, base, count)) PutPod(workload, std::move(made));
    };
    if (!needs.indexed) return add_numbered(*prototype, job.metadata.name, needs.missing);
    for (const int32_t index : needs.indexes) {
      api::Pod pod = *prototype;
      AddJobIndex(index, pod);
      const std::string base = fmt::format("{}-{}", job.metadata.name, index);
      if (IsNameTaken(workload, api::Kind::kPod, base)) {
        add_numbered(pod, base, 1);
      } else {
        PutPod(workload, Named(std::move(pod), base));
      }
    }
  }

  const Admission& admission_;
  const ExpansionOptions& options_;
  ClusterDraft& draft_;
  OwnedPods pods_;
  std::vector<DraftObject> replica_sets_;  // of the input
  std::vector<std::shared_ptr<const api::Node>> nodes_;
  std::set<std::string> scaled_by_others_;  // ReplicaSets that a Deployment of the input owns
  std::set<std::string> surplus_;
  std::map<std::string_view, size_t> without_template_;
  size_t made_ = 0;
  std::vector<Rollout> rollouts_;
  size_t differing_ = 0;  // workloads of the cluster whose pods' requests differ from their template
  std::string first_difference_;
  size_t unseen_ = 0;  // workloads for which it is unknown whether their templates have changed
};

}  // namespace

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

std::vector<Rollout> ExpandWorkloads(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft) {
  const bool any = std::any_of(draft.objects().begin(), draft.objects().end(),
                               [](const DraftObject& found) { return IsWorkload(found.object.kind()); });
  return any ? Expander(admission, options, draft).Run() : std::vector<Rollout>();
}

}  // namespace berth::input
