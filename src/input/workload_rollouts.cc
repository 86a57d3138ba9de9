// Templates and rollouts: which pods are of an older template, and how they are replaced.
#include <fmt/format.h>

#include "input/pod_prototype.h"
#include "input/template_match.h"
#include "input/workload_expander.h"

namespace berth::input {

namespace {

api::PodTemplateSpec TemplateOf(const api::Object& workload) {
  if (const auto* deployment = workload.As<api::Deployment>()) return deployment->spec.pod_template;
  if (const auto* set = workload.As<api::ReplicaSet>()) return set->spec.pod_template;
  if (const auto* set = workload.As<api::StatefulSet>()) return set->spec.pod_template;
  if (const auto* set = workload.As<api::DaemonSet>()) return set->spec.pod_template;
  if (const auto* job = workload.As<api::Job>()) return job->spec.pod_template;
  const auto* controller = workload.As<api::ReplicationController>();
  return controller ? controller->spec.pod_template.value_or(api::PodTemplateSpec{}) : api::PodTemplateSpec{};
}

}  // namespace

bool WorkloadExpander::MayHaveChanged(const DraftObject& workload) const {
  const DraftObject* before = draft_.Replaced(workload);
  if (!before) return workload.is_new;
  return workload.recreated || DiffersUnseen(workload, *before) ||
         !SameTemplate(TemplateOf(before->object), TemplateOf(workload.object));
}

bool WorkloadExpander::DiffersUnseen(const DraftObject& workload, const DraftObject& before) {
  return workload.template_digest != 0 && before.template_digest != 0 &&
         workload.template_digest != before.template_digest;
}

bool WorkloadExpander::DiffersUnseen(const DraftObject& workload) const {
  const DraftObject* before = draft_.Replaced(workload);
  return before && DiffersUnseen(workload, *before);
}

api::Pod WorkloadExpander::Likeness(const api::Pod& pod) {
  api::Pod made;
  made.metadata.namespace_ = pod.metadata.namespace_;
  made.metadata.labels = pod.metadata.labels;
  made.metadata.annotations = pod.metadata.annotations;
  made.metadata.owner_references = pod.metadata.owner_references;
  made.spec = pod.spec;
  made.spec.node_name.clear();
  return made;
}

api::Pod WorkloadExpander::Sample(const DraftObject& workload, const api::PodTemplateSpec& pod_template) const {
  return admission_.Admit(MakePrototype(workload.object, pod_template), [](const std::string&, const std::string&) {});
}

Members WorkloadExpander::Split(const DraftObject& workload, const api::PodTemplateSpec& pod_template,
                                std::vector<size_t> pods) {
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

std::optional<api::Pod> WorkloadExpander::OlderSample(const DraftObject& workload) const {
  const DraftObject* before = draft_.Replaced(workload);
  if (!before || before->is_new) return std::nullopt;
  return Sample(*before, TemplateOf(before->object));
}

void WorkloadExpander::NoteUnseen(const DraftObject& workload, const Members& members) {
  if (!workload.is_new || members.current.empty() || !members.old.empty()) return;
  const DraftObject* before = draft_.Replaced(workload);
  if (!before || before->template_digest == 0) ++unseen_;
}

void WorkloadExpander::NoteDifference(const DraftObject& workload, const api::Pod& pod, const api::Pod& sample) {
  if (draft_.Replaced(workload)) return;
  const std::string difference = RequestDifference(pod, sample);
  if (difference.empty() || ++differing_ > 1) return;
  first_difference_ = fmt::format("{}: its template asks for {}", workload.Who(), difference);
}

void WorkloadExpander::WarnOfDifferences() {
  if (differing_ == 0) return;
  draft_.Warn(fmt::format(
      "{}{}; its pods count as they are. To see the template tried, give it without uid and resourceVersion",
      first_difference_, differing_ == 1 ? "" : fmt::format(" (and {} other workloads)", differing_ - 1)));
}

void WorkloadExpander::RemoveUnbound(std::vector<size_t>& old) {
  std::vector<size_t> unbound;
  std::erase_if(old, [&](size_t i) {
    const bool waits = PodAt(i).spec.node_name.empty();
    if (waits) unbound.push_back(i);
    return waits;
  });
  Remove(unbound);
}

Rollout WorkloadExpander::MakeRollout(const DraftObject& workload, const Members& members, std::vector<api::Pod> pods) {
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

void WorkloadExpander::AddRollout(Rollout rollout) {
  draft_.Note(fmt::format("{}: its template has changed: {} pod{} replaced ({})", rollout.workload,
                          rollout.old_uids.size(), rollout.old_uids.size() == 1 ? " is" : "s are", rollout.Pace()));
  rollouts_.push_back(std::move(rollout));
}

void WorkloadExpander::NoteReplaced(const DraftObject& workload, size_t count) {
  draft_.Note(fmt::format("{}: its template has changed: {} pod{} replaced at once", workload.Who(), count,
                          count == 1 ? " is" : "s are"));
}

void WorkloadExpander::KeepOld(const DraftObject& workload, std::string_view why, Members& members) {
  if (members.old.empty() || ReplacesAtOnce(workload)) return;
  draft_.Warn(workload, "spec.template",
              fmt::format("its template has changed, but {}: {} pod{} older one; --replace replaces {} at once", why,
                          members.old.size(), members.old.size() == 1 ? " keeps the" : "s keep the",
                          members.old.size() == 1 ? "it" : "them"));
  members.current.insert(members.current.end(), members.old.begin(), members.old.end());
  members.old.clear();
}

void WorkloadExpander::AddInTurn(Rollout rollout, const std::vector<std::string>& made) {
  rollout.updated_uids.insert(rollout.updated_uids.end(), made.begin(), made.end());
  rollout.wanted = rollout.updated_uids.size() + rollout.new_pods.size();
  AddRollout(std::move(rollout));
}

}  // namespace berth::input
