#include "input/daemon_nodes.h"

#include <algorithm>
#include <utility>

namespace berth::input {

namespace {

constexpr char kNameField[] = "metadata.name";

void Tolerate(const char* key, const Symbol& effect, std::vector<api::Toleration>& tolerations) {
  const api::Toleration wanted{
      .key = Symbol(key), .op = api::TolerationExists(), .value = {}, .effect = effect, .toleration_seconds = {}};
  // An equal toleration that is limited in time is replaced by this one.
  const auto same = std::find_if(tolerations.begin(), tolerations.end(), [&](const api::Toleration& toleration) {
    return toleration.key == wanted.key && toleration.effect == wanted.effect && toleration.op == wanted.op &&
           toleration.value == wanted.value;
  });
  if (same == tolerations.end()) {
    tolerations.push_back(wanted);
  } else {
    *same = wanted;
  }
}

}  // namespace

api::PodTemplateSpec WithDaemonTolerations(api::PodTemplateSpec pod_template) {
  std::vector<api::Toleration>& tolerations = pod_template.spec.tolerations;
  Tolerate("node.kubernetes.io/not-ready", api::NoExecute(), tolerations);
  Tolerate("node.kubernetes.io/unreachable", api::NoExecute(), tolerations);
  Tolerate("node.kubernetes.io/disk-pressure", api::NoSchedule(), tolerations);
  Tolerate("node.kubernetes.io/memory-pressure", api::NoSchedule(), tolerations);
  Tolerate("node.kubernetes.io/pid-pressure", api::NoSchedule(), tolerations);
  Tolerate("node.kubernetes.io/unschedulable", api::NoSchedule(), tolerations);
  if (pod_template.spec.host_network) {
    Tolerate("node.kubernetes.io/network-unavailable", api::NoSchedule(), tolerations);
  }
  return pod_template;
}

bool ShouldRunDaemon(const api::PodSpec& spec, const api::Node& node) {
  if (!spec.node_name.empty() && spec.node_name != node.metadata.name) return false;
  const api::NodeSelector* required = nullptr;
  if (spec.affinity && spec.affinity->node_affinity) {
    const auto& selector = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (selector) required = &*selector;
  }
  const api::RequiredNodeAffinity affinity(spec.node_selector, required);
  if (affinity.Match(node.metadata.labels, node.metadata.name) != api::NodeMatch::kMatch) return false;
  return api::FindUntolerated(node.spec.taints, spec.tolerations, api::ForbidsScheduling, false) == nullptr;
}

void BindToNode(const std::string& node, api::Pod& pod) {
  api::NodeSelectorTerm term;
  term.match_fields = {{.key = Symbol(kNameField), .op = "In", .values = {Symbol(node)}}};
  if (!pod.spec.affinity) pod.spec.affinity.emplace();
  if (!pod.spec.affinity->node_affinity) pod.spec.affinity->node_affinity.emplace();
  pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution =
      api::NodeSelector{.node_selector_terms = {std::move(term)}};
}

std::string TargetNode(const api::Pod& pod) {
  if (!pod.spec.node_name.empty()) return pod.spec.node_name;
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return {};
  const auto& required = pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return {};
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const api::NodeSelectorRequirement& field : term.match_fields) {
      if (field.key.str() == kNameField && field.op == "In" && field.values.size() == 1) {
        return std::string(field.values.front().str());
      }
    }
  }
  return {};
}

}  // namespace berth::input
