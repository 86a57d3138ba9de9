// How many more instances of a pod, or of several pods in a ratio, fit into a cluster, and what stops the next one.
// Each instance is scheduled for real, one after the other, onto what the ones before it left.
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

// A pod to make instances of, and how many of it there are in a round.
struct CapacityShare {
  std::shared_ptr<const api::Pod> pod;
  size_t per_round = 1;
};

struct CapacityRequest {
  std::vector<CapacityShare> shares;
  size_t max_rounds = 0;  // stop behind so many
  // Without it instances never make others leave, whatever their priority: an instance that had to does not fit.
  bool may_preempt = false;
  // Why the API server would not create the instance, or nothing (input/quotas.h). Null: it creates every one.
  input::CreationGate refuse;
};

enum class CapacityStop {
  kUnschedulable,  // the next instance fits nowhere
  kGated,          // it is held back before scheduling
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

// What is pending in the simulation should have had its turn before: call Run() first.
CapacityReport MeasureCapacity(Simulation& simulation, const CapacityRequest& request,
                               const config::FeatureGates& gates);

// What a pod file gives: the pod, and whatever else stands in the file and is not in the cluster yet, such as a Service
// that spreading looks at.
struct PodTemplate {
  std::shared_ptr<const api::Pod> pod;
  std::vector<api::Object> others;
  std::vector<std::string> warnings;
};

// The file has to hold one pod, or pods of one owner. It may name PriorityClasses of the `cluster`. `how` to read it:
// namespace, validation and size; what else it has is for the cluster.
Result<PodTemplate> ReadPodTemplate(const std::string& file, const std::vector<api::Object>& cluster,
                                    const input::InputChanges& how = {});

}  // namespace berth::sim
