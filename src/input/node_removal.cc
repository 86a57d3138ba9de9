#include "input/node_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/node.h"
#include "api/pod.h"
#include "api/policy.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "framework/explanation.h"
#include "input/daemon_nodes.h"
#include "input/released_claims.h"

namespace berth::input {

namespace {

constexpr char kMirror[] = "kubernetes.io/config.mirror";
constexpr size_t kShownPods = 5;

bool IsDaemon(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  return owner && owner->kind == "DaemonSet";
}

// Made by the kubelet from a file on its node, so it cannot exist elsewhere.
bool IsMirror(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  return pod.metadata.annotations.Contains(kMirror) || (owner && owner->kind == "Node");
}

// The pod that its controller would create instead: the same, but without a node.
api::Pod Recreated(api::Pod pod) {
  pod.spec.node_name.clear();
  pod.status = {};
  pod.metadata.creation_timestamp.reset();
  return pod;
}

// Evicts the pods of some nodes: those that a controller would replace wait for a node, the others are gone.
class Eviction {
 public:
  Eviction(const std::vector<std::string>& nodes, ClusterDraft& draft)
      : nodes_(nodes.begin(), nodes.end()), draft_(draft) {}

  // `stays` is called for the pods bound to one of the nodes.
  void Run(bool (*stays)(const api::Pod& pod)) {
    for (size_t i = 0; i < draft_.objects().size(); ++i) {
      const DraftObject found = draft_.objects()[i];
      const api::Pod* pod = found.object.As<api::Pod>();
      if (!pod || api::IsTerminated(*pod) || !nodes_.contains(pod->spec.node_name) || stays(*pod)) continue;
      leaving_.push_back(found.object.Share<api::Pod>());
      const bool goes_anyway = IsDaemon(*pod) || IsMirror(*pod) || pod->metadata.deletion_timestamp;
      if (!goes_anyway) evicted_.push_back(found.object.Share<api::Pod>());
      if (!goes_anyway && api::ControllerOf(pod->metadata)) {
        draft_.Replace(i, api::MakeObject(Recreated(*pod)));
        continue;
      }
      gone_.insert(found.Who());
      if (!goes_anyway) lost_.push_back(api::KeyOf(pod->metadata));
    }
    draft_.RemoveIf([&](const DraftObject& found) { return gone_.contains(found.Who()); });
    ReleaseClaims(leaving_, draft_);
    if (lost_.empty()) return;
    draft_.Warn(fmt::format("{} {} no controller and {} lost: {}", lost_.size(),
                            lost_.size() == 1 ? "pod has" : "pods have", lost_.size() == 1 ? "is" : "are",
                            framework::ListText(lost_, kShownPods)));
  }

  // Evictions that violate a budget would wait; here they happen.
  void WarnOfBudgets() {
    std::vector<std::string> warnings;
    for (const DraftObject& found : draft_.objects()) {
      const auto* budget = found.object.As<api::PodDisruptionBudget>();
      if (!budget || !budget->spec.selector) continue;
      const Result<api::Selector> selector = api::Selector::Compile(*budget->spec.selector);
      if (!selector) continue;
      const auto covered = std::count_if(evicted_.begin(), evicted_.end(), [&](const auto& pod) {
        return pod->metadata.namespace_ == budget->metadata.namespace_ && selector->Matches(pod->metadata.labels);
      });
      const int64_t allowed = std::max(budget->status.disruptions_allowed, 0);
      if (covered <= allowed) continue;
      warnings.push_back(
          fmt::format("{} allows {} disruption{}, and {} of its pods are evicted: a real drain would wait", found.Who(),
                      allowed, allowed == 1 ? "" : "s", covered));
    }
    for (std::string& warning : warnings) draft_.Warn(std::move(warning));
  }

 private:
  const std::set<std::string> nodes_;
  ClusterDraft& draft_;
  std::vector<std::shared_ptr<const api::Pod>> leaving_;
  std::vector<std::shared_ptr<const api::Pod>> evicted_;  // of those, the pods that budgets apply to
  std::set<std::string> gone_;
  std::vector<std::string> lost_;
};

// The node that the object exists for, if any.
std::string NodeServedBy(const api::Object& object) {
  if (object.kind() == api::Kind::kNode || object.kind() == api::Kind::kCSINode) return object.metadata().name;
  if (const auto* attachment = object.As<api::VolumeAttachment>()) return attachment->spec.node_name;
  if (const auto* slice = object.As<api::ResourceSlice>()) return slice->spec.node_name.value_or("");
  // A daemon that waits for its node, which is not coming.
  if (const auto* pod = object.As<api::Pod>(); pod && IsDaemon(*pod)) return TargetNode(*pod);
  return {};
}

}  // namespace

void CordonNodes(const std::vector<std::string>& names, ClusterDraft& draft) {
  const std::set<std::string> cordoned(names.begin(), names.end());
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const auto* node = draft.objects()[i].object.As<api::Node>();
    if (!node || !cordoned.contains(node->metadata.name)) continue;
    api::Node changed = *node;
    changed.spec.unschedulable = true;
    const Symbol key("node.kubernetes.io/unschedulable");
    const bool tainted = std::any_of(changed.spec.taints.begin(), changed.spec.taints.end(),
                                     [&](const api::Taint& taint) { return taint.key == key; });
    if (!tainted)
      changed.spec.taints.push_back({.key = key, .value = {}, .effect = api::NoSchedule(), .time_added = {}});
    draft.Replace(i, api::MakeObject(std::move(changed)));
  }
}

void RemoveNodes(const std::vector<std::string>& names, ClusterDraft& draft) {
  if (names.empty()) return;
  Eviction(names, draft).Run([](const api::Pod&) { return false; });
  const std::set<std::string> gone(names.begin(), names.end());
  draft.RemoveIf([&](const DraftObject& found) { return gone.contains(NodeServedBy(found.object)); });
}

void DrainNodes(const std::vector<std::string>& names, ClusterDraft& draft) {
  if (names.empty()) return;
  CordonNodes(names, draft);
  Eviction eviction(names, draft);
  eviction.Run([](const api::Pod& pod) { return IsDaemon(pod) || IsMirror(pod); });
  eviction.WarnOfBudgets();
}

}  // namespace berth::input
