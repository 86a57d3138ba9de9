// WorkloadExpander: what workloads.h declares. One class for all kinds, since they share how pods are counted, made,
// removed and compared with templates. Its functions are in several files: the order of workloads and pods in general
// in workloads.cc, templates and rollouts in workload_rollouts.cc, Deployments, ReplicaSets and StatefulSets in
// replica_workloads.cc, DaemonSets and Jobs in daemon_and_job_workloads.cc. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/selector.h"
#include "api/storage.h"
#include "api/workload.h"
#include "input/admission.h"
#include "input/cluster_draft.h"
#include "input/owned_pods.h"
#include "input/rollout.h"
#include "input/workloads.h"

namespace berth::input {

// The selector, or one for the template's labels when there is none.
api::Selector Compiled(const std::optional<api::LabelSelector>& selector, const api::Labels& template_labels);

// The active pods of a workload, by whether they match its template.
struct Members {
  std::vector<size_t> current;
  std::vector<size_t> old;
};

class WorkloadExpander {
 public:
  WorkloadExpander(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft);
  std::vector<Rollout> Run();

 private:
  static std::pair<bool, std::pair<std::string_view, std::string>> SortKey(const api::Object& object);
  const api::Pod& PodAt(size_t i) const { return *draft_.objects()[i].object.As<api::Pod>(); }

  std::vector<size_t> Active(std::vector<size_t> pods) const;

  // Whether pods may be of another template than this: a person wrote it, or laid another one over the cluster's. The
  // objects of a cluster itself are consistent, whatever its webhooks did to the pods.
  bool MayHaveChanged(const DraftObject& workload) const;

  // In the parts of a template that are not kept.
  static bool DiffersUnseen(const DraftObject& workload, const DraftObject& before);
  bool DiffersUnseen(const DraftObject& workload) const;

  // A workload that is deleted first, or replaced on request, does not wait for a rollout.
  bool ReplacesAtOnce(const DraftObject& workload) const { return options_.replace || workload.recreated; }

  // The number of replicas asked for. When a person leaves it out, the current number is kept.
  static size_t Wanted(const DraftObject& workload, const std::optional<int32_t>& replicas, size_t active);
  bool MayMake(const DraftObject& workload, size_t count);

  // A pod like this one, whose template no longer exists.
  static api::Pod Likeness(const api::Pod& pod);

  // The pod that all pods of the workload are made from; nothing, with a problem reported, when admission rejects it or
  // there would be too many.
  std::optional<api::Pod> Prototype(const DraftObject& workload, const api::Object& owner,
                                    const api::PodTemplateSpec& pod_template, size_t count);

  // The same for comparison only, ignoring what admission reports.
  api::Pod Sample(const DraftObject& workload, const api::PodTemplateSpec& pod_template) const;

  // Splits pods by their template; all are current where it cannot have changed.
  Members Split(const DraftObject& workload, const api::PodTemplateSpec& pod_template, std::vector<size_t> pods);

  // A pod of the template in the cluster; nothing when that is unknown.
  std::optional<api::Pod> OlderSample(const DraftObject& workload) const;

  // The templates are known to differ: a pod that matches both counts as the older one's.
  template <class IsLike>
  static bool IsCurrent(const DraftObject& workload, const api::Pod& pod, const api::Pod& sample,
                        const std::optional<api::Pod>& older, IsLike is_like) {
    return !workload.recreated && is_like(pod, sample) && !(older && is_like(pod, *older));
  }

  // No change is visible to berth, but parts that it does not keep may have changed.
  void NoteUnseen(const DraftObject& workload, const Members& members);
  void NoteDifference(const DraftObject& workload, const api::Pod& pod, const api::Pod& sample);
  void WarnOfDifferences();

  // Replaces a pod of the same name, if there is one.
  void PutPod(const DraftObject& workload, api::Pod pod);
  bool IsNameTaken(const DraftObject& workload, api::Kind kind, const std::string& name) const;

