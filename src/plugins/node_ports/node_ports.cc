#include "plugins/node_ports/node_ports.h"

#include <algorithm>

#include "framework/pod_shape.h"
#include "plugins/args.h"
#include "plugins/hints.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::HostPort;
using framework::HostPorts;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

bool AnyTaken(const std::vector<HostPort>& wanted, const HostPorts& used) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& port) { return used.Conflicts(port); });
}

QueueingHint AfterPortsFreed(const PodInfo& pod, const EventObject& before, const EventObject&) {
  const api::Pod* deleted = before.As<api::Pod>();
  if (!deleted) return QueueingHint::kQueue;
  HostPorts freed;
  for (const HostPort& port : framework::HostPortsOf(*deleted)) freed.Add(port);
  return QueueIf(!HoldsNoPlace(*deleted) && AnyTaken(pod.host_ports(), freed));
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NodePorts::Create(const config::PluginArgs& args, framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new NodePorts);
}

framework::PreFilterResult NodePorts::PreFilter(framework::CycleState&, const PodInfo& pod) const {
  return pod.host_ports().empty() ? Status::Skip() : Status::Success();
}

Status NodePorts::Filter(const framework::CycleState&, const PodInfo& pod, const framework::NodeInfo& node) const {
  if (!AnyTaken(pod.host_ports(), node.used_ports())) return Status::Success();
  return Status::Unschedulable("node(s) didn't have free ports for the requested pod ports");
}

std::vector<framework::ClusterEventWithHint> NodePorts::EventsToRegister() const {
  return {{{EventResource::kPod, ActionType::kDelete}, AfterPortsFreed},
          {{EventResource::kNode, ActionType::kAdd}, {}}};
}

bool NodePorts::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string text;
  for (const HostPort& port : pod.host_ports()) {
    AppendField(text, port.ip);
    AppendField(text, port.protocol);
    AppendField(text, int64_t{port.port});
  }
  signature.Add("hostPorts", text);
  return true;
}

}  // namespace berth::plugins
