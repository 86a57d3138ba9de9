// Rollout: the pods of an older template that a workload replaces by newer ones, and at which pace. Carrying it out is
// left to the simulation (sim/rollouts.h): a newer pod that does not fit keeps the older ones where they are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "api/pod.h"
#include "api/workload.h"

namespace berth::input {

struct Rollout {
  enum class Order {
    kAnyFirst,  // Deployment: newer pods are created as maxSurge allows, older ones removed as maxUnavailable allows
    kInTurn,    // StatefulSet, DaemonSet: each newer pod replaces the older one at the same position
  };

  std::string workload;  // "Deployment shop/web"
  Order order = Order::kAnyFirst;
  size_t wanted = 0;                                      // pods at the end
  size_t max_surge = 0;                                   // pods beyond that at a time
  size_t max_unavailable = 0;                             // without a node at a time
  std::vector<std::string> old_uids;                      // of pods that have a node, in the order of removal
  std::vector<std::string> updated_uids;                  // of pods that are already of the newer template
  std::vector<std::shared_ptr<const api::Pod>> new_pods;  // in the order of creation

  // "maxSurge 1, maxUnavailable 0"
  std::string Pace() const;
};

// The pace that the workload asks for, with the API server's defaults, for that many pods. Null strategy: the defaults.
void SetPace(const api::Deployment& deployment, size_t wanted, Rollout& rollout);
void SetPace(const api::StatefulSet& set, size_t wanted, Rollout& rollout);
void SetPace(const api::DaemonSet& set, size_t wanted, Rollout& rollout);

}  // namespace berth::input
