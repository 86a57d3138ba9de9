#include "input/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "input/defaults.h"
#include "input/pod_prototype.h"
#include "input/released_claims.h"
#include "input/workload_expander.h"

namespace berth::input {

namespace {

// Whether the pod counts as a replica: one that has ended or is being deleted does not.
bool IsActive(const api::Pod& pod) { return !api::IsTerminated(pod) && !pod.metadata.deletion_timestamp; }

}  // namespace

api::Selector Compiled(const std::optional<api::LabelSelector>& selector, const api::Labels& template_labels) {
  if (!selector) return template_labels.empty() ? api::Selector::Nothing() : api::Selector::FromLabels(template_labels);
  Result<api::Selector> compiled = api::Selector::Compile(*selector);
  return compiled ? std::move(*compiled) : api::Selector::Nothing();  // reported elsewhere
}

WorkloadExpander::WorkloadExpander(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft)
    : admission_(admission), options_(options), draft_(draft), pods_(draft) {
  for (const DraftObject& found : draft.objects()) {
    if (found.object.kind() == api::Kind::kReplicaSet) replica_sets_.push_back(found);
    if (found.object.kind() == api::Kind::kNode) nodes_.push_back(found.object.Share<api::Node>());
  }
}

std::vector<Rollout> WorkloadExpander::Run() {
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

std::pair<bool, std::pair<std::string_view, std::string>> WorkloadExpander::SortKey(const api::Object& object) {
  return {object.kind() != api::Kind::kDeployment, {object.info().name, api::KeyOf(object.metadata())}};
}

std::vector<size_t> WorkloadExpander::Active(std::vector<size_t> pods) const {
  std::erase_if(pods, [&](size_t i) { return !IsActive(PodAt(i)); });
  return pods;
}

size_t WorkloadExpander::Wanted(const DraftObject& workload, const std::optional<int32_t>& replicas, size_t active) {
  if (!replicas && workload.is_new && active > 0) return active;
  return static_cast<size_t>(std::max(replicas.value_or(1), 0));
}

bool WorkloadExpander::MayMake(const DraftObject& workload, size_t count) {
  made_ += count;
  if (made_ <= options_.most_pods) return true;
  draft_.Problem(workload, "spec.replicas",
                 fmt::format("needs {} more pods, and {} are the most that workloads may need together", count,
                             options_.most_pods));
  made_ -= count;
  return false;
}

std::optional<api::Pod> WorkloadExpander::Prototype(const DraftObject& workload, const api::Object& owner,
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

void WorkloadExpander::PutPod(const DraftObject& workload, api::Pod pod) {
  const std::string key = api::KeyOf(pod.metadata);
  const DraftObject* old = draft_.Find(api::Kind::kPod, key);
  if (!old) return draft_.Add({api::MakeObject(std::move(pod)), workload.origin, /*is_new=*/true});
  surplus_.erase(old->Who());
  draft_.ReplaceByNew(static_cast<size_t>(old - draft_.objects().data()), api::MakeObject(std::move(pod)));
}

bool WorkloadExpander::IsNameTaken(const DraftObject& workload, api::Kind kind, const std::string& name) const {
  return draft_.Find(kind, fmt::format("{}/{}", workload.object.metadata().namespace_.str(), name)) != nullptr;
}

std::vector<api::Pod> WorkloadExpander::Numbered(const DraftObject& workload, const api::Pod& prototype,
                                                 const std::string& base, size_t count) const {
  std::vector<api::Pod> pods;
  for (size_t number = 0; pods.size() < count; ++number) {
    std::string name = fmt::format("{}-{}", base, number);
    if (!IsNameTaken(workload, api::Kind::kPod, name)) pods.push_back(Named(prototype, std::move(name)));
  }
  return pods;
}

void WorkloadExpander::SortForRemoval(std::vector<size_t>& pods) const {
  const auto rank = [&](size_t i) {
    const api::Pod& pod = PodAt(i);
    return std::tuple(!pod.spec.node_name.empty(),
                      -pod.metadata.creation_timestamp.value_or(base::Time::max()).time_since_epoch(), i);
  };
  std::sort(pods.begin(), pods.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
}

void WorkloadExpander::Remove(const std::vector<size_t>& pods) {
  for (const size_t i : pods) surplus_.insert(draft_.objects()[i].Who());
}

void WorkloadExpander::DropSurplus(const DraftObject& workload, bool number_given, std::vector<size_t> active,
                                   size_t wanted) {
  const bool exact = options_.exact.contains(workload.Who()) || (workload.is_new && number_given);
  if (active.size() <= wanted || !exact) return;
  SortForRemoval(active);
  active.resize(active.size() - wanted);
  draft_.Note(fmt::format("{}: {} wanted: {} pod{}", workload.Who(),
                          wanted == 1 ? "1 pod is" : fmt::format("{} pods are", wanted), active.size(),
                          active.size() == 1 ? " goes" : "s go"));
  Remove(active);
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

std::vector<Rollout> ExpandWorkloads(const Admission& admission, const ExpansionOptions& options, ClusterDraft& draft) {
  const bool any = std::any_of(draft.objects().begin(), draft.objects().end(),
                               [](const DraftObject& found) { return IsWorkload(found.object.kind()); });
  return any ? WorkloadExpander(admission, options, draft).Run() : std::vector<Rollout>();
}

}  // namespace berth::input