  // Pods that differ only in their number.
  std::vector<api::Pod> Numbered(const DraftObject& workload, const api::Pod& prototype, const std::string& base,
                                 size_t count) const;

  // Pods without a node are removed first, then the youngest.
  void SortForRemoval(std::vector<size_t>& pods) const;
  void Remove(const std::vector<size_t>& pods);

  // Removes surplus pods when fewer were asked for.
  void DropSurplus(const DraftObject& workload, bool number_given, std::vector<size_t> active, size_t wanted);

  // Removes the pods without a node from `old`: they lose nothing, so they are replaced at once.
  void RemoveUnbound(std::vector<size_t>& old);

  // Replaces the older pods by `pods`, in the order given.
  Rollout MakeRollout(const DraftObject& workload, const Members& members, std::vector<api::Pod> pods);
  void AddRollout(Rollout rollout);
  void NoteReplaced(const DraftObject& workload, size_t count);
  // With positional replacement, exactly these pods are of the newer template in the end.
  void AddInTurn(Rollout rollout, const std::vector<std::string>& made);

  // The controller leaves pods of an older template alone, and so does this, unless replacing is requested.
  void KeepOld(const DraftObject& workload, std::string_view why, Members& members);
  static bool Owns(const api::Object& deployment, const api::Selector& selector, const api::ReplicaSet& set);
  void Expand(const DraftObject& workload, const api::Deployment& deployment);

  // Adds pods of an older template: while a Deployment is paused, its existing ReplicaSet is scaled.
  void AddLike(const DraftObject& workload, const api::Pod& older, size_t count);

  // The set that the Deployment's pods belong to: that of its template, the newest of several. Null when there is none:
  // the template has never been rolled out.
  static const DraftObject* SetOfTemplate(const api::PodTemplateSpec& pod_template,
                                          const std::vector<DraftObject>& sets);
  static int64_t Revision(const api::Object& set);

  // The set would exist in the cluster, and default spreading reads it.
  api::Object MakeSet(const DraftObject& workload, const api::Deployment& deployment);
  void Expand(const DraftObject& workload, const api::ReplicaSet& set);
  void Expand(const DraftObject& workload, const api::ReplicationController& controller);
  void ExpandReplicas(const DraftObject& workload, const std::optional<int32_t>& replicas,
                      const api::Selector& selector, const api::PodTemplateSpec& pod_template);
  void Expand(const DraftObject& workload, const api::StatefulSet& set);

  static int64_t PartitionOf(const api::StatefulSet& set);

  // The pod that those below the partition are modelled on while older ones exist.
  std::optional<api::Pod> OlderBelowPartition(const api::StatefulSet& set, const Members& members) const;

  // The pods that the controller replaces, by ordinal; the others are kept.
  std::map<int64_t, size_t> OldOrdinals(const DraftObject& workload, const api::StatefulSet& set, int64_t first,
                                        int64_t end, Members& members);
  void DropOrdinals(const DraftObject& workload, const std::string& name, int64_t end,
                    const std::set<std::string>& present);

  // Also creates its claims.
  api::Pod Ordinal(const DraftObject& workload, const api::StatefulSet& set, const api::Pod& prototype,
                   int64_t ordinal);

  // Claims outlive their pods: an existing one is reused.
  void AddClaim(const DraftObject& workload, const api::StatefulSet& set, const api::PersistentVolumeClaim& from,
                const std::string& name);
  void Expand(const DraftObject& workload, const api::DaemonSet& set);
  static api::Pod Daemon(const api::DaemonSet& set, const api::Pod& prototype, const std::string& node);

  // Each pod is compared with one tied to the same node. Pods on nodes where the changed set no longer runs are
  // removed.
  Members SplitDaemons(const DraftObject& workload, const api::DaemonSet& set,
                       const api::PodTemplateSpec& daemon_template, const std::set<std::string>& suitable,
                       std::vector<size_t>& pods);
  void Expand(const DraftObject& workload, const api::Job& job);

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

}  // namespace berth::input
