#include "scheduler/binding_cycle.h"

namespace berth::scheduler {

framework::Status RunBindingCycle(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                                  const std::string& node_name) {
  framework::Status status = profile.RunPreBind(state, pod, node_name);
  if (status.ok()) status = profile.RunBind(state, pod, node_name);
  if (status.ok()) profile.RunPostBind(state, pod, node_name);
  return status;
}

}  // namespace berth::scheduler
