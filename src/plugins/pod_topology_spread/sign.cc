// What PodTopologySpread reads from the incoming pod.
#include <algorithm>
#include <string>

#include "plugins/pod_topology_spread/default_selector.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/signature_text.h"
#include "plugins/taint_toleration/tolerations_signature.h"

namespace berth::plugins {
namespace {

void AppendConstraints(std::string& out, const std::vector<SpreadConstraint>& constraints,
                       const api::Labels& pod_labels) {
  AppendCount(out, constraints.size());
  for (const SpreadConstraint& constraint : constraints) {
    AppendField(out, constraint.max_skew);
    AppendField(out, constraint.min_domains);
    AppendField(out, constraint.topology_key.str());
    AppendField(out, constraint.selector.matches_nothing());
    AppendField(out, constraint.selector.ToString());
    AppendField(out, constraint.selector.Matches(pod_labels));
    AppendField(out, constraint.honors_node_affinity);
    AppendField(out, constraint.honors_node_taints);
  }
}

std::string NodeDemands(const api::Pod& pod) {
  std::string out;
  AppendLabels(out, pod.spec.node_selector);
  const api::NodeSelector* required = RequiredNodeSelector(pod);
  if (required == nullptr) return out;
  AppendCount(out, required->node_selector_terms.size());
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    AppendRequirements(out, term.match_expressions);
    AppendRequirements(out, term.match_fields);
  }
  return out;
}

bool AnyHonorsTaints(const std::vector<SpreadConstraint>& constraints) {
  return std::any_of(constraints.begin(), constraints.end(),
                     [](const SpreadConstraint& constraint) { return constraint.honors_node_taints; });
}

}  // namespace

// kube-scheduler signs no pod with constraints. Here the engine keeps answers that depend on other pods current, so
// that only the pod's own part needs signing. The constraints are signed as compiled: nothing else is read of the
// labels.
bool PodTopologySpread::Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const {
  const Result<std::vector<SpreadConstraint>> hard = HardConstraints(pod);
  const Result<std::vector<SpreadConstraint>> soft = SoftConstraints(pod);
  if (!hard || !soft) return false;

  const bool has_own = !pod.pod().spec.topology_spread_constraints.empty();
  if (!has_own && !default_constraints_.empty()) {
    // The current default selector is signed below. This is what it is derived from, for a signature that is kept until
    // services or controllers change.
    std::string origin = NewSignatureText();
    AppendField(origin, pod.namespace_().str());
    AppendLabels(origin, pod.labels());
    if (const api::OwnerReference* owner = SpreadingController(pod.pod())) {
      AppendField(origin, owner->kind);
      AppendField(origin, owner->name);
    }
    signature.Add("PodTopologySpread.origin", origin);
  }
  if (hard->empty() && soft->empty()) return true;

  std::string constraints = NewSignatureText();
  AppendField(constraints, pod.namespace_().str());
  AppendField(constraints, has_own);
  AppendConstraints(constraints, *hard, pod.labels());
  AppendConstraints(constraints, *soft, pod.labels());
  signature.Add("PodTopologySpread.constraints", constraints);
  signature.Add("PodTopologySpread.node", NodeDemands(pod.pod()));
  if (AnyHonorsTaints(*hard) || AnyHonorsTaints(*soft)) SignTolerations(pod, signature);
  return true;
}

}  // namespace berth::plugins
