// Which pods hold the host ports that the pod requests, and giving those ports up.
#include <fmt/format.h>

#include <algorithm>

#include "plugins/node_ports/node_ports.h"

namespace berth::plugins {
namespace {

// The first pod on the node that has the port; null when none does.
const framework::PodInfo* FindHolder(const framework::NodeInfo& node, const framework::HostPort& wanted) {
  for (const framework::PodInfoPtr& pod : node.pods()) {
    framework::HostPorts ports;
    for (const framework::HostPort& port : pod->host_ports()) ports.Add(port);
    if (ports.Conflicts(wanted)) return pod.get();
  }
  return nullptr;
}

class PortExplainer final : public framework::RejectionExplainer {
 public:
  explicit PortExplainer(const framework::PodInfo& pod) : pod_(pod) {}

  std::vector<framework::Finding> Findings(const framework::Status&, const framework::NodeInfo& node) const override {
    std::vector<framework::Finding> findings;
    for (const framework::HostPort& wanted : pod_.host_ports()) {
      const framework::PodInfo* holder = node.used_ports().Conflicts(wanted) ? FindHolder(node, wanted) : nullptr;
      if (!holder) continue;
      if (findings.size() == framework::kFew) break;
      const std::string port = fmt::format("{}/{}", wanted.port, wanted.protocol);
      findings.push_back(
          {"port " + port, "free", holder->Key(), fmt::format("port {} is taken by {}", port, holder->Key())});
    }
    return findings;
  }

  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    framework::Remedy remedy = so_far;
    for (size_t i = 0; i < pod_.pod().spec.containers.size(); ++i) {
      const std::vector<api::ContainerPort>& ports = pod_.pod().spec.containers[i].ports;
      for (size_t j = 0; j < ports.size(); ++j) {
        const framework::HostPort wanted{.ip = ports[j].host_ip.empty() ? "0.0.0.0" : ports[j].host_ip,
                                         .protocol = ports[j].protocol.empty() ? "TCP" : ports[j].protocol,
                                         .port = ports[j].host_port};
        if (ports[j].host_port <= 0 || !node.used_ports().Conflicts(wanted)) continue;
        if (remedy.steps().size() == framework::kFew) return {};
        remedy.ChangePod({fmt::format("no host port {}/{}", wanted.port, wanted.protocol), "host port"},
                         [&](api::Pod& pod) { pod.spec.containers[i].ports[j].host_port = 0; });
      }
    }
    // Ports of sidecars are not considered.
    if (remedy.steps().size() == so_far.steps().size()) return {};
    return {remedy};
  }

 private:
  const framework::PodInfo& pod_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodePorts::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<PortExplainer>(pod);
}

}  // namespace berth::plugins
