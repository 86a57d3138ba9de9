// The binding cycle: PreBind, Bind and PostBind for a pod that has a node. It calls plugins, extenders and the API
// server, and does not access the scheduler's state, so that it may run on any thread.
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

// A pod that has finished its scheduling cycle, with everything that must be undone if it is not bound. Created and
// destroyed on the scheduling thread; Run may be called on another.
class BindingCycle {
 public:
  // Keeps the profile alive, even if the configuration is replaced meanwhile.
  BindingCycle(std::shared_ptr<engine::Profile> profile, framework::CycleState state, cluster::AssumedPod assumed,
               Attempt attempt)
      : profile_owner_(std::move(profile)),
        profile_(*profile_owner_),
        state_(std::move(state)),
        assumed_(std::move(assumed)),
        attempt_(std::move(attempt)) {}

  void Run();
  const Attempt& attempt() const { return attempt_; }
  // The result, after Run.
  const framework::Status& status() const { return status_; }
  // For a replay: the recorded result of a cycle that is not run again.
  void set_status(framework::Status status) { status_ = std::move(status); }

  // For a replay, called before Run: the cycle is cancelled for this cause, as recorded, or not at all.
  void set_cancelled(const std::optional<std::string>& cause);

  // Stores responses of the API server from now on. Called before Run.
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
