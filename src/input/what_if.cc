#include "input/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "api/workload.h"
#include "base/spelling.h"
#include "input/near_names.h"
#include "input/node_removal.h"
#include "input/pod_prototype.h"
#include "input/released_claims.h"
#include "input/workloads.h"

namespace berth::input {

namespace {

bool IsScalable(api::Kind kind) {
  return kind == api::Kind::kDeployment || kind == api::Kind::kReplicaSet || kind == api::Kind::kStatefulSet ||
         kind == api::Kind::kReplicationController || kind == api::Kind::kJob;
}

int64_t RevisionOf(const api::ObjectMeta& metadata) {
  const std::string* text = metadata.annotations.Find("deployment.kubernetes.io/revision");
  return text ? std::atoll(text->c_str()) : 0;
}

template <class T>
api::Object WithReplicas(T workload, int32_t replicas) {
  workload.spec.replicas = replicas;
  return api::MakeObject(std::move(workload));
}

api::Object Scaled(const api::Object& object, int32_t replicas) {
  if (const auto* deployment = object.As<api::Deployment>()) return WithReplicas(*deployment, replicas);
  if (const auto* set = object.As<api::ReplicaSet>()) return WithReplicas(*set, replicas);
  if (const auto* set = object.As<api::StatefulSet>()) return WithReplicas(*set, replicas);
  if (const auto* controller = object.As<api::ReplicationController>()) return WithReplicas(*controller, replicas);
  api::Job job = *object.As<api::Job>();
  const bool once = !job.spec.parallelism && !job.spec.completions;
  job.spec.parallelism = replicas;
  // Running this many at once requires at least as many completions.
  if (once) job.spec.completions = replicas;
  if (job.spec.completions) job.spec.completions = std::max(*job.spec.completions, replicas);
  return api::MakeObject(std::move(job));
}

class Scaler {
 public:
  explicit Scaler(ClusterDraft& draft) : draft_(draft) {}

  void Apply(const ReplicaChange& change) {
    std::vector<size_t> found = FindWorkloads(change);
    if (found.size() == 1) return Scale(found.front(), change.replicas);
    if (found.size() > 1) return TellSeveral(change, found);
    // Reading a cluster gives ReplicaSets, not the Deployments that own them; and for other owners, only the pods.
    const std::map<std::string, std::vector<size_t>> sets = FindByOwner(change, api::Kind::kReplicaSet);
    if (sets.size() == 1) return ScaleNewestSet(sets.begin()->second, change.replicas);
    const std::map<std::string, std::vector<size_t>> pods = FindByOwner(change, api::Kind::kPod);
    if (sets.empty() && pods.size() == 1) return ScalePods(change, pods.begin()->first, pods.begin()->second);
    const auto& several = sets.empty() ? pods : sets;
    if (!several.empty()) {
      std::vector<std::string> names;
      for (const auto& [name, members] : several) names.push_back(name);
      return Tell(change, fmt::format("is one of several: {}", fmt::join(names, ", ")));
    }
    Tell(change, "no workload of that name was read: " + NearNames(change.name, KnownNames()));
  }

  std::set<std::string> TakeExact() { return std::move(exact_); }

 private:
  static bool Matches(const ReplicaChange& change, std::string_view kind, const Symbol& name_space,
                      std::string_view name) {
    return name == change.name && (change.name_space.empty() || change.name_space == name_space.str()) &&
           (change.kind.empty() || base::EditDistance(change.kind, kind) == 0);
  }

  void Tell(const ReplicaChange& change, std::string_view what) {
    draft_.Problem(fmt::format("--replicas {}{}{}: {}", change.name_space, change.name_space.empty() ? "" : "/",
                               change.name, what));
  }

  void TellSeveral(const ReplicaChange& change, const std::vector<size_t>& found) {
    std::vector<std::string> names;
    for (const size_t i : found) names.push_back(draft_.objects()[i].Who());
    std::sort(names.begin(), names.end());
    Tell(change,
         fmt::format("is one of several, say NAMESPACE/NAME or KIND/NAMESPACE/NAME: {}", fmt::join(names, ", ")));
  }

  std::vector<size_t> FindWorkloads(const ReplicaChange& change) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < draft_.objects().size(); ++i) {
      const api::Object& object = draft_.objects()[i].object;
      const api::ObjectMeta& metadata = object.metadata();
      if (!IsScalable(object.kind()) || !Matches(change, object.info().name, metadata.namespace_, metadata.name))
        continue;
      // A set is scaled by the Deployment that owns it, if that is in the input.
      const api::OwnerReference* owner = api::ControllerOf(metadata);
      if (owner && owner->kind == "Deployment" &&
          draft_.Find(api::Kind::kDeployment, fmt::format("{}/{}", metadata.namespace_.str(), owner->name))) {
        continue;
      }
      found.push_back(i);
    }
    return found;
  }

  // Objects of that kind by the owner they name: "Deployment shop/web".
  std::map<std::string, std::vector<size_t>> FindByOwner(const ReplicaChange& change, api::Kind kind) const {
    std::map<std::string, std::vector<size_t>> found;
    for (size_t i = 0; i < draft_.objects().size(); ++i) {
      const api::Object& object = draft_.objects()[i].object;
      if (object.kind() != kind) continue;
      const api::ObjectMeta& metadata = object.metadata();
      const api::OwnerReference* owner = api::ControllerOf(metadata);
      if (!owner || !Matches(change, owner->kind, metadata.namespace_, owner->name)) continue;
      found[fmt::format("{} {}/{}", owner->kind, metadata.namespace_.str(), owner->name)].push_back(i);
    }
    return found;
  }

