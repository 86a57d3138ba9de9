#include "plugins/scheduling_gates/scheduling_gates.h"

#include "plugins/args.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

Result<std::unique_ptr<framework::Plugin>> SchedulingGates::Create(const config::PluginArgs& args, framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new SchedulingGates);
}

Status SchedulingGates::PreEnqueue(const PodInfo& pod) const {
  const std::vector<api::PodSchedulingGate>& gates = pod.pod().spec.scheduling_gates;
  if (gates.empty()) return Status::Success();
  std::string names;
  for (const api::PodSchedulingGate& gate : gates) {
    if (!names.empty()) names += ' ';
    names += gate.name;
  }
  return Status::UnschedulableAndUnresolvable("waiting for scheduling gates: [" + names + "]");
}

std::vector<framework::ClusterEventWithHint> SchedulingGates::EventsToRegister() const {
  using framework::EventObject;
  const auto own_gates_gone = [](const PodInfo& pod, const EventObject&, const EventObject& after) {
    const api::Pod* changed = after.As<api::Pod>();
    return changed && changed->metadata.uid != pod.uid() ? QueueingHint::kSkip : QueueingHint::kQueue;
  };
  return {{{EventResource::kPod, ActionType::kUpdatePodSchedulingGatesEliminated}, own_gates_gone}};
}

}  // namespace berth::plugins
