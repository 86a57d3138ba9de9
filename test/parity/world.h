// World: one recorded cluster, set up in berth, in which pods are evaluated and placed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/random.h"
#include "claim_api.h"
#include "cluster/cluster.h"
#include "codec/value.h"
#include "config/types.h"
#include "engine/evaluator.h"
#include "facts.h"
#include "framework/handle.h"
#include "framework/posted_work.h"

namespace berth::parity {

class World {
 public:
  // `recorded` has `objects`, and optionally `config` and `featureGates`.
  static Result<std::unique_ptr<World>> Create(const codec::Value& recorded);
  ~World();

  // Runs the pod's profile once over all nodes; changes nothing.
  Result<Decision> Decide(const codec::Value& pod);

  // What an episode does afterwards: deletes the named victims, binds the pod.
  void Evict(const std::vector<std::string>& deleted);
  Result<void> Bind(const codec::Value& pod, const std::string& node_name);
  // Changes to the cluster between two decisions: objects that are applied, or deleted.
  Result<void> Change(const codec::Value& changes);

 private:
  World();
  Result<void> Load(const codec::Value& recorded);
  Result<std::shared_ptr<const api::Pod>> DecodePod(const codec::Value& value);
  Result<void> Apply(const codec::Value& object);
  Result<void> Delete(const codec::Value& named);
  // The devices that the nodes would allocate to the pod's claims.
  void AddAllocations(const engine::Profile& profile, const framework::CycleState& state, Decision& decision) const;
  // Runs Reserve and PreBind on the node that upstream's record chose.
  void RunBinding(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                  Decision& decision);

  struct ProfileSlot {
    std::unique_ptr<engine::Profile> profile;
    std::unique_ptr<engine::Evaluator> evaluator;
  };

  config::FeatureGates gates_;
  base::FakeClock clock_;
  base::Random random_{1};
  ClaimApi api_;
  std::optional<api::PodExtendedResourceClaimStatus> extended_status_;  // set by the last decision for its pod
  framework::WaitingPods waiting_pods_;
  framework::PostedWork posted_;
  std::unique_ptr<cluster::Cluster> cluster_;
  std::map<std::string, ProfileSlot> profiles_;
  std::map<std::string, std::string> uid_by_key_;
};

}  // namespace berth::parity
