#include "plugins/volume_binding/volume_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugins/volume/claims.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Objects;
using framework::Status;

constexpr char kNodeConflict[] = "node(s) didn't match PersistentVolume's node affinity";
constexpr char kBindConflict[] = "node(s) didn't find available persistent volumes to bind";
constexpr char kNotEnoughSpace[] = "node(s) did not have enough free storage";
constexpr char kVolumeMissing[] = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr char kUnboundImmediate[] = "pod has unbound immediate PersistentVolumeClaims";

std::vector<VolumePtr> VolumesOfClass(std::string_view class_name, const Objects& objects,
                                      const AssumedStorage& assumed) {
  std::vector<VolumePtr> volumes;
  for (const auto& [key, volume] : objects.persistent_volumes) {
    if (StorageClassOf(*volume) == class_name) volumes.push_back(assumed.volumes.Latest(volume));
  }
  return volumes;
}

}  // namespace

// Each flag stands for one reason; several may hold at once.
struct VolumePlan::Findings {
  bool node_conflict = false;
  bool bind_conflict = false;
  bool no_space = false;
  bool volume_missing = false;
  std::string error;
  std::vector<StaticBinding> bindings;
  std::vector<DynamicProvision> provisions;

  // One bit per flag.
  uint8_t Verdict() const {
    return static_cast<uint8_t>(node_conflict | bind_conflict << 1 | no_space << 2 | volume_missing << 3);
  }
  Status ToStatus() const {
    if (!error.empty()) return Status::Error(error);
    std::vector<std::string> reasons;
    if (node_conflict) reasons.emplace_back(kNodeConflict);
    if (bind_conflict) reasons.emplace_back(kBindConflict);
    if (no_space) reasons.emplace_back(kNotEnoughSpace);
    if (volume_missing) reasons.emplace_back(kVolumeMissing);
    if (reasons.empty()) return Status::Success();
    return Status(Code::kUnschedulableAndUnresolvable, std::move(reasons));
  }
};

VolumePlan::Outcome VolumePlan::Make(const api::Pod& pod, const Objects& objects, const AssumedStorage& assumed,
                                     const StaticVolumes* volumes) {
  auto plan = std::make_shared<VolumePlan>();
  plan->volumes_ = volumes;
  bool unbound_immediate = false;
  for (const api::Volume& volume : pod.spec.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference) continue;
    const ClaimPtr claim =
        assumed.claims.Find(objects.persistent_volume_claims, pod.metadata.namespace_.str(), reference->name);
    if (claim == nullptr) {
      const std::string key = fmt::format("{}/{}", pod.metadata.namespace_.str(), reference->name);
      return {Status::Error(fmt::format("error getting PVC \"{0}\": persistentvolumeclaims \"{0}\" not found", key)),
              {}};
    }
    if (Status status = plan->AddClaim(claim, objects, assumed, unbound_immediate); !status.ok()) return {status, {}};
  }
  if (unbound_immediate) return {Status::UnschedulableAndUnresolvable(kUnboundImmediate), {}};

  for (size_t i = 0; i < plan->unbound_.size(); ++i) {
    if (!plan->unbound_[i].selected_node) plan->by_size_.push_back(i);
  }
  std::stable_sort(plan->by_size_.begin(), plan->by_size_.end(), [&](size_t a, size_t b) {
    return RequestedStorage(*plan->unbound_[a].claim) < RequestedStorage(*plan->unbound_[b].claim);
  });
  return {Status::Success(), std::move(plan)};
}

Status VolumePlan::AddClaim(const ClaimPtr& claim, const Objects& objects, const AssumedStorage& assumed,
                            bool& unbound_immediate) {
  if (IsFullyBound(*claim)) {
    const VolumePtr volume = assumed.volumes.Find(objects.persistent_volumes, "", claim->spec.volume_name);
    bound_.push_back(volume ? std::make_shared<const BoundVolume>(*volume) : nullptr);
    return Status::Success();
  }
  const std::string_view class_name = StorageClassOf(*claim);
  const api::StorageClass* storage_class = class_name.empty() ? nullptr : objects.storage_classes.Find(class_name);
  if (storage_class != nullptr && !storage_class->volume_binding_mode) {
    return Status::Error(fmt::format("VolumeBindingMode not set for StorageClass \"{}\"", class_name));
  }
  // Only a claim that waits for its first consumer is bound here; one that names its volume is left to the controller.
  if (storage_class == nullptr || *storage_class->volume_binding_mode != kWaitForFirstConsumer ||
      !claim->spec.volume_name.empty()) {
    unbound_immediate = true;
    return Status::Success();
  }
  UnboundClaim unbound{claim, {}, {}, {}, std::make_shared<const Provisioning>(*claim, *storage_class, objects)};
  if (const std::string* node = FindAnnotation(claim->metadata, kSelectedNodeAnnotation)) {
    unbound.selected_node = *node;
  } else if (volumes_ != nullptr) {
    unbound.matcher = std::make_shared<const ClaimMatcher>(*claim);
  } else {
    unbound.candidates = std::make_shared<const ClaimCandidates>(*claim, VolumesOfClass(class_name, objects, assumed));
  }
  unbound_.push_back(std::move(unbound));
  return Status::Success();
}

