// Tap: observes every input of a driver, in the order in which the driver processes them, and every decision. The same
// inputs, given to another driver, lead to the same decisions.
//
// An input is reported before it takes effect. Whatever is reported before the next input belongs to it: responses that
// arrived while it was processed, and decisions. `now` is the time that decisions are based on (InputClock).
//
// Called on the scheduling thread while it is working: implementations should only store what they get.
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

// The response of an extender: exactly one of the pointers is set.
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
  virtual void OnTend(base::Time now) = 0;
  virtual void OnFinish(base::Time now, const BindingCycle& cycle) = 0;
  virtual void OnActivate(base::Time now, const std::string& uid) = 0;
  virtual void OnGiveUp(base::Time now, const std::string& uid) = 0;
  virtual void OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) = 0;
  // A binding cycle on another thread has written a claim, or failed to; see Cluster::set_on_claim_landed.
  virtual void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written,
                             const std::string& ended_flight) = 0;

  // These belong to the last input.
  // Step or Tend runs work that a plugin has posted.
  virtual void OnPosted(const framework::PostedAnswer& answer) = 0;
  // ApiWriter::IsEvictingFor returned true in its nth call for this pod, counted from 0, within this input.
  virtual void OnEvicting(const std::string& uid, size_t nth) = 0;
  virtual void OnExtender(const ExtenderAnswer& answer) = 0;
  // The end of a scheduling cycle, of a wait in Permit or of a binding cycle.
  virtual void OnDecided(const Attempt& attempt) = 0;

  // Called between two inputs. If true, OnCheckpoint is called as soon as a checkpoint can be taken.
  virtual bool WantsCheckpoint() const = 0;
  virtual void OnCheckpoint(const Checkpoint& checkpoint) = 0;
};

}  // namespace berth::scheduler
