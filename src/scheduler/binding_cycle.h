// The binding cycle: PreBind, Bind, PostBind for a pod that has a node. It asks plugins, extenders and the API, and
// touches nothing of the scheduler's picture, so that it may run off the scheduling thread.
#pragma once

#include <memory>

#include "cluster/cluster.h"
#include "engine/profile.h"
#include "framework/cycle_state.h"
#include "scheduler/api_answers.h"
#include "scheduler/attempt.h"

namespace berth::scheduler {

framework::Status RunBindingCycle(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                                  const std::string& node_name);

// A pod between its two cycles, with all that must be undone if it goes no further. Made and destroyed on the
// scheduling thread; Run may be called on another.
class BindingCycle {
 public:
  // The profile stays as long as this does, whatever the configuration is by then.
  BindingCycle(std::shared_ptr<engine::Profile> profile, framework::CycleState state, cluster::AssumedPod assumed,
               Attempt attempt)
      : profile_owner_(std::move(profile)),
        profile_(*profile_owner_),
        state_(std::move(state)),
        assumed_(std::move(assumed)),
        attempt_(std::move(attempt)) {}

  void Run();
  const Attempt& attempt() const { return attempt_; }
  // How it went, once it has run.
  const framework::Status& status() const { return status_; }
  // For a cycle that ran elsewhere and long ago.
  void set_status(framework::Status status) { status_ = std::move(status); }

  // Nobody can cancel it any more but as it was cancelled then. Before Run.
  void set_cancelled(const std::optional<std::string>& cause);

  // What the API answers is kept from now on. Before Run.
  void KeepAnswers() { keeps_answers_ = true; }
  const ApiAnswers& answers() const { return answers_; }

 private:
  friend class Scheduler;

  const std::shared_ptr<engine::Profile> profile_owner_;
  engine::Profile& profile_;
  framework::CycleState state_;
  cluster::AssumedPod assumed_;
  Attempt attempt_;
  framework::Status status_;
  bool keeps_answers_ = false;
  ApiAnswers answers_;
};

}  // namespace berth::scheduler
