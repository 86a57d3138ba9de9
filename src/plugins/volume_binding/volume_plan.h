// VolumePlan: what a pod's claims require of a node, computed once per scheduling cycle and then asked per node.
//
// Bound claims: the volume's affinity must allow the node. Claims that wait for their first consumer: each gets an
// existing volume (the smallest claims choose first), or else must be provisionable for the node.
// Immutable, safe to ask from any thread. A plan that looks volumes up in StaticVolumes is for the scheduling thread
// only, as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "framework/node_info.h"
#include "framework/objects.h"
#include "framework/status.h"
#include "plugins/volume_binding/assumed_objects.h"
#include "plugins/volume_binding/claim_candidates.h"
#include "plugins/volume_binding/provisioning.h"
#include "plugins/volume_binding/static_volumes.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

// Claims and volumes with decisions of earlier cycles that the API server has not confirmed yet.
struct AssumedStorage {
  AssumedObjects<api::PersistentVolume> volumes;
  AssumedObjects<api::PersistentVolumeClaim> claims;
};

struct StaticBinding {
  ClaimPtr claim;
  VolumePtr volume;
};

struct DynamicProvision {
  ClaimPtr claim;
  std::optional<int64_t> capacity;  // free space where it would be provisioned, if known
};

// What would happen to the pod's claims on a node.
struct NodeVolumes {
  framework::Status status;
  std::vector<StaticBinding> bindings;
  std::vector<DynamicProvision> provisions;
};

class VolumePlan {
 public:
  struct Outcome {
    framework::Status status;
    std::shared_ptr<const VolumePlan> plan;  // set on success
  };
  // The pod's claims must exist. A claim that should be bound but is not rejects the pod for now. With `volumes`, which
  // must be current whenever the plan is asked, no list of candidates is made; this is for claims that no volume is
  // bound to.
  static Outcome Make(const api::Pod& pod, const framework::Objects& objects, const AssumedStorage& assumed,
                      const StaticVolumes* volumes = nullptr);
  // The same plan for another pod with equivalent claims. Null when they are not.
  std::shared_ptr<const VolumePlan> For(const api::Pod& pod, const framework::Objects& objects,
                                        const AssumedStorage& assumed) const;

  NodeVolumes On(const framework::NodeInfo& node, const framework::Objects& objects) const;
  // 0 when the node fits; other values are equal where the status of On is. Unset when that is an error.
  std::optional<uint8_t> VerdictOn(const framework::NodeInfo& node, const framework::Objects& objects) const;
  // Nothing is left to bind.
  bool all_bound() const { return unbound_.empty(); }
  // Whether CSINodes affect it.
  bool reads_csi_nodes() const;

  struct UnboundClaim {
    ClaimPtr claim;
    std::optional<std::string> selected_node;           // provisioning is under way for this node
    std::shared_ptr<const ClaimCandidates> candidates;  // null with a selected node, or with `volumes`
    std::shared_ptr<const ClaimMatcher> matcher;        // with `volumes`
    std::shared_ptr<const Provisioning> provisioning;
  };
  const std::vector<UnboundClaim>& unbound() const { return unbound_; }

 private:
  struct Findings;

  framework::Status AddClaim(const ClaimPtr& claim, const framework::Objects& objects, const AssumedStorage& assumed,
                             bool& unbound_immediate);
  void Judge(const framework::NodeInfo& node, const framework::Objects& objects, Findings& findings) const;
  bool CheckBound(const framework::NodeInfo& node, const framework::Objects& objects, Findings& findings) const;
  bool CheckUnbound(const framework::NodeInfo& node, Findings& findings) const;

  const StaticVolumes* volumes_ = nullptr;
  // Null: the claim's volume no longer exists.
  std::vector<std::shared_ptr<const BoundVolume>> bound_;
  std::vector<UnboundClaim> unbound_;
  std::vector<size_t> by_size_;  // the unbound claims without a selected node, smallest first
};

}  // namespace berth::plugins
