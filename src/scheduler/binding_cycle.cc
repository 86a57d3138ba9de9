#include "scheduler/binding_cycle.h"

#include "engine/extender_calls.h"

namespace berth::scheduler {

namespace {

// An extender that binds comes before the plugins that do.
framework::Status Bind(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                       const std::string& node_name) {
  const std::optional<framework::Status> bound = engine::BindByExtender(profile.extenders(), pod, node_name);
  return bound ? *bound : profile.RunBind(state, pod, node_name);
}

}  // namespace

framework::Status RunBindingCycle(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                                  const std::string& node_name) {
  framework::Status status = profile.RunPreBind(state, pod, node_name);
  if (status.ok()) status = Bind(profile, state, pod, node_name);
  if (status.ok()) profile.RunPostBind(state, pod, node_name);
  return status;
}

void BindingCycle::Run() {
  ApiAnswers* const others = running_answers;
  running_answers = keeps_answers_ ? &answers_ : nullptr;
  status_ = RunBindingCycle(profile_, state_, *attempt_.pod, attempt_.node_name);
  running_answers = others;
}

}  // namespace berth::scheduler
