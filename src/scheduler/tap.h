// Tap: hears everything that goes into a driver, in the order in which the driver sees it, and what the driver decides.
// Whoever writes that down can give it to another driver later and get the same decisions.
//
// An input is told before it takes effect. What is told until the next input belongs to it: answers that came in the
// middle of it, and decisions. The time is the one that decisions go by (InputClock).
//
// Called on the scheduling thread, in the middle of its work: it should only put things aside.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/custom_object.h"
#include "api/object.h"
#include "api/resource_claim.h"
#include "base/clock.h"
#include "config/types.h"
#include "engine/extender.h"
#include "framework/posted_work.h"
#include "scheduler/attempt.h"
#include "scheduler/checkpoint.h"

namespace berth::scheduler {

class BindingCycle;

// What an extender answered: one of the three, or why it did not.
struct ExtenderAnswer {
  std::string_view extender;
  const Result<engine::ExtenderVerdicts>* verdicts = nullptr;
  const Result<std::vector<engine::HostPriority>>* priorities = nullptr;
  const Result<std::vector<framework::PreemptionCandidate>>* candidates = nullptr;
};

class Tap {
 public:
  virtual ~Tap() = default;

  // Inputs.
  virtual void OnPut(base::Time now, const api::Object& object) = 0;
  virtual void OnRemove(base::Time now, const api::Object& object) = 0;
  // The same for objects of a resource that plugins watch, "licencepools.v1.example.com".
  virtual void OnPutCustom(base::Time now, std::string_view resource,
                           const std::shared_ptr<const api::CustomObject>& object) = 0;
  virtual void OnRemoveCustom(base::Time now, std::string_view resource, const api::ObjectMeta& metadata) = 0;
  virtual void OnAdd(base::Time now, const framework::PodInfo& pod) = 0;
  virtual void OnStep(base::Time now) = 0;
  virtual void OnFinish(base::Time now, const BindingCycle& cycle) = 0;
  virtual void OnActivate(base::Time now, const std::string& uid) = 0;
  virtual void OnGiveUp(base::Time now, const std::string& uid) = 0;
  virtual void OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) = 0;
  // A binding cycle on another thread has written a claim, or given it up; see Cluster::set_on_claim_landed.
  virtual void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written,
                             const std::string& ended_flight) = 0;

  // What belongs to the input before.
  // Step runs what a plugin has posted.
  virtual void OnPosted(const framework::PostedAnswer& answer) = 0;
  // ApiWriter::IsEvictingFor said yes, when it was asked about this pod for the nth time, from 0, in this input.
  virtual void OnEvicting(const std::string& uid, size_t nth) = 0;
  virtual void OnExtender(const ExtenderAnswer& answer) = 0;
  // A scheduling cycle, a wait for permission or a binding has ended so.
  virtual void OnDecided(const Attempt& attempt) = 0;

  // Between two inputs: whether a checkpoint is wanted. OnCheckpoint follows as soon as one can be taken.
  virtual bool WantsCheckpoint() const = 0;
  virtual void OnCheckpoint(const Checkpoint& checkpoint) = 0;
};

}  // namespace berth::scheduler
