// World: one recorded cluster, set up in berth, in which pods are judged and placed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "codec/value.h"
#include "config/types.h"
#include "engine/evaluator.h"
#include "facts.h"
#include "framework/handle.h"

namespace berth::parity {

class World {
 public:
  // `recorded` has `objects`, and perhaps `config` and `featureGates`.
  static Result<std::unique_ptr<World>> Create(const codec::Value& recorded);
  ~World();

  // Runs the pod's profile once over all nodes; changes nothing.
  Result<Decision> Decide(const codec::Value& pod);

  // What an episode does with the pod afterwards: bind it, with the named victims gone.
  Result<void> Bind(const codec::Value& pod, const std::string& node_name, const std::vector<std::string>& deleted);

 private:
  class NoWrites;

  World();
  Result<void> Load(const codec::Value& recorded);
  Result<std::shared_ptr<const api::Pod>> DecodePod(const codec::Value& value);

  struct ProfileSlot {
    std::unique_ptr<engine::Profile> profile;
    std::unique_ptr<engine::Evaluator> evaluator;
  };

  config::FeatureGates gates_;
  base::FakeClock clock_;
  base::Random random_{1};
  std::unique_ptr<framework::ApiWriter> api_;
  framework::WaitingPods waiting_pods_;
  std::unique_ptr<cluster::Cluster> cluster_;
  std::map<std::string, ProfileSlot> profiles_;
  std::map<std::string, std::string> uid_by_key_;
};

}  // namespace berth::parity
