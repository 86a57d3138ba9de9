// DaemonSets and Jobs.
#include <fmt/format.h>

#include <algorithm>

#include "input/daemon_nodes.h"
#include "input/job_indexes.h"
#include "input/pod_prototype.h"
#include "input/template_match.h"
#include "input/workload_expander.h"

namespace berth::input {

void WorkloadExpander::Expand(const DraftObject& workload, const api::DaemonSet& set) {
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

api::Pod WorkloadExpander::Daemon(const api::DaemonSet& set, const api::Pod& prototype, const std::string& node) {
  api::Pod pod = Named(prototype, fmt::format("{}-{}", set.metadata.name, node));
  BindToNode(node, pod);
  return pod;
}

Members WorkloadExpander::SplitDaemons(const DraftObject& workload, const api::DaemonSet& set,
                                       const api::PodTemplateSpec& daemon_template,
                                       const std::set<std::string>& suitable, std::vector<size_t>& pods) {
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

void WorkloadExpander::Expand(const DraftObject& workload, const api::Job& job) {
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

}  // namespace berth::input