std::shared_ptr<const VolumePlan> VolumePlan::For(const api::Pod& pod, const Objects& objects,
                                                  const AssumedStorage& assumed) const {
  auto plan = std::make_shared<VolumePlan>(*this);
  size_t next = 0;
  for (const api::Volume& volume : pod.spec.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference) continue;
    ClaimPtr claim =
        assumed.claims.Find(objects.persistent_volume_claims, pod.metadata.namespace_.str(), reference->name);
    if (claim == nullptr) return nullptr;
    if (IsFullyBound(*claim)) continue;
    if (next == plan->unbound_.size()) return nullptr;
    plan->unbound_[next++].claim = std::move(claim);
  }
  return next == plan->unbound_.size() ? plan : nullptr;
}

bool VolumePlan::reads_csi_nodes() const {
  return std::any_of(bound_.begin(), bound_.end(),
                     [](const auto& volume) { return volume != nullptr && volume->is_migrated(); });
}

void VolumePlan::Judge(const NodeInfo& node, const Objects& objects, Findings& findings) const {
  if (CheckBound(node, objects, findings)) CheckUnbound(node, findings);
}

NodeVolumes VolumePlan::On(const NodeInfo& node, const Objects& objects) const {
  Findings findings;
  Judge(node, objects, findings);
  return {findings.ToStatus(), std::move(findings.bindings), std::move(findings.provisions)};
}

std::optional<uint8_t> VolumePlan::VerdictOn(const NodeInfo& node, const Objects& objects) const {
  Findings findings;
  Judge(node, objects, findings);
  if (!findings.error.empty()) return std::nullopt;
  return findings.Verdict();
}

// False when the node cannot be judged at all.
bool VolumePlan::CheckBound(const NodeInfo& node, const Objects& objects, Findings& findings) const {
  for (const std::shared_ptr<const BoundVolume>& volume : bound_) {
    if (volume == nullptr) {
      findings.volume_missing = true;
      return true;
    }
    const VolumeAffinity* affinity = volume->AffinityOn(node, objects.csi_nodes);
    if (affinity == nullptr) {
      findings.error = volume->error();
      return false;
    }
    if (!affinity->Allows(node.labels())) {
      findings.node_conflict = true;
      return true;
    }
  }
  return true;
}

bool VolumePlan::CheckUnbound(const NodeInfo& node, Findings& findings) const {
  std::vector<const UnboundClaim*> to_provision;
  for (const UnboundClaim& unbound : unbound_) {
    if (!unbound.selected_node) continue;
    if (*unbound.selected_node != node.name()) {
      findings.bind_conflict = true;
      return true;
    }
    to_provision.push_back(&unbound);
  }

  std::set<std::string> taken;
  for (const size_t i : by_size_) {
    const UnboundClaim& unbound = unbound_[i];
    const std::string& error = volumes_ ? unbound.matcher->error() : unbound.candidates->error();
    if (!error.empty()) {
      findings.error = error;
      return false;
    }
    VolumePtr volume = volumes_
                           ? volumes_->FindOn(*unbound.matcher, StorageClassOf(*unbound.claim), node.labels(), taken)
                           : unbound.candidates->FindOn(node.labels(), taken);
    if (volume != nullptr) {
      taken.insert(volume->metadata.name);
      findings.bindings.push_back({unbound.claim, std::move(volume)});
    } else {
      to_provision.push_back(&unbound);
    }
  }

  for (const UnboundClaim* unbound : to_provision) {
    const Provisioning::Answer answer = unbound->provisioning->On(node.labels());
    if (answer.verdict == Provisioning::Verdict::kPossible) {
      findings.provisions.push_back({unbound->claim, answer.capacity});
      continue;
    }
    findings.bind_conflict = answer.verdict == Provisioning::Verdict::kNoProvisioner;
    findings.no_space = answer.verdict == Provisioning::Verdict::kNoSpace;
    return true;
  }
  return true;
}

}  // namespace berth::plugins
