// How many more instances of a pod, or of several pods in a ratio, fit into a cluster, and what stops the next one.
// Each instance is actually scheduled, one after another, into what the previous ones left.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "api/resource_list.h"
#include "base/result.h"
#include "config/feature_gates.h"
#include "input/input.h"
#include "input/quotas.h"
#include "sim/simulation.h"

namespace berth::sim {

// A pod to make instances of, and how many of them make a round.
struct CapacityShare {
  std::shared_ptr<const api::Pod> pod;
  size_t per_round = 1;
};

struct CapacityRequest {
  std::vector<CapacityShare> shares;
  size_t max_rounds = 0;  // stop after this many
  // Without it instances never evict other pods, whatever their priority: an instance that would have to does not fit.
  bool may_preempt = false;
  // Why the API server would not create the instance; empty if it would (input/quotas.h). Null: it creates every one.
  input::CreationGate refuse;
};

enum class CapacityStop {
  kUnschedulable,  // the next instance fits nowhere
  kGated,          // it is held back by PreEnqueue
  kForeign,        // it is not for any of our profiles
  kRefused,        // a quota keeps it from being created
  kLimitReached,
};

struct CapacityReport {
  struct Share {
    std::string pod;  // its name
    std::string key;  // namespace/name
    size_t per_round = 1;
    size_t instances = 0;
    std::map<std::string, size_t> by_node;
    api::ResourceList requests;  // of one instance, everything added up
    api::Labels node_selector;
  };
  std::vector<Share> shares;
  size_t rounds = 0;  // complete ones
  CapacityStop stop = CapacityStop::kUnschedulable;
  size_t stopped_share = 0;  // whose next instance did not fit
  std::string message;       // why, in upstream's words
  std::vector<PodReport> preempted;
  std::vector<std::string> warnings;  // of reading the input
  std::vector<std::string> notes;

  size_t instances() const;
};

// Pods pending in the simulation should be scheduled before: call Run() first.
CapacityReport MeasureCapacity(Simulation& simulation, const CapacityRequest& request,
                               const config::FeatureGates& gates);

// The contents of a pod file: the pod, and any other objects in the file that are not in the cluster yet, such as a
// Service that spreading reads.
struct PodTemplate {
  std::shared_ptr<const api::Pod> pod;
  std::vector<api::Object> others;
  std::vector<std::string> warnings;
};

// The file must contain one pod, or pods of one owner. It may name PriorityClasses of the `cluster`. `how` gives
// namespace, validation and size limits; its other fields are for the cluster.
Result<PodTemplate> ReadPodTemplate(const std::string& file, const std::vector<api::Object>& cluster,
                                    const input::InputChanges& how = {});

}  // namespace berth::sim