  std::vector<std::string> KnownNames() const {
    std::set<std::string> names;
    for (const DraftObject& found : draft_.objects()) {
      if (IsScalable(found.object.kind())) names.insert(found.object.metadata().name);
      const api::OwnerReference* owner = api::ControllerOf(found.object.metadata());
      if (owner && owner->kind != "DaemonSet" && owner->kind != "Node") names.insert(owner->name);
    }
    return {names.begin(), names.end()};
  }

  void Scale(size_t i, int32_t replicas) {
    exact_.insert(draft_.objects()[i].Who());
    draft_.Replace(i, Scaled(draft_.objects()[i].object, replicas));
  }

  // The older sets of a Deployment get no pods.
  void ScaleNewestSet(std::vector<size_t> sets, int32_t replicas) {
    std::sort(sets.begin(), sets.end(), [&](size_t a, size_t b) {
      return RevisionOf(draft_.objects()[a].object.metadata()) < RevisionOf(draft_.objects()[b].object.metadata());
    });
    for (const size_t i : sets) Scale(i, i == sets.back() ? replicas : 0);
  }

  // The owner is not in the input: one of its pods serves as the template.
  void ScalePods(const ReplicaChange& change, const std::string& owner, std::vector<size_t> pods) {
    if (owner.starts_with("DaemonSet ") || owner.starts_with("Node ")) {
      return Tell(change, fmt::format("{} has a pod for each node, not a number of them", owner));
    }
    if (change.replicas > static_cast<int32_t>(kMaxPodsMade)) {
      return Tell(change, fmt::format("expected at most {} pods, found {}", kMaxPodsMade, change.replicas));
    }
    std::erase_if(pods, [&](size_t i) {
      const auto* pod = draft_.objects()[i].object.As<api::Pod>();
      return api::IsTerminated(*pod) || pod->metadata.deletion_timestamp;
    });
    const auto wanted = static_cast<size_t>(change.replicas);
    if (pods.empty()) return Tell(change, fmt::format("{} has no pod that a new one could be like", owner));
    // Pods without a node are removed first.
    std::stable_partition(pods.begin(), pods.end(),
                          [&](size_t i) { return !draft_.objects()[i].object.As<api::Pod>()->spec.node_name.empty(); });
    const DraftObject sample = draft_.objects()[pods.front()];
    api::Pod prototype = *sample.object.As<api::Pod>();
    prototype.spec.node_name.clear();
    prototype.status = {};
    prototype.metadata.creation_timestamp.reset();
    size_t count = pods.size();
    for (size_t number = 0; count < wanted; ++number) {
      api::Pod pod = Named(prototype, fmt::format("{}-{}", change.name, number));
      if (draft_.Find(api::Kind::kPod, api::KeyOf(pod.metadata))) continue;
      draft_.Add({api::MakeObject(std::move(pod)), sample.origin});
      ++count;
    }
    std::set<std::string> surplus;
    std::vector<std::shared_ptr<const api::Pod>> leaving;
    for (size_t i = wanted; i < pods.size(); ++i) {
      surplus.insert(draft_.objects()[pods[i]].Who());
      leaving.push_back(draft_.objects()[pods[i]].object.Share<api::Pod>());
    }
    draft_.RemoveIf([&](const DraftObject& found) { return surplus.contains(found.Who()); });
    ReleaseClaims(leaving, draft_);
  }

  ClusterDraft& draft_;
  std::set<std::string> exact_;
};

// Returns those that exist; the others are reported.
std::vector<std::string> KnownNodes(std::string_view flag, const std::vector<std::string>& names, ClusterDraft& draft) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (draft.Find(api::Kind::kNode, name)) {
      found.push_back(name);
      continue;
    }
    std::vector<std::string> nodes;
    for (const DraftObject& object : draft.objects()) {
      if (object.object.kind() == api::Kind::kNode) nodes.push_back(object.object.metadata().name);
    }
    draft.Problem(fmt::format("{} {}: no node of that name was read: {}", flag, name, NearNames(name, nodes)));
  }
  return found;
}

}  // namespace

Result<ReplicaChange> ParseReplicaChange(std::string_view text) {
  const auto expected = [&](std::string_view what) {
    return Error::InvalidArgument(fmt::format("expected [[KIND/]NAMESPACE/]NAME=N{}, found \"{}\"", what, text));
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return expected("");
  ReplicaChange change;
  const std::string_view number = text.substr(equals + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), change.replicas);
  if (error != std::errc() || end != number.data() + number.size() || change.replicas < 0) {
    return expected(fmt::format(" with N from 0 to {}", INT32_MAX));
  }
  std::string_view name = text.substr(0, equals);
  std::vector<std::string_view> parts;
  for (size_t slash; (slash = name.find('/')) != std::string_view::npos; name.remove_prefix(slash + 1)) {
    parts.push_back(name.substr(0, slash));
  }
  if (parts.size() > 2 || name.empty() || std::count(parts.begin(), parts.end(), std::string_view()) > 0) {
    return expected("");
  }
  change.name = name;
  if (!parts.empty()) change.name_space = parts.back();
  if (parts.size() == 2) change.kind = parts.front();
  return change;
}

std::set<std::string> ApplyWhatIf(const WhatIf& what_if, ClusterDraft& draft) {
  const std::vector<std::string> gone = KnownNodes("--without-node", what_if.without_nodes, draft);
  const std::vector<std::string> cordoned = KnownNodes("--cordon", what_if.cordons, draft);
  const std::vector<std::string> drained = KnownNodes("--drain", what_if.drains, draft);
  RemoveNodes(gone, draft);
  CordonNodes(cordoned, draft);
  DrainNodes(drained, draft);
  Scaler scaler(draft);
  for (const ReplicaChange& change : what_if.replicas) scaler.Apply(change);
  return scaler.TakeExact();
}

}  // namespace berth::input
