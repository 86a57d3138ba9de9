#include "plugins/scheduling_gates/scheduling_gates.h"

#include "plugins/args.h"
#include "plugins/hints.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
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
  return {{{EventResource::kPod, ActionType::kUpdatePodSchedulingGatesEliminated}, AfterOwnChange}};
}

}  // namespace berth::plugins
