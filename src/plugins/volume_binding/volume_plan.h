// VolumePlan: what a pod's claims ask of a node, worked out once per scheduling cycle and then asked per node.
//
// Bound claims: the node must be allowed by the volume's affinity. Claims that wait for their first consumer: each gets
// an existing volume (smallest claims choose first), or else must be provisionable for the node.
// Immutable, safe to ask from any thread.
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
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

// Claims and volumes with the decisions of earlier cycles that the API server has not confirmed yet.
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
  std::optional<int64_t> capacity;  // free space where it would go, if known
};

// What would become of the pod's claims on a node.
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
  // The pod's claims must exist. A claim that should be bound but is not rejects the pod for now.
  static Outcome Make(const api::Pod& pod, const framework::Objects& objects, const AssumedStorage& assumed);

  NodeVolumes On(const framework::NodeInfo& node, const framework::Objects& objects) const;
  // Nothing is left to bind.
  bool all_bound() const { return unbound_.empty(); }

 private:
  struct UnboundClaim {
    ClaimPtr claim;
    std::optional<std::string> selected_node;   // provisioning is under way for this node
    std::optional<ClaimCandidates> candidates;  // unset with a selected node
    Provisioning provisioning;
  };
  struct Findings;

  framework::Status AddClaim(const ClaimPtr& claim, const framework::Objects& objects, const AssumedStorage& assumed,
                             bool& unbound_immediate);
  bool CheckBound(const framework::NodeInfo& node, const framework::Objects& objects, Findings& findings) const;
  bool CheckUnbound(const framework::NodeInfo& node, Findings& findings) const;

  // Unset: the claim's volume is gone.
  std::vector<std::optional<BoundVolume>> bound_;
  std::vector<UnboundClaim> unbound_;
  std::vector<size_t> by_size_;  // the unbound claims without a selected node, smallest first
};

}  // namespace berth::plugins
