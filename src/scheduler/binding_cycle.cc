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
  if (status.ok() && state.in_pre_bind && !state.in_pre_bind->MarkPrebound()) {
    status = *state.in_pre_bind->Cancelled();
  }
  if (status.ok()) status = Bind(profile, state, pod, node_name);
  if (status.ok()) profile.RunPostBind(state, pod, node_name);
  return status;
}

void BindingCycle::set_cancelled(const std::optional<std::string>& cause) {
  state_.in_pre_bind = std::make_shared<framework::PodInPreBind>();
  if (cause) state_.in_pre_bind->Cancel(*cause);
}

void BindingCycle::Run() {
  running_answers = keeps_answers_ ? &answers_ : nullptr;
  status_ = RunBindingCycle(profile_, state_, *attempt_.pod, attempt_.node_name);
  // Not whose turn it was before: that cycle may be over by now, and sets it again when its call returns.
  running_answers = nullptr;
  if (!keeps_answers_ || !state_.in_pre_bind) return;
  if (std::optional<framework::Status> cancelled = state_.in_pre_bind->Cancelled()) {
    answers_.push_back({.call = ApiAnswer::Call::kCancelled, .status = *std::move(cancelled)});
  }
}

}  // namespace berth::scheduler
