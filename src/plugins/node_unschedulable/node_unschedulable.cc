#include "plugins/node_unschedulable/node_unschedulable.h"

#include <algorithm>

#include "plugins/args.h"
#include "plugins/hints.h"
#include "plugins/taint_toleration/tolerations_signature.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

Result<std::unique_ptr<framework::Plugin>> NodeUnschedulable::Create(const config::PluginArgs& args,
                                                                     framework::Handle& handle) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(
      new NodeUnschedulable(handle.gates().Enabled("TaintTolerationComparisonOperators")));
}

NodeUnschedulable::NodeUnschedulable(bool comparison_operators)
    : comparison_operators_(comparison_operators),
      cordon_{Symbol("node.kubernetes.io/unschedulable"), /*value=*/{}, api::NoSchedule(), /*time_added=*/{}} {}

bool NodeUnschedulable::ToleratesCordon(const api::Pod& pod) const {
  return api::AnyTolerates(pod.spec.tolerations, cordon_, comparison_operators_);
}

Status NodeUnschedulable::Filter(const framework::CycleState&, const PodInfo& pod,
                                 const framework::NodeInfo& node) const {
  if (!node.node().spec.unschedulable || ToleratesCordon(pod.pod())) return Status::Success();
  return Status::UnschedulableAndUnresolvable("node(s) were unschedulable");
}

bool NodeUnschedulable::FilterRange(const framework::CycleState&, const PodInfo& pod,
                                    const framework::NodeColumns& columns, framework::NodeIndex begin,
                                    std::span<uint8_t> verdicts) const {
  if (ToleratesCordon(pod.pod())) {
    std::fill(verdicts.begin(), verdicts.end(), uint8_t{0});
    return true;
  }
  const uint8_t* unschedulable = columns.unschedulable.data() + begin;
  for (size_t i = 0; i < verdicts.size(); ++i) verdicts[i] = unschedulable[i] != 0 ? 1 : 0;
  return true;
}

std::vector<framework::ClusterEventWithHint> NodeUnschedulable::EventsToRegister() const {
  const auto became_schedulable = [](const PodInfo&, const EventObject& before, const EventObject& after) {
    const api::Node* now = after.As<api::Node>();
    if (!now) return QueueingHint::kQueue;
    if (now->spec.unschedulable) return QueueingHint::kSkip;
    const api::Node* was = before.As<api::Node>();
    return QueueIf(!was || was->spec.unschedulable);
  };
  const auto tolerates_now = [this](const PodInfo& pod, const EventObject&, const EventObject& after) {
    const api::Pod* changed = after.As<api::Pod>();
    if (!changed) return QueueingHint::kQueue;
    return QueueIf(changed->metadata.uid == pod.uid() && ToleratesCordon(*changed));
  };
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeTaint}, became_schedulable},
          {{EventResource::kPod, ActionType::kUpdatePodToleration}, tolerates_now}};
}

bool NodeUnschedulable::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  SignTolerations(pod, signature);
  return true;
}

}  // namespace berth::plugins
