#include "plugins/node_name/node_name.h"

#include <algorithm>

#include "plugins/args.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::Status;

Result<std::unique_ptr<framework::Plugin>> NodeName::Create(const config::PluginArgs& args, framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new NodeName);
}

Status NodeName::Filter(const framework::CycleState&, const PodInfo& pod, const framework::NodeInfo& node) const {
  const std::string& wanted = pod.pod().spec.node_name;
  if (wanted.empty() || wanted == node.name()) return Status::Success();
  return Status::UnschedulableAndUnresolvable("node(s) didn't match the requested node name");
}

bool NodeName::FilterRange(const framework::CycleState&, const PodInfo& pod, const framework::NodeColumns&,
                           framework::NodeIndex, std::span<uint8_t> verdicts) const {
  if (!pod.pod().spec.node_name.empty()) return false;
  std::fill(verdicts.begin(), verdicts.end(), uint8_t{0});
  return true;
}

std::vector<framework::ClusterEventWithHint> NodeName::EventsToRegister() const {
  return {{{EventResource::kNode, ActionType::kAdd}, {}}};
}

bool NodeName::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  signature.Add("spec.nodeName", pod.pod().spec.node_name);
  return true;
}

}  // namespace berth::plugins
